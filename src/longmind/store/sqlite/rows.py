"""Conversion between a ``Memory`` or ``Link`` and its row.

Rows are trusted once their checksum fits: they were validated when they were written, so objects are made from them
without validating again, which costs a microsecond instead of eight.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from pydantic_core import to_json

from longmind.store.base import IndexRow
from longmind.store.sqlite import checksums
from longmind.store.sqlite.failures import DamagedRow
from longmind.store.sqlite.queries import Row
from longmind.text.index_terms import index_terms
from longmind.types import Json, Link, Memory, Source, construct_unvalidated

SEQ_BITS = 38
SEQ_MASK = (1 << SEQ_BITS) - 1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CACHED_BELOW = 2**32 * 1_000_000

_decode = json.JSONDecoder().raw_decode
_read_clock = datetime.fromtimestamp


def micros(moment: datetime) -> int:
    """Microseconds since 1970; exact, and defined for the years 1 to 9999."""
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def moment(value: int) -> datetime:
    """Return the moment of so many microseconds. Float seconds are exact until 2106 and twice as fast."""
    return _read_clock(value / 1e6, UTC) if 0 <= value < _CACHED_BELOW else EPOCH + timedelta(microseconds=value)


def maybe_micros(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


def maybe_moment(value: int | None) -> datetime | None:
    return None if value is None else moment(value)


def text(value: Any) -> str | None:
    """JSON text of a list or object, or None for an empty one."""
    return to_json(value).decode() if value else None


def parsed(stored: str) -> Any:
    """Parse what ``text`` wrote, which has no surrounding whitespace."""
    value, end = _decode(stored)
    return value if end == len(stored) else json.loads(stored)


def json_list(values: Iterable[Any]) -> str:
    """Return the JSON text of a list, which a query unpacks with ``json_each``."""
    return json.dumps(list(values))


def lookup_text(value: str | None) -> str | bytes | None:
    """Return a text as a query parameter. One that cannot be stored becomes bytes, which equal no text."""
    if value is None:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def memory_row(memory: Memory, terms: bytes | None = None) -> Row:
    """All columns of a memory after ``row`` and ``scope``, in the order of the table; its terms if they are known."""
    d = memory.__dict__
    source = d["source"]
    id_, user, session, kind, state, key = d["id"], d["user"] or "", d["session"], d["kind"], d["state"], d["key"]
    importance, trust, valence, version = d["importance"], d["trust"], d["valence"], d["version"]
    occurred_at, recorded_at = micros(d["occurred_at"]), micros(d["recorded_at"])
    valid_from, valid_to = maybe_micros(d["valid_from"]), maybe_micros(d["valid_to"])
    expires_at = maybe_micros(d["expires_at"])
    role, speaker, uri = source.role, source.name, source.uri
    start, end = source.span or (None, None)
    tags, content, body, metadata = text(d["tags"]), d["content"], text(d["body"]), text(d["metadata"])
    if terms is None:
        terms = index_terms(memory)
    checksum = checksums.of_row(
        id_, user, session, kind, state, importance, trust, occurred_at, recorded_at, valid_from, valid_to, expires_at,
        version, key, valence, role, speaker, uri, start, end, tags, content, body, metadata,
    )  # fmt: skip
    return (id_, user, session, kind, state, importance, trust, occurred_at, recorded_at, valid_from, valid_to,
            expires_at, terms, version, key, valence, d["access_count"], maybe_micros(d["last_accessed_at"]),
            d["interaction"], role, speaker, uri, start, end, checksums.joined(checksum, terms), tags, content, body,
            metadata)  # fmt: skip


@lru_cache(maxsize=4096)
def _source(role: Any, name: str | None, uri: str | None, start: int | None, end: int | None) -> Source:
    span = None if start is None or end is None else (start, end)
    return Source.model_construct(role=role, name=name, uri=uri, span=span)


def memory(row: Row, tenant: str, agent: str) -> Memory:
    """A memory from the columns that the query fragment ``memory_columns`` names; ``DamagedRow`` if they changed."""
    (id_, user, session, kind, state, importance, trust, occurred_at, recorded_at, valid_from, valid_to, expires_at,
     version, key, valence, access_count, last_accessed_at, interaction, role, speaker, uri, span_start, span_end,
     tags, content, body, metadata, checksum) = row  # fmt: skip
    try:
        intact = checksum & checksums.ROW_PART == checksums.of_row(
            id_, user, session, kind, state, importance, trust, occurred_at, recorded_at, valid_from, valid_to,
            expires_at, version, key, valence, role, speaker, uri, span_start, span_end, tags, content, body, metadata,
        )  # fmt: skip
    except checksums.FAULTS:
        intact = False
    if not intact:
        raise DamagedRow(str(id_))
    fields = {
        "id": id_,
        "version": version,
        "tenant": tenant,
        "agent": agent,
        "user": user or None,
        "session": session,
        "kind": kind,
        "key": key,
        "content": content,
        "body": parsed(body) if body else {},
        "importance": importance,
        "valence": valence,
        "tags": tuple(parsed(tags)) if tags else (),
        "metadata": parsed(metadata) if metadata else {},
        "source": _source(role, speaker, uri, span_start, span_end),
        "trust": trust,
        "occurred_at": moment(occurred_at),
        "recorded_at": moment(recorded_at),
        "valid_from": maybe_moment(valid_from),
        "valid_to": maybe_moment(valid_to),
        "expires_at": maybe_moment(expires_at),
        "access_count": access_count,
        "last_accessed_at": maybe_moment(last_accessed_at),
        "interaction": interaction,
        "state": state,
    }
    return construct_unvalidated(Memory, fields)


def link_row(link: Link) -> Row:
    """All columns of a link after ``scope``."""
    return (
        link.source,
        link.relation,
        link.target,
        link.weight,
        maybe_micros(link.valid_from),
        maybe_micros(link.valid_to),
        text(link.metadata),
    )


def link(row: Sequence[Any]) -> Link:
    """A link from its columns after ``scope``; what follows them is not looked at."""
    fields = {
        "source": row[0],
        "relation": row[1],
        "target": row[2],
        "weight": row[3],
        "valid_from": maybe_moment(row[4]),
        "valid_to": maybe_moment(row[5]),
        "metadata": parsed(row[6]) if row[6] else {},
    }
    return construct_unvalidated(Link, fields)


def index_row(row: Row) -> IndexRow:
    """What search reads, from the columns of the feed queries."""
    (number, id_, user, session, kind, state, importance, trust, occurred, recorded, start, end, expires, terms,
     vector) = row  # fmt: skip
    return IndexRow(
        id_,
        number & SEQ_MASK,
        user or None,
        session,
        kind,
        state,
        importance,
        trust,
        occurred / 1_000_000,
        recorded / 1_000_000,
        None if start is None else start / 1_000_000,
        None if end is None else end / 1_000_000,
        None if expires is None else expires / 1_000_000,
        terms,
        vector,
    )


def record_json(memory: Memory, names: Iterable[str] | None = None) -> Json:
    """The record, or some of its fields, in the shape the journal keeps."""
    return memory.model_dump(mode="json", include=None if names is None else set(names))
