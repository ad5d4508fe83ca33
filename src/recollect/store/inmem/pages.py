"""The order of a scan, and the cursor that remembers where a page ended."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from recollect.errors import InvalidInput
from recollect.store.base import MAX_PAGE
from recollect.store.inmem.state import Row
from recollect.types import Memory, Order, Page

Place = tuple[float, str]
"""The value a row is sorted by, and its id, which breaks ties."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER = -(2**63)
"""Where a memory stands that was never read: before every moment there is."""


def page(rows: Iterable[Row], order: Order, descending: bool, limit: int, cursor: str | None) -> Page[Memory]:
    """A page of rows in an order, beginning after the cursor."""
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(f"limit is {limit}.", hint=f"Ask for 1 to {MAX_PAGE} memories at a time.", limit=limit)
    start = None if cursor is None else _read(cursor, order, descending)
    ordered = sorted(((_place(row, order), row) for row in rows), key=lambda pair: pair[0], reverse=descending)
    if start is not None:
        ordered = [(place, row) for place, row in ordered if (place < start if descending else place > start)]
    shown = ordered[:limit]
    following = _write(shown[-1][0], order, descending) if len(ordered) > limit else None
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
            return (NEVER if accessed is None else _microseconds(accessed)), memory.id


def _microseconds(moment: datetime) -> int:
    """Exact, where a float of seconds would make one of two neighbouring moments."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def _write(place: Place, order: Order, descending: bool) -> str:
    return base64.urlsafe_b64encode(json.dumps([order, descending, *place]).encode()).decode()


def _read(cursor: str, order: Order, descending: bool) -> Place:
    try:
        told_order, told_descending, value, id = json.loads(base64.b64decode(cursor.encode(), b"-_", validate=True))
    except (ValueError, TypeError) as error:
        raise InvalidInput("The cursor is not one of this store.", hint="Begin again without a cursor.") from error
    if (told_order, told_descending) != (order, descending):
        raise InvalidInput(
            "The cursor belongs to a listing in another order.",
            hint="Go on with the order and direction the listing began with.",
        )
    if not isinstance(value, (int, float)) or not isinstance(id, str):
        raise InvalidInput("The cursor is damaged.", hint="Begin again without a cursor.")
    return value, id
