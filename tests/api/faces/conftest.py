"""The faces as the library's own tests want them, but over HTTP: a server on a store in memory, and the remote face."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from longmind import AgentMemory, Longmind, Settings
from longmind.client import RemoteLongmind
from longmind.server import ServerSettings, create_app
from longmind.systems.episodic import EpisodicMemory
from longmind.systems.goals import GoalMemory
from longmind.systems.semantic import SemanticMemory
from longmind.systems.working import WorkingMemory
from longmind.testing import FakeClock


@pytest.fixture
def face_clock() -> FakeClock:
    return FakeClock(tick=timedelta(seconds=1))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def _remote(clock: FakeClock, embedder: str | None) -> AsyncIterator[Longmind]:
    settings = Settings.load({})
    async with Longmind.open("memory:", clock=clock, settings=settings, embedder=embedder) as store:
        transport = httpx2.ASGITransport(create_app(store, ServerSettings(consolidation=False)))
        async with RemoteLongmind("http://localhost", None, settings, clock, transport=transport) as remote:
            yield remote


@pytest.fixture
async def rc(face_clock: FakeClock) -> AsyncIterator[Longmind]:
    """The remote face, for the tests of the verbs."""
    async for remote in _remote(face_clock, None):
        yield remote


@pytest.fixture
async def far(clock: FakeClock) -> AsyncIterator[AgentMemory]:
    """An agent on a server without vectors, for the tests of the memory systems."""
    async for remote in _remote(clock, "none"):
        yield remote.agent("assistant")


@pytest.fixture
def semantic(far: AgentMemory) -> SemanticMemory:
    return far.semantic


@pytest.fixture
def episodic(far: AgentMemory) -> EpisodicMemory:
    return far.episodic


@pytest.fixture
def working(far: AgentMemory) -> WorkingMemory:
    return far.working


@pytest.fixture
def goals(far: AgentMemory) -> GoalMemory:
    return far.goals


@pytest.fixture
def year() -> Callable[[int], datetime]:
    return lambda number: datetime(number, 1, 1, tzinfo=UTC)
