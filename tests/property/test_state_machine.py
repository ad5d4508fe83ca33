"""The state machine on every backend: whatever is done, a backend answers as the in-memory specification does.

``HYPOTHESIS_PROFILE=thorough`` tries many more examples; with ``CI`` set the examples are the same every time.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from psycopg import sql

from longmind.store.base import Backend, Batch, Delete, Receipt, Space
from longmind.store.conformance.machine import StoreMachine
from longmind.store.inmem import InmemBackend, State
from longmind.testing import FakeClock
from longmind.types import Change, Scope


def budget(examples: int) -> settings:
    """How long to try."""
    thorough = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
    return settings(
        max_examples=examples * 20 if thorough else examples,
        stateful_step_count=100 if thorough else 60,
        deadline=None,
        derandomize=bool(os.environ.get("CI")),
        # Making a failure smaller may take five minutes, and the test's time limit would then hide what failed.
        phases=tuple(Phase) if thorough else (Phase.explicit, Phase.reuse, Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )


class SqliteHost:
    """A new file for each example."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.files = folder, 0

    async def empty(self) -> Backend:
        self.files += 1
        return await self._open()

    async def again(self, backend: Backend) -> Backend:
        await backend.close()
        return await self._open()

    async def _open(self) -> Backend:
        from longmind.store.sqlite import SqliteBackend

        return await SqliteBackend.open(self.folder / f"{self.files}.db", clock=FakeClock())


class PostgresHost:
    """One database, emptied before each example."""

    TABLES = """
        SELECT table_schema, table_name FROM information_schema.tables
        WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'
            AND table_name NOT LIKE '%yoyo%'
    """

    def __init__(self, url: str) -> None:
        self.url = url

    async def empty(self) -> Backend:
        with psycopg.connect(self.url, autocommit=True) as connection:
            tables = [sql.Identifier(*name) for name in connection.execute(self.TABLES).fetchall()]
            if tables:
                connection.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(tables)))
        return await self._open()

    async def again(self, backend: Backend) -> Backend:
        await backend.close()
        return await self._open()

    async def _open(self) -> Backend:
        from longmind.store.postgres import PostgresBackend

        return await PostgresBackend.open(self.url, clock=FakeClock(), pool_size=2)


class InmemHost:
    """The specification, or what was made of it, against the specification."""

    def __init__(self, kind: type[InmemBackend] = InmemBackend) -> None:
        self.kind = kind

    async def empty(self) -> Backend:
        return await self.kind.open()

    async def again(self, backend: Backend) -> Backend:
        assert isinstance(backend, InmemBackend)
        return await self.kind.open(backend.snapshot())


class Leaking(InmemBackend):
    """Shows every user the journal of all."""

    async def journal(self, scope: Scope, **which: Any) -> list[Change]:
        return await super().journal(scope.of_all_users(), **which)


class Unforgetting(InmemBackend):
    """Deletes what it should erase."""

    async def apply(self, batch: Batch) -> Receipt:
        writes = tuple(replace(write, erase=False) if isinstance(write, Delete) else write for write in batch.writes)
        return await super().apply(batch._replace(writes=writes))


class Repeating(InmemBackend):
    """Makes a batch again that it was sent twice."""

    async def apply(self, batch: Batch) -> Receipt:
        return await super().apply(batch._replace(idempotent=False))


class Careless(InmemBackend):
    """Activates a space that is not finished, by making up what is missing."""

    async def activate_space(self, space: Space) -> None:
        zero = np.zeros(space.dimensions, np.float32)
        missing = await self.missing_vectors(space, 1_000)
        await self.put_vectors(space, [(*row, zero) for row in missing])
        await super().activate_space(space)


class Volatile(InmemBackend):
    """Loses the numbering of changes when it is opened again."""

    @classmethod
    async def open(cls, state: State | None = None) -> InmemBackend:
        for agent in (state or State()).agents.values():
            agent.journal = agent.journal[:-1]
        return cls(state)


def test_inmem_agrees_with_itself() -> None:
    run_state_machine_as_test(lambda: StoreMachine(InmemHost()), settings=budget(10))


@pytest.mark.parametrize("faulty", [Leaking, Unforgetting, Repeating, Careless, Volatile])
def test_the_machine_finds_a_planted_fault(faulty: type[InmemBackend]) -> None:
    search = settings(budget(200), derandomize=True, database=None, phases=[Phase.generate])
    with pytest.raises((AssertionError, KeyError)):
        run_state_machine_as_test(lambda: StoreMachine(InmemHost(faulty)), settings=search)


def test_sqlite_agrees_with_the_specification(tmp_path: Path) -> None:
    host = SqliteHost(tmp_path)
    run_state_machine_as_test(lambda: StoreMachine(host), settings=budget(30))


def test_postgres_agrees_with_the_specification(postgres_store_url: str) -> None:
    host = PostgresHost(postgres_store_url)
    run_state_machine_as_test(lambda: StoreMachine(host), settings=budget(20))
