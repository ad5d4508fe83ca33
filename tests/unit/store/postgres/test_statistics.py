"""A store that was just filled has the statistics that the planner needs, without waiting for the server."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from longmind.store.base import Batch, Put
from longmind.store.postgres import PostgresBackend
from longmind.store.postgres.driver import psycopg as driver
from longmind.store.postgres.statistics import ENOUGH, Statistics
from longmind.testing import memory
from longmind.types import Scope

KNOWN = "SELECT DISTINCT tablename FROM pg_stats WHERE schemaname = 'longmind' AND tablename IN ('memories', 'journal')"
MakeBatch = Callable[..., Batch]
SCOPE = Scope(agent="assistant")


async def test_statistics_are_gathered_when_a_store_fills(
    backend: PostgresBackend, batch: MakeBatch, store_url: str
) -> None:
    with psycopg.connect(store_url, autocommit=True) as connection:
        for table in ("memories", "journal"):  # the server must not be faster
            connection.execute(f"ALTER TABLE longmind.{table} SET (autovacuum_enabled = false)")
        await backend.apply(batch(SCOPE, *(Put(memory(scope=SCOPE)) for _ in range(ENOUGH - 1))))
        assert connection.execute(KNOWN).fetchall() == []
        await backend.apply(batch(SCOPE, Put(memory(scope=SCOPE))))
        assert {row[0] for row in connection.execute(KNOWN)} == {"memories", "journal"}


async def test_a_write_does_not_fail_because_they_cannot_be_gathered(
    backend: PostgresBackend, batch: MakeBatch, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(self: Statistics) -> None:
        raise driver.OperationalError("the connection broke")

    monkeypatch.setattr(Statistics, "_gather", fail)
    kept = [memory(scope=SCOPE) for _ in range(ENOUGH)]
    receipt = await backend.apply(batch(SCOPE, *(Put(new) for new in kept)))
    assert len(receipt.memories) == ENOUGH
    assert "the connection broke" in caplog.text
