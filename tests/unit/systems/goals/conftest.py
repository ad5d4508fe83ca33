"""What the tests of goals share: goal memory on every backend, with no model and no functions."""

from __future__ import annotations

import pytest

from recollect.systems.goals import GoalMemory
from recollect.systems.procedural import ProceduralMemory, ToolRegistry
from recollect.systems.room import Room


@pytest.fixture
def goals(room: Room) -> GoalMemory:
    return GoalMemory(room, ProceduralMemory(room, ToolRegistry()))
