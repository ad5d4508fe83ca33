"""Going back: what takes an operation back, and what a memory, or a whole scope, was at a moment.

The journal keeps what each change replaced, so the past is the present with the changes since then taken off.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from recollect.errors import Conflict, NotFound
from recollect.store.base import AddLink, Backend, Delete, Put, RemoveLink, Update, Write, every
from recollect.types import Change, Filter, Json, Link, Memory, Scope

_PART = 1_000
_COUNTED = frozenset({"version", "access_count", "last_accessed_at", "interaction"})


async def changes(backend: Backend, scope: Scope, **which: Any) -> AsyncIterator[Change]:
    """All changes that match, in order, read part by part."""
    after = int(which.pop("after", 0))
    while True:
        part = await backend.journal(scope, after=after, limit=_PART, **which)
        for change in part:
            yield change
        if len(part) < _PART:
            return
        after = part[-1].seq


async def undoing(backend: Backend, scope: Scope, operation: str) -> list[Write]:
    """The writes that take an operation back, the last change first. Refused if what it wrote was changed since."""
    made = [change async for change in changes(backend, scope, operation=operation)]
    if not made:
        raise NotFound(f"There is no operation {operation} in this scope.", hint="`history` tells their ids.")
    for id in {change.memory_id: None for change in made if change.link is None}:
        await _unchanged_since(backend, scope, id, made)
    return [_inverse(change) for change in reversed(made)]


async def _unchanged_since(backend: Backend, scope: Scope, id: str, made: Sequence[Change]) -> None:
    """Refuse if a record is no longer what the operation left; one that was changed and changed back is."""
    last = max(change.seq for change in made if change.memory_id == id)
    later = [change async for change in changes(backend, scope, memory_id=id, after=last) if change.link is None]
    if not later:
        return
    found = await backend.get(scope, [id])
    now = then = found[0].model_dump(mode="json") if found else None
    for change in reversed(later):
        then = _before(change, then)
    if any(change.action == "erase" for change in later) or _content(now) != _content(then):
        raise Conflict(
            f"Memory {id} was changed again by operation {later[0].operation}.",
            hint="Undo that one first.",
            memory_id=id,
            operation=later[0].operation,
        )


def _content(record: Json | None) -> Json | None:
    """A record without what counts its changes and readings."""
    return None if record is None else {name: value for name, value in record.items() if name not in _COUNTED}


def _inverse(change: Change) -> Write:
    if change.link is not None:
        if change.before is not None:
            return AddLink(Link.model_validate(change.before))
        return RemoveLink(change.link.source, change.link.relation, change.link.target)
    if change.action == "put":
        return Delete(change.memory_id)
    if change.before is None:
        raise Conflict(
            f"What memory {change.memory_id} was before has been erased and cannot be brought back.",
            memory_id=change.memory_id,
        )
    if change.action == "delete":
        return Put(Memory.model_validate(change.before), existing="fail")
    return Update(change.memory_id, dict(change.before))


async def memory_at(backend: Backend, scope: Scope, id: str, moment: datetime) -> Memory | None:
    """A memory as it was recorded at a moment; None if it was not known then, or has been erased since."""
    found = await backend.get(scope, [id])
    record = found[0].model_dump(mode="json") if found else None
    later = [change async for change in changes(backend, scope, memory_id=id) if change.at > moment]
    for change in reversed(later):
        record = _before(change, record)
    return Memory.model_validate(record) if record else None


async def memories_at(backend: Backend, scope: Scope, moment: datetime) -> list[Memory]:
    """Every memory of a scope as it was recorded at a moment, oldest first; those erased since are not among them."""
    records: dict[str, Json | None] = {}
    later = [c async for c in changes(backend, scope) if c.at > moment and c.link is None]
    touched = list({change.memory_id: None for change in later})
    for start in range(0, len(touched), _PART):
        for memory in await backend.get(scope, touched[start : start + _PART]):
            records[memory.id] = memory.model_dump(mode="json")
    for change in reversed(later):
        records[change.memory_id] = _before(change, records.get(change.memory_id))
    held = [Memory.model_validate(record) for record in records.values() if record]
    held.extend([memory async for memory in every(backend, scope, Filter(states=None)) if memory.id not in records])
    return sorted(held, key=lambda m: (m.recorded_at, m.id))


def _before(change: Change, record: Json | None) -> Json | None:
    """What a record was before one change of it, given what it was after."""
    if change.link is not None:
        return record
    if change.action in ("put", "erase"):
        return None
    if change.action == "delete":
        return change.before
    if record is None or change.before is None:
        return None
    return {**record, **change.before, "version": record["version"] - 1}
