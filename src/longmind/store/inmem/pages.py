"""The order of a scan, and its pages."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from longmind.store import cursors
from longmind.store.inmem.state import Row
from longmind.store.refusals import require_limit
from longmind.types import Memory, Order, Page

Place = tuple[float, str]
"""The value a row is sorted by, and its id, which breaks ties."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def page(rows: Iterable[Row], order: Order, descending: bool, limit: int, cursor: str | None) -> Page[Memory]:
    """A page of rows in an order, beginning after the cursor."""
    require_limit(limit)
    start = None if cursor is None else cursors.read(cursor, order, descending)
    ordered = sorted(((_place(row, order), row) for row in rows), key=lambda pair: pair[0], reverse=descending)
    if start is not None:
        ordered = [(place, row) for place, row in ordered if (place < start if descending else place > start)]
    shown = ordered[:limit]
    following = cursors.write(*shown[-1][0], order, descending) if len(ordered) > limit else None
    return Page(items=tuple(row.memory for _, row in shown), cursor=following)


def _place(row: Row, order: Order) -> Place:
    memory = row.memory
    match order:
        case "recorded":
            return row.seq, memory.id
        case "occurred":
            return _microseconds(memory.occurred_at), memory.id
        case "importance":
            return memory.importance, memory.id
        case "accessed":
            accessed = memory.last_accessed_at
            return (cursors.NEVER if accessed is None else _microseconds(accessed)), memory.id


def _microseconds(moment: datetime) -> int:
    """Exact, where a float of seconds would make one of two neighbouring moments."""
    return (moment - EPOCH) // timedelta(microseconds=1)
