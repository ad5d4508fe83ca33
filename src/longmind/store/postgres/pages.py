"""Where a page of a scan ended, in the types of the columns that the next one is compared with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from longmind.store import cursors
from longmind.store.plan import StoredMemory
from longmind.store.postgres.ids import is_id
from longmind.types import Order

Place = tuple[Any, str]
"""The value a memory is sorted by, and its id, which breaks ties."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def write(last: StoredMemory, order: Order, descending: bool) -> str:
    """The cursor that goes on after a memory."""
    memory = last.memory
    value: float
    match order:
        case "recorded":
            value = last.seq
        case "occurred":
            value = _microseconds(memory.occurred_at)
        case "importance":
            value = memory.importance
        case "accessed":
            accessed = memory.last_accessed_at
            value = cursors.NEVER if accessed is None else _microseconds(accessed)
    return cursors.write(value, memory.id, order, descending)


def read(cursor: str, order: Order, descending: bool) -> Place:
    """Where a cursor points."""
    value, id = cursors.read(cursor, order, descending)
    if not is_id(id):
        raise cursors.damaged()
    if order == "importance":
        return float(value), id
    if order == "recorded":
        return value, id
    if order == "accessed" and value == cursors.NEVER:
        return None, id
    try:
        return _EPOCH + timedelta(microseconds=value), id
    except OverflowError as error:
        raise cursors.damaged() from error


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
