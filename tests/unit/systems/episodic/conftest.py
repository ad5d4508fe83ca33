"""What the tests of episodic memory share."""

from __future__ import annotations

import pytest

from longmind.systems.episodic import EpisodicMemory
from longmind.systems.scoped_store import ScopedStore


@pytest.fixture
def episodic(scoped: ScopedStore) -> EpisodicMemory:
    """Episodic memory without vectors, on every backend in turn."""
    return EpisodicMemory(scoped)
