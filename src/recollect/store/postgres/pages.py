"""The cursor of a scan: which order and direction, and where the page ended."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.errors import InvalidInput
from recollect.store.base import MAX_PAGE
from recollect.store.postgres.ids import is_id
from recollect.store.postgres.rows import Stored
from recollect.types import Order

Place = tuple[Any, str]
"""The value a memory is sorted by, and its id, which breaks ties."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def require_limit(limit: int) -> None:
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(f"limit is {limit}.", hint=f"Ask for 1 to {MAX_PAGE} memories at a time.", limit=limit)


def write(last: Stored, order: Order, descending: bool) -> str:
    """The cursor that goes on after a memory."""
    memory = last.memory
    value: int | float | None
    match order:
        case "recorded":
            value = last.seq
        case "occurred":
            value = _microseconds(memory.occurred_at)
        case "importance":
            value = memory.importance
        case "accessed":
            value = None if memory.last_accessed_at is None else _microseconds(memory.last_accessed_at)
    return base64.urlsafe_b64encode(json.dumps([order, descending, value, memory.id]).encode()).decode()


def read(cursor: str, order: Order, descending: bool) -> Place:
    """Where a cursor points, in the types of the columns it is compared with."""
    try:
        told_order, told_descending, value, id = json.loads(base64.b64decode(cursor.encode(), b"-_", validate=True))
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput("The cursor is not one of this store.", hint="Begin again without a cursor.") from error
    if (told_order, told_descending) != (order, descending):
        raise InvalidInput(
            "The cursor belongs to a listing in another order.",
            hint="Go on with the order and direction the listing began with.",
        )
    try:
        if not is_id(id):
            raise ValueError("no id")
        return _value(value, order), id
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidInput("The cursor is damaged.", hint="Begin again without a cursor.") from error


def _value(value: Any, order: Order) -> Any:
    if order == "importance":
        return float(value)
    if order == "accessed" and value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**63:
        raise ValueError("no number of 64 bits")
    return value if order == "recorded" else _EPOCH + timedelta(microseconds=value)


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
