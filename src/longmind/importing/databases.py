"""Reading databases of other programs: SQLite files, opened read-only, and PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from longmind.errors import InvalidInput
from longmind.store.sql import load

_QUERIES = load("longmind.importing", "databases.sql")
_MAGIC = b"SQLite format 3\x00"


def is_sqlite(path: Path) -> bool:
    """Whether a file is a SQLite database."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(_MAGIC)) == _MAGIC


def columns(path: Path, table: str) -> set[str]:
    """Return the columns of a table; none if there is no such table."""
    with _connected(path) as connection:
        found = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return {row["name"] for row in found}


def rows(path: Path, query: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a named query."""
    with _connected(path) as connection:
        for row in connection.execute(_QUERIES[query]):
            yield dict(row)


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
        ) as connection:
            connection.row_factory = sqlite3.Row
            yield connection
    except sqlite3.Error as error:
        raise InvalidInput(f"{path.name}: the database cannot be read: {error}.") from error
