"""Columns in PostgreSQL's binary form."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
import pytest

from longmind.errors import InvalidInput
from longmind.store.postgres.binary import (
    Column,
    ColumnDumper,
    blobs,
    doubles,
    float16,
    halfvecs,
    longs,
    moments,
    texts,
    uuids,
)

EDGES = [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), None]


@pytest.mark.parametrize(
    ("type_name", "column", "expected"),
    [
        ("text", texts(["", "a", None, "\u00e9\U0001f600"]), ["", "a", None, "\u00e9\U0001f600"]),
        ("int8", longs([0, -(2**63), 2**63 - 1, None]), [0, -(2**63), 2**63 - 1, None]),
        ("float8", doubles([0.1, -0.0, 1e308]), [0.1, -0.0, 1e308]),
        ("bytea", blobs([b"", b"\x00\xff", None]), [b"", b"\x00\xff", None]),
        ("timestamptz", moments(EDGES), EDGES),
        ("text", texts([]), []),
    ],
    ids=["text", "int8", "float8", "bytea", "timestamptz", "empty"],
)
def test_the_server_reads_what_was_meant(
    postgres_url: str, type_name: str, column: Column, expected: list[Any]
) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.adapters.register_dumper(Column, ColumnDumper)
        connection.execute("SET TimeZone = 'UTC'")
        row = connection.execute(f"SELECT %s::{type_name}[]".encode(), [column], binary=True).fetchone()
    assert row is not None
    assert row[0] == expected


def test_uuids_come_back_in_their_canonical_form(postgres_url: str) -> None:
    id = "0198c0de-0000-7000-8000-00000000000a"
    with psycopg.connect(postgres_url) as connection:
        connection.adapters.register_dumper(Column, ColumnDumper)
        row = connection.execute("SELECT %s::uuid[]::text[]", [uuids([id, None])]).fetchone()
    assert row == ([id, None],)


def test_what_the_database_cannot_hold_is_told() -> None:
    with pytest.raises(InvalidInput, match="64 bits"):
        longs([2**63])
    with pytest.raises(InvalidInput, match="surrogate"):
        texts(["\ud800"])


def test_vectors_come_back_as_little_endian_halves() -> None:
    vectors = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)
    sent = [_as_sent(vectors[0]), None, _as_sent(vectors[1]), _as_sent(vectors[2])]
    told = float16(sent)
    assert told[1] is None
    assert [told[0], told[2], told[3]] == [v.astype("<f2").tobytes() for v in vectors]


def test_vectors_of_several_lengths_come_back_too() -> None:
    short, long = np.ones(2, np.float32), np.ones(7, np.float32)
    assert float16([_as_sent(short), None, _as_sent(long)]) == [
        short.astype("<f2").tobytes(),
        None,
        long.astype("<f2").tobytes(),
    ]
    assert float16([None, None]) == [None, None]
    assert float16([]) == []


def _as_sent(vector: np.ndarray[Any, np.dtype[np.float32]]) -> bytes:
    """A vector as the server sends it: what stands after the array's head and the element's length."""
    return bytes(halfvecs(1, [vector]))[24:]
