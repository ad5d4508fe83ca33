"""The place of keys and audit, on each backend."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longmind.config import Settings
from longmind.security import AccessStore
from longmind.store.access import access_store


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store that does not exist yet."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    url: str = request.getfixturevalue("fresh_postgres_url")
    return url


@pytest.fixture
async def access(store_url: str) -> AsyncIterator[AccessStore]:
    store = access_store(store_url, Settings.load({}))
    yield store
    await store.close()
