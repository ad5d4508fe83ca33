"""Which records a scope sees and writes, and consistent reads during concurrent writes.

Facts and concepts with a user belong to that user. Those without one belong to the whole agent, and every user sees
them. A scope with a user writes only its own timelines, and reads its own records before the agent's. A scope without a
user writes the agent's timelines; with ``all_users`` it also reads those of the users, after the agent's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter, Memory, Scope

T = TypeVar("T")
_READS = 20


def tier(scope: Scope, user: str | None) -> int:
    """Return how near a record is to a scope: 0 its own, 1 the whole agent's, 2 another user's."""
    return 0 if user == scope.user else 1 if user is None else 2


def find_writable(user: str | None, records: Iterable[Memory]) -> Memory | None:
    """Return the one of these records of the same name that a statement of this user is about.

    None for ``user`` is the agent itself.
    """
    near = sorted((r for r in records if r.user in (user, None)), key=lambda r: r.user is None)
    return near[0] if near else None


def sort_by_nearness(scope: Scope, records: Iterable[Memory]) -> list[Memory]:
    """Sort records in the order in which a query in this scope considers them."""
    return sorted(records, key=lambda r: (tier(scope, r.user), r.user or "", r.id))


async def find_by_keys(scoped: ScopedStore, keys: Sequence[str]) -> list[Memory]:
    """Return all visible records that hold one of these keys."""
    return [m async for m in scoped.store.scan_all(scoped.scope, Filter(keys=tuple(keys), states=None))]


async def read_consistently(scoped: ScopedStore, read: Callable[[], Awaitable[T]]) -> T:
    """Run several reads that see the same state; they are repeated if something was written in between.

    Without this a reader could see the old value ended and the new one not yet stored. After some repetitions under
    constant writes, the last read is returned as it is.
    """
    for _ in range(_READS - 1):
        before = await scoped.store.backend.head(scoped.scope)
        result = await read()
        if before == await scoped.store.backend.head(scoped.scope):
            return result
    return await read()
