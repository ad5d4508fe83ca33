"""What the tests of the persona share."""

from __future__ import annotations

import pytest

from longmind.systems.persona import PersonaMemory
from longmind.systems.scoped_store import ScopedStore


@pytest.fixture
def persona(scoped: ScopedStore) -> PersonaMemory:
    """The persona of an agent without a user, without vectors, on every backend in turn."""
    return PersonaMemory(scoped)
