"""A prepared PostgreSQL store for each test: a copy of one that was installed once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from longmind.clock import SystemClock
from longmind.store.base import Batch, Write
from longmind.store.postgres import PostgresBackend
from longmind.types import Scope

_clock = SystemClock()


@pytest.fixture(scope="session")
def installed_template(postgres_url: str) -> Iterator[str]:
    """The name of a database that holds an empty store."""
    name = f"longmind_template_{os.getpid()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))

        async def install() -> None:
            await (await PostgresBackend.open(_named(postgres_url, name), clock=_clock)).close()

        asyncio.run(install())
        yield name
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def store_url(postgres_url: str, installed_template: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a database with an empty store."""
    name = f"longmind_store_{os.getpid()}_{id(request)}"
    copy = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(installed_template))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(copy)
        yield _named(postgres_url, name)
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[PostgresBackend]:
    backend = await PostgresBackend.open(store_url, clock=_clock)
    yield backend
    await backend.close()


@pytest.fixture
def batch() -> Callable[..., Batch]:
    """A function that makes a batch of writes for a scope."""

    def make(scope: Scope, *writes: Write, operation: str | None = None, idempotent: bool = False) -> Batch:
        return Batch(scope, operation or _clock.new_id(), _clock.now(), tuple(writes), idempotent=idempotent)

    return make


def _named(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
