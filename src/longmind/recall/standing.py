"""Standing memories: what an agent should know whatever its task is."""

from __future__ import annotations

from longmind.store.store import Store
from longmind.types import Filter, Memory, Scope

STANDING = (
    Filter(kinds=("goal",), states=("active",), metadata={"open": True}),
    Filter(kinds=("trait",), states=("active",), metadata={"about": "user", "established": True}),
)
"""Goals that are not reached yet, and the traits of the user for which there is enough evidence."""
MAX_OF_EACH = 20


async def standing_memories(store: Store, scope: Scope) -> list[Memory]:
    """Return the open goals of a scope and the traits of its user, the most important of each first."""
    present = set((await store.view(scope)).kinds.names)
    memories: list[Memory] = []
    for where in STANDING:
        if present.intersection(where.kinds or ()):
            page = await store.scan(scope, where, order="importance", descending=True, limit=MAX_OF_EACH)
            memories += page.items
    return memories
