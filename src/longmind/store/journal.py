"""Reading the journal: the changes of a scope, and memories as they were at a moment.

The journal keeps what each change replaced, so the past is the present with the later changes undone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Any

from longmind.store.base import Backend
from longmind.store.reads import get_all, scan_all
from longmind.types import Change, Filter, Json, Memory, Scope

_PAGE = 1_000


async def changes(backend: Backend, scope: Scope, **which: Any) -> AsyncIterator[Change]:
    """Yield all changes that match, in order, read page by page."""
    after = int(which.pop("after", 0))
    while True:
        page = await backend.journal(scope, after=after, limit=_PAGE, **which)
        for change in page:
            yield change
        if len(page) < _PAGE:
            return
        after = page[-1].seq


async def last_records(backend: Backend, scope: Scope, ids: Iterable[str]) -> dict[str, Memory]:
    """Return memories as they are, or as they were when they were deleted, by id.

    Those of which the journal tells nothing any more are left out.
    """
    asked = list(dict.fromkeys(ids))
    records = {memory.id: memory for memory in await get_all(backend, scope, asked)}
    for id in asked:
        if id not in records:
            async for change in changes(backend, scope, memory_id=id):
                if change.action == "delete" and change.before is not None:
                    records[id] = Memory.model_validate(change.before)
    return records


async def memory_at(backend: Backend, scope: Scope, id: str, moment: datetime) -> Memory | None:
    """Return a memory as it was recorded at a moment; None if it was not known then, or has been erased since."""
    memories = await backend.get(scope, [id])
    record = memories[0].model_dump(mode="json") if memories else None
    later = [change async for change in changes(backend, scope, memory_id=id) if change.at > moment]
    for change in reversed(later):
        record = state_before(change, record)
    return Memory.model_validate(record) if record else None


async def memories_at(backend: Backend, scope: Scope, moment: datetime) -> list[Memory]:
    """Return every memory of a scope as it was recorded at a moment, oldest first, without those erased since."""
    records: dict[str, Json | None] = {}
    later = [c async for c in changes(backend, scope) if c.at > moment and c.link is None]
    touched = list({change.memory_id: None for change in later})
    for memory in await get_all(backend, scope, touched):
        records[memory.id] = memory.model_dump(mode="json")
    for change in reversed(later):
        records[change.memory_id] = state_before(change, records.get(change.memory_id))
    held = [Memory.model_validate(record) for record in records.values() if record]
    held.extend([memory async for memory in scan_all(backend, scope, Filter(states=None)) if memory.id not in records])
    return sorted(held, key=lambda m: (m.recorded_at, m.id))


def state_before(change: Change, record: Json | None) -> Json | None:
    """Return a record as it was before one of its changes, given what it was after."""
    if change.link is not None:
        return record
    if change.action in ("put", "erase"):
        return None
    if change.action == "delete":
        return change.before
    if record is None or change.before is None:
        return None
    return {**record, **change.before, "version": record["version"] - 1}
