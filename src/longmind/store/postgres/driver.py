"""psycopg, which comes with an extra, and the named queries of this package in the form it takes.

This module is imported before any other of the package, so that a missing driver gives a clear error. psycopg wants
literals or bytes, so that nobody builds a statement out of values by mistake. Queries come from the ``.sql`` files of
the package; a longer one is joined from whole named ones only, and values are always parameters.
"""

from __future__ import annotations

from longmind.errors import InvalidSetting
from longmind.store import sql

try:
    import psycopg
    import psycopg_pool
except ImportError as error:
    raise InvalidSetting(
        f"A PostgreSQL store was asked for, but its driver cannot be imported ({error}).",
        hint='Install it with: pip install "longmind[postgres]"',
    ) from error

__all__ = ["join_queries", "load_queries", "psycopg", "psycopg_pool"]


def load_queries(filename: str) -> dict[str, bytes]:
    """Return the queries of one file by their names."""
    return {name: text.encode() for name, text in sql.load("longmind.store.postgres", filename).items()}


def join_queries(*parts: bytes) -> bytes:
    """Return one query made of several: a beginning, then the conditions and the order that follow it."""
    return b"\n".join(parts)
