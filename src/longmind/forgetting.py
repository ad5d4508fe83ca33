"""Taking away what an agent remembers: forgetting, erasing, and undoing an operation."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from longmind.errors import NotFound
from longmind.store import journal
from longmind.store.base import ClearHistory, Delete, Write
from longmind.store.store import Store
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Change, Forgotten, Memory, Scope, Undone, UndoneChange


async def forget_memories(scoped: ScopedStore, ids: Sequence[str], *, erase: bool, reason: str) -> Forgotten:
    """Delete memories and return what was removed.

    With ``erase`` also all that came from them, and the journal's copies.
    """
    store, scope = scoped.store, scoped.scope
    memories = await store.get_all(scope, ids)
    present = {memory.id for memory in memories}
    missing = [id for id in ids if id not in present]
    if missing and not (erase and await _are_forgotten(store, scope, missing)):
        raise NotFound(f"There is no memory {missing[0]} here; nothing was forgotten.", ids=missing)
    if erase:
        return await _erase(scoped, ids, reason or "erase")
    # Support is withdrawn first, so that shared memory never rests on what is gone.
    await withdraw_support(scoped, [memory for memory in memories if memory.state == "active"])
    if not ids:
        return Forgotten(count=0, ids=())
    receipt = await store.apply(scope, [Delete(id) for id in ids], reason=reason or "forget")
    return Forgotten(count=len(ids), ids=tuple(ids), operation=receipt.operation)


async def _erase(scoped: ScopedStore, ids: Sequence[str], reason: str) -> Forgotten:
    """Erase memories with everything that came from them, whichever user of the agent it belongs to.

    What was forgotten before and is erased now is counted if it was asked for.
    """
    # They load two memory systems, which only an erasure needs.
    from longmind.erasure import with_derived
    from longmind.systems.semantic import reopening_writes

    if not ids:
        return Forgotten(count=0, ids=(), erased=True)
    store, scope = scoped.store, scoped.scope.of_all_users()
    erased = await with_derived(store, scope, ids)
    memories = await store.get_all(scope, erased)
    present = {memory.id for memory in memories}
    await withdraw_support(scoped, memories)
    writes: list[Write] = [*await reopening_writes(store, scope, erased)]
    writes += [Delete(memory.id, erase=True) for memory in memories]
    writes.append(ClearHistory(tuple(id for id in erased if id not in present)))
    await store.apply(scope, writes, reason=reason)
    counted = tuple(id for id in erased if id in present.union(ids))
    return Forgotten(count=len(counted), ids=counted, erased=True)


async def withdraw_support(scoped: ScopedStore, removed: Iterable[Memory], *, present: Sequence[Memory] = ()) -> None:
    """Withdraw the support that removed memories gave to shared memory. What returns is offered again later.

    What one of the ``present`` memories states keeps its support.
    """
    memories = list(removed)
    if memories:
        from longmind.consolidate.stages.share import withdraw

        await withdraw(scoped, memories, present=present)


async def _are_forgotten(store: Store, scope: Scope, ids: Sequence[str]) -> bool:
    """Return whether all of these memories were forgotten earlier and the journal still tells of them."""
    for id in ids:
        last = [change for change in await store.history(scope, id) if change.link is None][-1:]
        if not last or last[0].action != "delete" or last[0].before is None:
            return False
    return True


async def undo_operation(scoped: ScopedStore, operation: str) -> Undone:
    """Undo an operation and return what that changed."""
    from longmind.consolidate.bookmarks import SHARED

    store, scope = scoped.store, scoped.scope
    receipt = await store.undo(scope, operation, scoped.embed, shared=SHARED)
    lines = [line async for line in journal.changes(store.backend, scope, operation=receipt.operation)]
    records = await store.get_all(scope, [line.memory_id for line in lines if line.action == "update"])
    undone, removed = await asyncio.to_thread(_undone, operation, receipt.operation, lines, records)
    await withdraw_support(scoped, [*removed, *_reworded(lines, records)], present=records)
    await _withdraw_what_was_read(scoped, lines, records)
    return undone


def _reworded(lines: Sequence[Change], records: Sequence[Memory]) -> list[Memory]:
    """Return the memories whose text an undo has put back, with the text that they had until then."""
    current = {memory.id: memory for memory in records}
    return [
        current[line.memory_id].model_copy(update={"content": line.before["content"]})
        for line in lines
        if line.action == "update" and line.before and "content" in line.before and line.memory_id in current
    ]


async def _withdraw_what_was_read(scoped: ScopedStore, lines: Sequence[Change], records: Sequence[Memory]) -> None:
    """Withdraw the support of the messages that an undone run had read. The next run reads and offers them again."""
    from longmind.consolidate.bookmarks import RUN_KEYS
    from longmind.consolidate.stages.share import read_by_run, withdraw

    marks = {memory.id: memory for memory in records if memory.key in RUN_KEYS}
    for line in lines:
        before = line.before or {}
        body = before.get("body") if line.action in ("update", "delete") else None
        if not isinstance(body, dict) or (line.memory_id not in marks and before.get("key") not in RUN_KEYS):
            continue
        mark = marks.get(line.memory_id)
        after = 0 if mark is None else int(mark.body.get("through", 0))
        await withdraw(scoped, await read_by_run(scoped, after, int(body.get("through", 0))))


def _undone(
    operation: str, own: str, lines: Sequence[Change], records: Sequence[Memory]
) -> tuple[Undone, list[Memory]]:
    """Return the report of an undo from its journal lines and the records as they are, and what it removed."""
    current = {memory.id: memory for memory in records}
    changes: list[UndoneChange] = []
    removed: list[Memory] = []
    for line in lines:
        if line.link is not None:
            continue
        if line.action == "delete" and line.before is not None:
            memory = Memory.model_validate(line.before)
            removed.append(memory)
            changes.append(UndoneChange(action="removed", **_told(memory)))
        elif line.action == "put" and line.after is not None:
            changes.append(UndoneChange(action="restored", **_told(Memory.model_validate(line.after))))
        elif line.action == "update" and line.memory_id in current:
            fields = tuple(sorted(line.before or ()))
            changes.append(UndoneChange(action="changed", fields=fields, **_told(current[line.memory_id])))
    links = sum(line.link is not None for line in lines)
    return Undone(undone=operation, operation=own, changes=tuple(changes), links=links), removed


def _told(memory: Memory) -> dict[str, str]:
    return {"memory_id": memory.id, "kind": memory.kind, "content": memory.content}
