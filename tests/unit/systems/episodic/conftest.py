"""What the tests of episodic memory share."""

from __future__ import annotations

import pytest

from longmind.systems.episodic import EpisodicMemory
from longmind.systems.room import Room


@pytest.fixture
def episodic(room: Room) -> EpisodicMemory:
    """Episodic memory without vectors, on every backend in turn."""
    return EpisodicMemory(room)
