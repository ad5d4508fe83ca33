"""A store in a file of its own, and the file itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longmind.store.sqlite import SqliteBackend


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteBackend]:
    backend = await SqliteBackend.open(path)
    yield backend
    await backend.close()
