"""Forgetting and erasing the memories of an agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from longmind.errors import NotFound
from longmind.store.base import Delete, Put, Write
from longmind.store.store import Store
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Forgotten, Memory, Scope


async def forget_memories(scoped: ScopedStore, ids: Sequence[str], *, erase: bool, reason: str) -> Forgotten:
    """Delete memories and return what was removed.

    With ``erase`` also what was derived from them, and the journal's copies.
    """
    store, scope = scoped.store, scoped.scope
    memories = await store.get_all(scope, ids)
    present = {memory.id for memory in memories}
    missing = [id for id in ids if id not in present]
    writes: list[Write] = await _restore_forgotten(store, scope, missing) if erase else []
    if len(writes) < len(missing):
        raise NotFound(f"There is no memory {missing[0]} here; nothing was forgotten.", ids=missing)
    if erase:
        ids = await _with_derived(store, scope, ids)
        memories = await store.get_all(scope, ids)
    # Support is withdrawn first, so that shared memory never rests on a fact that is gone.
    await withdraw_support(scoped, [memory for memory in memories if erase or memory.state == "active"])
    writes += [Delete(id, erase=erase) for id in ids]
    if not writes:
        return Forgotten(count=0, ids=(), erased=erase)
    receipt = await store.apply(scope, writes, reason=reason or ("erase" if erase else "forget"))
    operation = None if erase else receipt.operation
    return Forgotten(count=len(ids), ids=tuple(ids), operation=operation, erased=erase)


async def withdraw_support(scoped: ScopedStore, removed: Iterable[Memory]) -> None:
    """Withdraw the support that removed facts gave to shared memory. Facts that return are offered again later."""
    facts = [memory for memory in removed if memory.kind == "fact"]
    if facts:
        from longmind.consolidate.stages.share import withdraw

        await withdraw(scoped, facts)


async def _restore_forgotten(store: Store, scope: Scope, ids: Sequence[str]) -> list[Write]:
    """Return writes that restore memories forgotten earlier, as far as the journal has them, so they can be erased."""
    writes: list[Write] = []
    for id in ids:
        last = [change for change in await store.history(scope, id) if change.link is None][-1:]
        if last and last[0].action == "delete" and last[0].before is not None:
            writes.append(Put(Memory.model_validate({**last[0].before, "key": None}), existing="fail"))
    return writes


async def _with_derived(store: Store, scope: Scope, ids: Sequence[str]) -> list[str]:
    """Return the ids together with those of everything derived from them, transitively."""
    reached = dict.fromkeys(ids)
    frontier = list(ids)
    while frontier:
        links = await store.all_links(scope, frontier, relation="derived_from", direction="in")
        frontier = [source for source in {link.source: None for link in links} if source not in reached]
        reached.update(dict.fromkeys(frontier))
    return list(reached)
