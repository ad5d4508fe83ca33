"""What the tests of shared memory share: scopes of a tenant of their own, since a tenant has one shared memory."""

from __future__ import annotations

import itertools
import os
from typing import Any

import pytest

from longmind.systems.scoped_store import ScopedStore
from longmind.systems.shared import SharedAdministration, SharedMemory

_numbers = itertools.count(1)


class Tenant:
    """Shared memory as the agents and users of one tenant see it: ``await tenant("agent", user="alice")``."""

    def __init__(self, scoped_stores: Any) -> None:
        self._scoped_stores = scoped_stores
        self.name = f"tenant-{os.getpid()}-{next(_numbers)}"

    async def scoped(self, agent: str = "a", user: str | None = None, *, embedder: str = "none") -> ScopedStore:
        longmind = await self._scoped_stores.longmind(embedder)
        mem = longmind.agent(agent, user, tenant=self.name)
        return ScopedStore(
            store=longmind.store,
            scope=mem.scope,
            clock=longmind.clock,
            embed=longmind.embedding.embed,
            search=mem.recall,
        )

    async def __call__(self, agent: str = "a", user: str | None = None, **open: Any) -> SharedMemory:
        return SharedMemory(await self.scoped(agent, user, **open))

    async def administration(self, embedder: str = "none") -> SharedAdministration:
        """The same shared memory as the administrator of the tenant sees it."""
        return (await self._scoped_stores.longmind(embedder)).shared(self.name)


@pytest.fixture
def tenant(scoped_stores: Any) -> Tenant:
    """A tenant that nobody used before, on every backend in turn."""
    return Tenant(scoped_stores)
