"""Which rows of a view pass a filter, and which have expired."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from longmind.store.search.columns import STATE_CODES, Codes, listed
from longmind.types import STATES, Filter

if TYPE_CHECKING:
    from longmind.store.search.view import View

Flags = NDArray[np.bool_]


def passing_rows(view: View, where: Filter, ids: set[str] | None = None, first: int = 0) -> Flags:
    """Return which rows, from ``first`` on, pass a filter.

    ``ids`` pass the part that a view cannot decide (``needs_database``).
    """
    n = slice(first, view.rows)
    flags: Flags = view.column("alive")[n].astype(np.bool_)
    for name, names in (("kind", where.kinds), ("user", where.users), ("session", where.sessions)):
        if names is not None:
            codes: Codes = {"kind": view.kinds, "user": view.users, "session": view.sessions}[name]
            flags &= listed(view.column(name)[n], codes.known(names), len(codes.names))
    if where.without_kinds is not None:
        flags &= ~listed(view.column("kind")[n], view.kinds.known(where.without_kinds), len(view.kinds.names))
    if where.states is not None:
        flags &= listed(view.column("state")[n], [STATE_CODES[s] for s in where.states], len(STATES))
    for name, since, until in (
        ("occurred_at", where.since, where.until),
        ("recorded_at", where.recorded_since, where.recorded_until),
    ):
        if since is not None:
            flags &= view.column(name)[n] >= since.timestamp()
        if until is not None:
            flags &= view.column(name)[n] < until.timestamp()
    if where.valid_at is not None:
        moment = where.valid_at.timestamp()
        flags &= (view.column("valid_from")[n] <= moment) & (view.column("valid_to")[n] > moment)
    if where.expired is not None and where.expired_at is not None:
        flags &= expired_rows(view, where.expired_at)[n] == where.expired
    if ids is not None:
        passing = np.zeros(view.rows, np.bool_)
        passing[view.rows_of(ids)] = True
        flags &= passing[n]
    return flags


def expired_rows(view: View, at: datetime) -> Flags:
    """Return which rows have expired at a moment."""
    flags: Flags = view.column("expires_at")[: view.rows] <= at.timestamp()
    return flags


def next_expiry(view: View, after: datetime) -> float | None:
    """Return when the first row expires after a moment, in seconds since 1970; None if none does."""
    times = view.column("expires_at")[: view.rows][view.column("alive")[: view.rows]]
    first = float(times[times > after.timestamp()].min(initial=math.inf))
    return None if math.isinf(first) else first


def needs_database(where: Filter) -> bool:
    """Return whether a filter asks for what a view does not hold, so that the database must be asked for the ids."""
    return any(
        value is not None
        for value in (
            where.ids,
            where.keys,
            where.tags_any,
            where.tags_all,
            where.roles,
            where.speakers,
            where.metadata,
            where.min_importance,
            where.min_trust,
        )
    )
