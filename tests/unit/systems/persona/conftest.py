"""What the tests of the persona share."""

from __future__ import annotations

import pytest

from longmind.systems.persona import PersonaMemory
from longmind.systems.room import Room


@pytest.fixture
def persona(room: Room) -> PersonaMemory:
    """The persona of an agent without a user, without vectors, on every backend in turn."""
    return PersonaMemory(room)
