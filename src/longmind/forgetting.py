"""Forgetting and erasing the memories of an agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from longmind.errors import NotFound
from longmind.store.base import ClearHistory, Delete, Write
from longmind.store.store import Store
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Forgotten, Memory, Scope


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
    from longmind.erasure import with_derived  # loads two memory systems, which only an erasure needs

    if not ids:
        return Forgotten(count=0, ids=(), erased=True)
    store, scope = scoped.store, scoped.scope.of_all_users()
    erased = await with_derived(store, scope, ids)
    memories = await store.get_all(scope, erased)
    present = {memory.id for memory in memories}
    await withdraw_support(scoped, memories)
    writes: list[Write] = [Delete(memory.id, erase=True) for memory in memories]
    writes.append(ClearHistory(tuple(id for id in erased if id not in present)))
    await store.apply(scope, writes, reason=reason)
    counted = tuple(id for id in erased if id in present.union(ids))
    return Forgotten(count=len(counted), ids=counted, erased=True)


async def withdraw_support(scoped: ScopedStore, removed: Iterable[Memory]) -> None:
    """Withdraw the support that removed memories gave to shared memory. What returns is offered again later."""
    memories = list(removed)
    if memories:
        from longmind.consolidate.stages.share import withdraw

        await withdraw(scoped, memories)


async def _are_forgotten(store: Store, scope: Scope, ids: Sequence[str]) -> bool:
    """Return whether all of these memories were forgotten earlier and the journal still tells of them."""
    for id in ids:
        last = [change for change in await store.history(scope, id) if change.link is None][-1:]
        if not last or last[0].action != "delete" or last[0].before is None:
            return False
    return True
