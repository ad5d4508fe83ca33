"""The conformance suite on PostgreSQL: one database, emptied before each test."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from longmind.store.base import Backend
from longmind.store.conformance import BackendConformance
from longmind.store.conformance.steps import Reopen
from longmind.testing import FakeClock

OUR_TABLES = """
    SELECT table_schema, table_name FROM information_schema.tables
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'
        AND table_name NOT LIKE '%yoyo%'
"""


@pytest.fixture(scope="module")
def database_url(postgres_url: str) -> Iterator[str]:
    name = f"longmind_conformance_{os.getpid()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        yield urlunsplit(urlsplit(postgres_url)._replace(path=f"/{name}"))
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


class TestPostgres(BackendConformance):
    @pytest.fixture
    async def backend(self, database_url: str) -> AsyncIterator[Backend]:
        _empty(database_url)
        backend = await _open(database_url)
        yield backend
        await backend.close()

    @pytest.fixture
    def reopen(self, database_url: str) -> Reopen:
        async def again(backend: Backend) -> Backend:
            await backend.close()
            return await _open(database_url)

        return again


async def _open(url: str) -> Backend:
    from longmind.store.postgres import PostgresBackend

    return await PostgresBackend.open(url, clock=FakeClock())


def _empty(url: str) -> None:
    """Remove every row of a store, but leave its tables; the first time there are none."""
    with psycopg.connect(url, autocommit=True) as connection:
        tables = [sql.Identifier(*name) for name in connection.execute(OUR_TABLES).fetchall()]
        if tables:
            connection.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(tables)))
