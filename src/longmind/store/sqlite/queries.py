"""The statements of ``queries.sql`` and ``filters.sql``, ready to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import Any

import apsw

from longmind.store import sql

PACKAGE = "longmind.store.sqlite"
SLOTS = ("a", "b")
"""The two tables of vectors: one for the active space, one for the space that is being built."""

FEW = 32
"""Up to this many ids are bound one by one, which is faster than a JSON list."""

Row = tuple[Any, ...]

_STEPS = (128, 64, 32, 16, 8, 4, 2, 1)


def _filled() -> dict[str, str]:
    raw = sql.load(PACKAGE, "queries.sql")
    parts = {
        "{memory_columns}": raw.pop("memory_columns"),
        "{index_columns}": raw.pop("index_columns"),
        "{few}": ", ".join("?" * FEW),
    }
    for name, text in raw.items():
        for mark, part in parts.items():
            raw[name] = text = text.replace(mark, part)
    return raw


QUERIES = _filled()
FILTERS = sql.load(PACKAGE, "filters.sql")


@cache
def of_slot(name: str, slot: str) -> str:
    """Return a query for one of the two vector tables."""
    return QUERIES[name].replace("{vectors}", f"vectors_{slot}")


@cache
def _many(text: str, count: int) -> str:
    head, group = text.rsplit("VALUES", 1)
    return f"{head}VALUES {', '.join([group.strip()] * count)}"


def fetch(connection: apsw.Connection, text: str, values: Any = ()) -> list[Row]:
    """Return all rows of a query."""
    return connection.execute(text, values).fetchall()


def insert(execute: Callable[..., Any], text: str, rows: Sequence[Row]) -> None:
    """Insert rows, many to a statement.

    The interpreter's lock is given up and taken again with every statement, and while the event loop is busy taking it
    again costs milliseconds: a statement for each row would make a batch wait for the loop hundreds of times.
    """
    if len(rows) == 1:
        execute(text, rows[0])
        return
    at = 0
    for step in _STEPS:
        while len(rows) - at >= step:
            execute(_many(text, step), tuple(chain.from_iterable(rows[at : at + step])))
            at += step
