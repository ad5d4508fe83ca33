"""What the tests of goals share: goal memory on every backend, with no model and no functions."""

from __future__ import annotations

import pytest

from longmind.systems.goals import GoalMemory
from longmind.systems.procedural import ProceduralMemory, ToolRegistry
from longmind.systems.scoped_store import ScopedStore


@pytest.fixture
def goals(scoped: ScopedStore) -> GoalMemory:
    return GoalMemory(scoped, ProceduralMemory(scoped, ToolRegistry()))
