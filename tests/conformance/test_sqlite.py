"""The conformance suite on SQLite."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from longmind.store.base import Backend
from longmind.store.conformance import BackendConformance
from longmind.store.conformance.steps import Reopen
from longmind.testing import FakeClock


class TestSqlite(BackendConformance):
    @pytest.fixture
    async def backend(self, tmp_path: Path) -> AsyncIterator[Backend]:
        backend = await _open(tmp_path)
        yield backend
        await backend.close()

    @pytest.fixture
    def reopen(self, tmp_path: Path) -> Reopen:
        async def again(backend: Backend) -> Backend:
            await backend.close()
            return await _open(tmp_path)

        return again


async def _open(folder: Path) -> Backend:
    from longmind.store.sqlite import SqliteBackend

    return await SqliteBackend.open(folder / "store.db", clock=FakeClock())
