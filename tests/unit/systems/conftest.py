"""Fixtures of the tests of the memory systems: a scoped store on every backend, with a clock that the test sets.

``scoped`` is one scoped store without vectors. ``scoped_stores`` opens more of them: its ``open(user=...,
embedder="static")`` opens another on the same store, and its ``restart()`` closes the store and opens it again, as a
new process would. Tests that open a ``Longmind`` themselves use ``scoped_store_of``.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql
from typer import Typer
from typer.testing import CliRunner

from longmind import Longmind
from longmind.config import Settings
from longmind.sync import Longmind as BlockingLongmind
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock
from longmind.types import Filter, Hit

BACKENDS = ("inmem", "sqlite", "postgres")
_numbers = itertools.count(1)


def scoped_store_of(longmind: Longmind, agent: str, user: str | None = None, *, all_users: bool = False) -> ScopedStore:
    """Return the scoped store of an agent, built as ``Longmind.agent`` builds it."""
    mem = longmind.agent(agent, user=user, all_users=all_users)

    async def search(
        query: str, *, k: int = 10, kinds: Sequence[str] | None = None, where: Filter | None = None
    ) -> list[Hit]:
        return await mem.recall(query, k, kinds=kinds, where=where)

    return ScopedStore(
        longmind.store, mem.scope, longmind.clock, longmind.embedding.embed, search, longmind.count_reads
    )


class ScopedStores:
    """Opens scoped stores on one store of one backend, and closes all at the end of the test."""

    def __init__(self, backend: str, url: str, agent: str, clock: FakeClock) -> None:
        self.backend = backend
        self.url = url
        self.agent = agent
        self.clock = clock
        self._open: dict[str, Longmind] = {}

    async def open(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        all_users: bool = False,
        embedder: str = "none",
    ) -> ScopedStore:
        """Open a scope of this test's agent or of another; scopes with the same embedder share the open store."""
        return scoped_store_of(await self.longmind(embedder), agent or self.agent, user, all_users=all_users)

    async def longmind(self, embedder: str = "none") -> Longmind:
        """The open store itself: one for each embedder, but in memory one only, whose embedder the first call chose."""
        name = "inmem" if self.backend == "inmem" else embedder
        if name not in self._open:
            self._open[name] = await self._opened(embedder)
        return self._open[name]

    async def another(self, embedder: str = "none") -> ScopedStore:
        """Open the same store with its own connections, as another process does; not possible with inmem."""
        longmind = await self._opened(embedder)
        self._open[f"another {len(self._open)}"] = longmind
        return scoped_store_of(longmind, self.agent)

    async def restart(self, *, user: str | None = None, embedder: str = "none") -> ScopedStore:
        """Close the store and open it again. What lives in memory only stays open: it has nothing to come back from."""
        if self.backend != "inmem":
            await self.close()
        return await self.open(user=user, embedder=embedder)

    async def close(self) -> None:
        while self._open:
            await self._open.popitem()[1].close()

    async def _opened(self, embedder: str) -> Longmind:
        settings = Settings.load(environment={})
        return await Longmind.open(self.url, embedder=embedder, clock=self.clock, settings=settings)


@pytest.fixture
def clock() -> FakeClock:
    """The clock of the store under test. It stands still until the test moves it."""
    return FakeClock()


@pytest.fixture(scope="session")
def systems_postgres_url(postgres_url: str) -> Iterator[str]:
    """One database for all tests of the systems; each test has an agent of its own, which is a wall."""
    name = f"longmind_systems_{os.getpid()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        yield urlunsplit(urlsplit(postgres_url)._replace(path=f"/{name}"))
        with suppress(psycopg.OperationalError):  # the server may be gone already
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(params=BACKENDS)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the store under test is."""
    if request.param == "inmem":
        return "memory:"
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return str(request.getfixturevalue("systems_postgres_url"))


@pytest.fixture
async def scoped_stores(store_url: str, clock: FakeClock) -> AsyncIterator[ScopedStores]:
    """Scoped stores on one store, on every backend in turn."""
    scheme = urlsplit(store_url).scheme
    backend = {"memory": "inmem", "postgresql": "postgres", "postgres": "postgres"}.get(scheme, "sqlite")
    stores = ScopedStores(backend, store_url, f"agent-{os.getpid()}-{next(_numbers)}", clock)
    yield stores
    await stores.close()


@pytest.fixture
async def scoped(scoped_stores: ScopedStores) -> ScopedStore:
    """A scoped store without vectors, on every backend in turn."""
    return await scoped_stores.open()


class Cli:
    """Runs one command group on a store of the test's own and expects an exit code."""

    def __init__(self, app: Typer, url: str) -> None:
        self._app = app
        self._env = {"LONGMIND_URL": url, "LONGMIND_EMBEDDER": "none", "COLUMNS": "120", "NO_COLOR": "1"}
        with BlockingLongmind.open(url, embedder="none") as longmind:  # reading commands make neither store nor agent
            longmind.agent("assistant").configure(recall_k=11)

    def __call__(self, *words: str, code: int = 0) -> str:
        result = CliRunner(env=self._env).invoke(self._app, words, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result.output

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self(*words, "--json", code=code))
