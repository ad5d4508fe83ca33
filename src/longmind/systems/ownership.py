"""Which user a memory belongs to, within one agent.

A scope with a user also sees what belongs to no user, and a scope of all users sees what belongs to each of them. A
system that keeps something separately for each of them (a window of pages, a profile) has to tell them apart. So its
records that belong to no user carry a mark that a filter can ask for.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Json, Memory, Scope

UNOWNED = "unowned"
_MAX_KEY = 200


def own_key(scope: Scope, name: str) -> str:
    """Return the key of a record that exists once per user; it contains the user, if the scope has one."""
    key = name if scope.user is None else f"{name}:{scope.user}"
    return key if len(key) <= _MAX_KEY else f"{name}:#{sha256(key.encode()).hexdigest()}"


async def find_own(scoped: ScopedStore, name: str, scope: Scope | None = None) -> Memory | None:
    """Return the record that a scope, by default the store's own, has under a name, or None."""
    whose = scope or scoped.scope
    memory = await scoped.store.by_key(whose, own_key(whose, name))
    return memory if memory is not None and memory.user == whose.user else None


def marks(scope: Scope, **more: Any) -> Json:
    """Return the metadata of a record that belongs to exactly this scope."""
    return more if scope.user is not None else {UNOWNED: True, **more}


def mine(scope: Scope, *, metadata: Json | None = None, **fields: Any) -> Filter:
    """Return a filter for the records of exactly this scope: its user's, or those that belong to no user."""
    if scope.user is not None:
        return Filter(users=(scope.user,), metadata=metadata, **fields)
    return Filter(metadata={UNOWNED: True, **(metadata or {})}, **fields)
