"""Columns as PostgreSQL's binary arrays, half-precision vectors, and ids.

A batch of any size is one statement whose parameters are whole columns. psycopg would turn each value of each list
into quoted text; the binary form written directly is much cheaper. The type of each array is what the statement's cast
says (``%(id)s::uuid[]``), so the parameter itself carries no type.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from psycopg.adapt import Dumper
from psycopg.pq import Format

from longmind.errors import InvalidInput

if TYPE_CHECKING:
    from longmind.store.base import Vector

_HEAD = struct.Struct(">iiIii")
_EMPTY = struct.Struct(">iiI")
_length = struct.Struct(">i").pack
_long = struct.Struct(">q").pack
_double = struct.Struct(">d").pack
_VECTOR = struct.Struct(">HH")
_NULL = _length(-1)
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

BYTEA, BIGINT, TEXT, DOUBLE, TIMESTAMPTZ, UUID = 17, 20, 25, 701, 1184, 2950
"""The types of array elements; these numbers are the same on every server."""


class Column(bytes):
    """A parameter that is in PostgreSQL's binary form already."""


class ColumnDumper(Dumper):
    """Passes a ``Column`` to the server unchanged."""

    format = Format.BINARY

    def dump(self, obj: Column) -> bytes:
        return obj


def _array(element: int, values: Sequence[bytes | None]) -> Column:
    if not values:
        return Column(_EMPTY.pack(0, 0, element))
    parts: list[bytes] = []
    add = parts.append
    nulls = 0
    for value in values:
        if value is None:
            nulls = 1
            add(_NULL)
        else:
            add(_length(len(value)))
            add(value)
    return Column(_HEAD.pack(1, nulls, element, len(values), 1) + b"".join(parts))


def texts(values: Iterable[str | None]) -> Column:
    try:
        return _array(TEXT, [None if v is None else v.encode() for v in values])
    except UnicodeEncodeError as error:
        raise InvalidInput("A text is not valid Unicode: it contains a lone surrogate.", hint="Remove it.") from error


def uuids(values: Iterable[str | None]) -> Column:
    return _array(UUID, [None if v is None else bytes.fromhex(v.replace("-", "")) for v in values])


def longs(values: Iterable[int | None]) -> Column:
    try:
        return _array(BIGINT, [None if v is None else _long(v) for v in values])
    except struct.error as error:
        raise InvalidInput("A whole number does not fit 64 bits.", hint="Use a smaller one.") from error


def doubles(values: Iterable[float]) -> Column:
    return _array(DOUBLE, [_double(v) for v in values])


def moments(values: Iterable[datetime | None]) -> Column:
    return _array(TIMESTAMPTZ, [None if v is None else _long(_microseconds(v)) for v in values])


def blobs(values: Sequence[bytes | None]) -> Column:
    return _array(BYTEA, values)


def halfvecs(oid: int, values: Iterable[Vector | None]) -> Column:
    """Return vectors as ``halfvec[]``. ``oid`` is the type's number in this database."""
    return _array(oid, [None if v is None else _halfvec(v) for v in values])


def _halfvec(vector: Vector) -> bytes:
    return _VECTOR.pack(len(vector), 0) + np.asarray(vector).astype(">f2").tobytes()


def _microseconds(moment: datetime) -> int:
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def float16(halfvecs: Sequence[bytes | None]) -> list[bytes | None]:
    """Convert vectors from the server's binary form to little-endian float16 bytes."""
    widths = {len(v) for v in halfvecs if v is not None}
    if not widths:
        return [None] * len(halfvecs)
    if len(widths) > 1:
        return [None if v is None else np.frombuffer(v, ">f2", offset=4).astype("<f2").tobytes() for v in halfvecs]
    joined = b"".join(v for v in halfvecs if v is not None)
    width = widths.pop() // 2
    table = np.frombuffer(joined, ">f2").reshape(-1, width)[:, 2:].astype("<f2").tobytes()
    size = 2 * (width - 2)
    cuts = iter(range(0, len(table), size)) if size else iter(())
    return [None if v is None else table[(at := next(cuts)) : at + size] for v in halfvecs]


_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def is_id(text: object) -> bool:
    """Return whether a text has the canonical form of an id."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


def valid_ids(texts: Iterable[str]) -> list[str]:
    """Return those that have the form of an id, each once. It is no error to ask for another: no memory has it."""
    return [text for text in dict.fromkeys(texts) if is_id(text)]
