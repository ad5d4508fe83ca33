"""The named queries of this package, as psycopg takes them.

psycopg wants literals or bytes, so that nobody builds a statement out of values by mistake. These come from files that
ship with the package; a longer query is put together from whole named ones only, and values are always parameters.
"""

from __future__ import annotations

from longmind.store.sql import load


def queries(filename: str) -> dict[str, bytes]:
    """The queries of one file by their names."""
    return {name: text.encode() for name, text in load("longmind.store.postgres", filename).items()}


def together(*parts: bytes) -> bytes:
    """One query of several: a beginning and the conditions and order that follow it."""
    return b"\n".join(parts)
