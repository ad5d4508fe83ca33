"""An agent's memory on the embedded backends, with real time: runs take leases and have deadlines."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longmind import Longmind, Settings
from longmind.agent_memory import AgentMemory


@pytest.fixture(params=["inmem", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory:" if request.param == "inmem" else f"sqlite:///{tmp_path / 'memory.db'}"


@pytest.fixture
async def opened(url: str) -> AsyncIterator[Longmind]:
    async with Longmind.open(url, settings=Settings.load({})) as longmind:
        yield longmind


@pytest.fixture
def mem(opened: Longmind) -> AgentMemory:
    return opened.agent("assistant", user="ann")
