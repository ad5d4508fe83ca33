"""The faces as the library's own tests want them, but over HTTP: a server on a store in memory, and the remote face."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from longmind import AgentMemory, Longmind, Settings
from longmind.client import RemoteLongmind
from longmind.server import ServerSettings, create_app
from longmind.systems.dialogue import DialogueMemory
from longmind.systems.episodic import EpisodicMemory
from longmind.systems.goals import GoalMemory
from longmind.systems.persona import PersonaMemory
from longmind.systems.procedural import ProceduralMemory, ToolRegistry
from longmind.systems.semantic import SemanticMemory
from longmind.systems.shared import SharedAdministration, SharedMemory
from longmind.systems.working import WorkingMemory
from longmind.testing import FakeClock


@pytest.fixture
def face_clock() -> FakeClock:
    return FakeClock(tick=timedelta(seconds=1))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def _shared_by_tests_of(system: str) -> Any:
    """What the tests of a memory system share."""
    path = Path(__file__).parents[2] / "unit" / "systems" / system / "conftest.py"
    spec = importlib.util.spec_from_file_location(f"shared_by_tests_of_{system}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def _remote(clock: FakeClock, embedder: str | None, tools: ToolRegistry | None = None) -> AsyncIterator[Longmind]:
    settings = Settings.load({})
    async with Longmind.open("memory:", clock=clock, settings=settings, embedder=embedder) as store:
        if tools is not None:
            store.__dict__["tools"] = tools
        transport = httpx2.ASGITransport(create_app(store, ServerSettings(consolidation=False)))
        async with RemoteLongmind("http://localhost", None, settings, clock, transport=transport) as remote:
            yield remote


@pytest.fixture
async def longmind(face_clock: FakeClock) -> AsyncIterator[Longmind]:
    """The remote face, for the tests of the verbs."""
    async for remote in _remote(face_clock, None):
        yield remote


@pytest.fixture
def desk() -> Any:
    """The functions that procedures call on the server."""
    return _shared_by_tests_of("procedural").Desk()


@pytest.fixture
async def far_longmind(clock: FakeClock, desk: Any) -> AsyncIterator[Longmind]:
    """A server without vectors, for the tests of the memory systems."""
    async for remote in _remote(clock, "none", desk.tools):
        yield remote


@pytest.fixture
def far(far_longmind: Longmind) -> AgentMemory:
    return far_longmind.agent("assistant")


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
def procedures(far: AgentMemory) -> ProceduralMemory:
    return far.procedural


@pytest.fixture
def persona(far: AgentMemory) -> PersonaMemory:
    return far.persona


@pytest.fixture
def dialogue(far: AgentMemory) -> DialogueMemory:
    return far.dialogue


@pytest.fixture
def talk(dialogue: DialogueMemory) -> Any:
    """A way to fill the tiers of dialogue memory."""
    return _shared_by_tests_of("dialogue").Talk(dialogue)


class FarTenant:
    """Shared memory as the agents and users of the server's tenant see it."""

    def __init__(self, longmind: Longmind) -> None:
        self._longmind = longmind
        self.name = longmind.settings.tenant

    async def __call__(self, agent: str = "a", user: str | None = None) -> SharedMemory:
        return self._longmind.agent(agent, user).shared

    async def administration(self) -> SharedAdministration:
        return self._longmind.shared()


@pytest.fixture
def tenant(far_longmind: Longmind) -> FarTenant:
    return FarTenant(far_longmind)


@pytest.fixture
def year() -> Callable[[int], datetime]:
    return lambda number: datetime(number, 1, 1, tzinfo=UTC)
