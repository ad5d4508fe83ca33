"""What the tests of episodic memory share."""

from __future__ import annotations

import pytest

from recollect.systems.episodic import EpisodicMemory
from recollect.systems.room import Room


@pytest.fixture
def episodic(room: Room) -> EpisodicMemory:
    """Episodic memory without vectors, on every backend in turn."""
    return EpisodicMemory(room)
