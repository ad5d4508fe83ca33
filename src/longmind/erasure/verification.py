"""Whether anything of an erasure is in the store."""

from __future__ import annotations

from longmind.erasure.models import ErasureCheck, ErasureReceipt, digest
from longmind.store import journal
from longmind.store.store import Store
from longmind.types import Change, Scope


async def verify(store: Store, tenant: str, receipt: ErasureReceipt) -> ErasureCheck:
    """Look for everything that a receipt says was removed. It reads all that the agents of the receipt hold."""
    memories = changes = 0
    erased = {agent.agent: frozenset(agent.memories) for agent in receipt.agents}
    for scope in await store.past_scopes():
        hashes = erased.get(digest(receipt.salt, "agent", scope.agent))
        if scope.tenant == tenant and hashes:
            in_memories, in_journal = await _remains(store, scope, receipt.salt, hashes)
            memories += in_memories
            changes += in_journal
    pending = tuple(await store.uncleared())
    return ErasureCheck(ok=not (memories or changes or pending), memories=memories, changes=changes, pending=pending)


async def _remains(store: Store, scope: Scope, salt: str, hashes: frozenset[str]) -> tuple[int, int]:
    """Count the erased memories that an agent holds, and the journal lines that tell something of one."""
    memories = changes = 0
    async for memory in store.scan_all(scope):
        memories += digest(salt, "memory", memory.id) in hashes
    async for change in journal.changes(store.backend, scope):
        if _tells(change):
            ids = {change.memory_id, *([change.link.source, change.link.target] if change.link else [])}
            changes += any(digest(salt, "memory", id) in hashes for id in ids)
    return memories, changes


def _tells(change: Change) -> bool:
    """Return whether a line of the journal has content; the line of an erasure itself says only why."""
    return change.before is not None or change.link is not None or (change.action != "erase" and bool(change.reason))
