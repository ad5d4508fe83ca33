"""Listing the users and the conversations of an agent, from its search view."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

import numpy as np

from longmind.kinds import INTERNAL
from longmind.store.search.filtering import passing_rows
from longmind.store.search.view import View
from longmind.types import ConversationSummary, Filter, Growth


def users(view: View) -> list[str]:
    """Return the users who have memories, sorted by name."""
    codes = np.unique(view.column("user")[: view.rows][passing_rows(view, Filter(states=None))])
    return sorted(view.users.names[code] for code in codes if code >= 0)


def conversations(view: View) -> list[ConversationSummary]:
    """Return the sessions that have messages, the one with the latest message first."""
    rows = np.flatnonzero(passing_rows(view, Filter(kinds=("message",))) & (view.column("session")[: view.rows] >= 0))
    if not len(rows):
        return []
    sessions, owners = view.column("session")[rows].astype(np.int64), view.column("user")[rows].astype(np.int64)
    conversation = sessions * (len(view.users.names) + 1) + owners + 1
    order = np.argsort(conversation, kind="stable")
    conversation = conversation[order]
    starts = np.flatnonzero(np.concatenate(([True], conversation[1:] != conversation[:-1])))
    times = view.column("occurred_at")[rows][order]
    first_at, last_at = np.minimum.reduceat(times, starts), np.maximum.reduceat(times, starts)
    counts = np.diff(np.append(starts, len(rows)))
    names, users = view.sessions.names, [*view.users.names, None]  # no user has the code -1
    summaries = [
        ConversationSummary(
            id=names[sessions[row]],
            user=users[owners[row]],
            messages=count,
            first_at=datetime.fromtimestamp(first, UTC),
            last_at=datetime.fromtimestamp(last, UTC),
        )
        for row, count, first, last in zip(
            order[starts].tolist(), counts.tolist(), first_at.tolist(), last_at.tolist(), strict=True
        )
    ]
    return sorted(summaries, key=lambda summary: (summary.last_at, summary.id), reverse=True)


def growth(view: View, today: datetime, days: int, by: Literal["recorded", "occurred"]) -> Growth:
    """Return how many memories are of each of the last days, by kind, bookkeeping left out."""
    rows = np.flatnonzero(passing_rows(view, Filter(states=None)))
    first = today.astimezone(UTC).date() - timedelta(days=days - 1)
    start = datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()
    day = np.floor((view.column(f"{by}_at")[rows] - start) / 86_400).astype(np.int64)
    within = (day >= 0) & (day < days)
    rows, day = rows[within], day[within]
    kinds = view.column("kind")[rows].astype(np.int64)
    counts = np.zeros((len(view.kinds.names), days), np.int64)
    np.add.at(counts, (kinds, day), 1)
    return Growth(
        days=tuple(first + timedelta(days=n) for n in range(days)),
        by_kind={
            name: tuple(counts[code].tolist())
            for code, name in enumerate(view.kinds.names)
            if name not in INTERNAL and counts[code].any()
        },
    )
