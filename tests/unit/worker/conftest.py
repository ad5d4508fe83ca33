"""Stores that other processes can reach."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.worker.troubled import TroubledStore

from longmind import Settings


@pytest.fixture(params=["sqlite", "postgres"])
def shared_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that other processes can reach too."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return str(request.getfixturevalue("postgres_store_url"))


@pytest.fixture
async def troubled(shared_url: str) -> AsyncIterator[TroubledStore]:
    opened = TroubledStore.open(shared_url, settings=Settings.load({}))
    assert isinstance(opened, TroubledStore)
    async with opened:
        yield opened
