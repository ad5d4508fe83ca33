"""What the tests of adapters share: the loopback model server, and memories of both kinds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from tests.unit.models.chat.conftest import Server, serving

from longmind import AgentMemory, Longmind, sync


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
async def mem() -> AsyncIterator[AgentMemory]:
    async with Longmind.open("memory:", embedder="none") as longmind:
        yield longmind.agent("assistant", user="alice")


@pytest.fixture
def blocking_mem() -> Iterator[sync.AgentMemory]:
    with sync.Longmind.open("memory:", embedder="none") as longmind:
        yield longmind.agent("assistant", user="alice")
