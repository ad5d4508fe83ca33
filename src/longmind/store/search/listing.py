"""Listing the users and the conversations of an agent, from its search view."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from longmind.store.search.view import View
from longmind.types import ConversationSummary, Filter


def users(view: View) -> list[str]:
    """Return the users who have memories, sorted by name."""
    codes = np.unique(view.column("user")[: view.rows][view.allowed(Filter(states=None))])
    return sorted(view.users.names[code] for code in codes if code >= 0)


def conversations(view: View) -> list[ConversationSummary]:
    """Return the sessions that have messages, the one with the latest message first."""
    rows = np.flatnonzero(view.allowed(Filter(kinds=("message",))) & (view.column("session")[: view.rows] >= 0))
    sessions, owners = view.column("session")[rows], view.column("user")[rows]
    times = view.column("occurred_at")[rows]
    summaries: list[ConversationSummary] = []
    for session, owner in sorted({(int(s), int(u)) for s, u in zip(sessions, owners, strict=True)}):
        own = times[(sessions == session) & (owners == owner)]
        summaries.append(
            ConversationSummary(
                id=view.sessions.names[session],
                user=view.users.names[owner] if owner >= 0 else None,
                messages=len(own),
                first_at=datetime.fromtimestamp(float(own.min()), UTC),
                last_at=datetime.fromtimestamp(float(own.max()), UTC),
            )
        )
    return sorted(summaries, key=lambda summary: (summary.last_at, summary.id), reverse=True)
