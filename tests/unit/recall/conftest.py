"""A recaller over a store in memory, with vectors that follow from the words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from benchmarks.embedders import WordHashEmbedder
from longmind.recall.engine import Recaller
from longmind.store.base import AddLink, Put, Space
from longmind.store.inmem import InmemBackend
from longmind.store.store import Store
from longmind.testing import FakeClock, memory
from longmind.types import Link, Memory, Scope

SCOPE = Scope(agent="assistant")


class World:
    """A store, a recaller, and a short way to fill the one and ask the other."""

    def __init__(self, store: Store, clock: FakeClock) -> None:
        self.store, self.clock, self.scope = store, clock, SCOPE
        self.recaller = Recaller(store, WordHashEmbedder(), clock)

    async def add(self, content: str, **fields: Any) -> Memory:
        made = memory(content, scope=self.scope, clock=self.clock, **fields)
        vector = (await WordHashEmbedder().embed([content]))[0]
        await self.store.apply(self.scope, [Put(made, vector)])
        return made

    async def link(self, source: Memory, relation: str, target: Memory) -> None:
        await self.store.apply(self.scope, [AddLink(Link(source=source.id, relation=relation, target=target.id))])

    async def ask(self, query: str, **options: Any) -> list[str]:
        return [hit.memory.content for hit in await self.recaller.recall(self.scope, query, **options)]


@pytest.fixture
async def world() -> AsyncIterator[World]:
    clock = FakeClock()
    backend = await InmemBackend.open()
    await backend.declare_space(Space(WordHashEmbedder.name, WordHashEmbedder.dimensions))
    store = Store(backend, clock)
    made = World(store, clock)
    yield made
    await made.recaller.close()
    await store.close()
