"""What the tests of working memory share."""

from __future__ import annotations

import pytest

from longmind.systems.scoped_store import ScopedStore
from longmind.systems.working import WorkingMemory


@pytest.fixture
def working(scoped: ScopedStore) -> WorkingMemory:
    """Working memory with seven slots, without vectors, on every backend in turn."""
    return WorkingMemory(scoped)
