"""Fixtures for tests with scripted readers."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.unit.consolidate.readers.scripted_readers import Changes, ScriptedReaders, Statements

from longmind import Longmind
from longmind.consolidate import cycle


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ScriptedReaders:
    readers = Statements()
    monkeypatch.setattr(cycle, "open_statement_reader", lambda: readers)
    monkeypatch.setattr(cycle, "open_change_reader", lambda: Changes(readers))
    return readers


@pytest.fixture
async def longmind() -> AsyncIterator[Longmind]:
    async with Longmind.open("memory:", embedder="none") as opened:
        yield opened
