"""Reading databases of other programs: SQLite files, opened read-only, and PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from longmind.errors import InvalidInput, StoreUnavailable
from longmind.store.sql import load

_QUERIES = load("longmind.importing", "databases.sql")
_MAGIC = b"SQLite format 3\x00"
_AT_ONCE = 500


def is_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite database."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


def is_postgres(url: str) -> bool:
    """Whether this is a URL of PostgreSQL."""
    return url.startswith(("postgresql://", "postgres://"))


class SqliteSource:
    """A SQLite file of another program."""

    def __init__(self, path: Path) -> None:
        self._path, self.name = path, path.name

    def columns(self, table: str) -> set[str]:
        """Return the columns of a table; none if there is no such table."""
        with self._connected() as connection:
            return {row["name"] for row in connection.execute(_QUERIES["sqlite_columns"], (table,))}

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a named query."""
        with self._connected() as connection:
            for row in connection.execute(_QUERIES[query]):
                yield dict(row)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        try:
            address = f"{self._path.resolve().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as connection:
                connection.row_factory = sqlite3.Row
                yield connection
        except sqlite3.Error as error:
            raise InvalidInput(f"{self.name}: the database cannot be read: {error}.") from error


class PostgresSource:
    """A PostgreSQL database of another program."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.name = urlsplit(url).path.strip("/") or "the database"

    def columns(self, table: str) -> set[str]:
        """Return the columns of a table; none if there is no such table."""
        with self._connected() as connection:
            return {row["name"] for row in connection.execute(_QUERIES["postgres_columns"], (table,))}

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a named query, without holding all of them."""
        with self._connected() as connection, connection.cursor(name="longmind_import") as cursor:
            cursor.itersize = _AT_ONCE
            yield from cursor.execute(_QUERIES[query])

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        try:
            import psycopg
            from psycopg.rows import dict_row
        except ImportError as error:
            raise StoreUnavailable(
                "Reading PostgreSQL needs psycopg.", hint='pip install "longmind[postgres]"'
            ) from error
        try:
            with psycopg.connect(self._url, row_factory=dict_row) as connection:
                connection.read_only = True
                yield connection
        except psycopg.Error as error:
            raise StoreUnavailable(f"{self.name}: the database cannot be read: {error}") from error
