"""What the tests of semantic memory share."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from longmind.systems.scoped_store import ScopedStore
from longmind.systems.semantic import SemanticMemory


@pytest.fixture
def semantic(scoped: ScopedStore) -> SemanticMemory:
    """The semantic memory of an agent, on every backend in turn."""
    return SemanticMemory(scoped)


@pytest.fixture
def year() -> object:
    """``year(2020)`` is the beginning of that year."""
    return lambda number: datetime(number, 1, 1, tzinfo=UTC)
