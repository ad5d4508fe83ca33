"""Looking back: the changes of a scope, and what a memory, or all of them, was at a moment.

The journal keeps what each change replaced, so the past is the present with the changes since then taken off.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

from longmind.store.base import Backend
from longmind.store.reads import get_all, scan_all
from longmind.types import Change, Filter, Json, Memory, Scope

_PART = 1_000


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


async def memory_at(backend: Backend, scope: Scope, id: str, moment: datetime) -> Memory | None:
    """A memory as it was recorded at a moment; None if it was not known then, or has been erased since."""
    found = await backend.get(scope, [id])
    record = found[0].model_dump(mode="json") if found else None
    later = [change async for change in changes(backend, scope, memory_id=id) if change.at > moment]
    for change in reversed(later):
        record = before(change, record)
    return Memory.model_validate(record) if record else None


async def memories_at(backend: Backend, scope: Scope, moment: datetime) -> list[Memory]:
    """Every memory of a scope as it was recorded at a moment, oldest first; those erased since are not among them."""
    records: dict[str, Json | None] = {}
    later = [c async for c in changes(backend, scope) if c.at > moment and c.link is None]
    touched = list({change.memory_id: None for change in later})
    for memory in await get_all(backend, scope, touched):
        records[memory.id] = memory.model_dump(mode="json")
    for change in reversed(later):
        records[change.memory_id] = before(change, records.get(change.memory_id))
    held = [Memory.model_validate(record) for record in records.values() if record]
    held.extend([memory async for memory in scan_all(backend, scope, Filter(states=None)) if memory.id not in records])
    return sorted(held, key=lambda m: (m.recorded_at, m.id))


def before(change: Change, record: Json | None) -> Json | None:
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
