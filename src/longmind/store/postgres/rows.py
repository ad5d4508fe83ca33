"""Conversion between a ``Memory`` or ``Link`` and its columns.

Rows are trusted: they were validated when they were written, so objects are made from them without validating again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from longmind.store.base import IndexRow
from longmind.store.plan import StoredMemory
from longmind.store.postgres.binary import Column, blobs, doubles, float16, longs, moments, texts, uuids
from longmind.types import Json, Link, Memory, Source, construct_unvalidated

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def json_text(value: Json | None) -> str | None:
    return None if value is None else _compact(value)


def memory_columns(memories: Sequence[Memory], terms: Sequence[bytes | None]) -> dict[str, Column]:
    """The parameters of a statement that writes memories, without their numbers."""
    d = [m.__dict__ for m in memories]
    sources = [m["source"] for m in d]
    return {
        "id": uuids([m["id"] for m in d]),
        "version": longs([m["version"] for m in d]),
        "user_id": texts([m["user"] for m in d]),
        "session": texts([m["session"] for m in d]),
        "kind": texts([m["kind"] for m in d]),
        "key": texts([m["key"] for m in d]),
        "state": texts([m["state"] for m in d]),
        "importance": doubles([m["importance"] for m in d]),
        "valence": doubles([m["valence"] for m in d]),
        "trust": doubles([m["trust"] for m in d]),
        "occurred_at": moments([m["occurred_at"] for m in d]),
        "recorded_at": moments([m["recorded_at"] for m in d]),
        "valid_from": moments([m["valid_from"] for m in d]),
        "valid_to": moments([m["valid_to"] for m in d]),
        "expires_at": moments([m["expires_at"] for m in d]),
        "access_count": longs([m["access_count"] for m in d]),
        "last_accessed_at": moments([m["last_accessed_at"] for m in d]),
        "interaction": doubles([m["interaction"] for m in d]),
        "role": texts([s.role for s in sources]),
        "speaker": texts([s.name for s in sources]),
        "uri": texts([s.uri for s in sources]),
        "span_start": longs([s.span and s.span[0] for s in sources]),
        "span_end": longs([s.span and s.span[1] for s in sources]),
        "tags": texts([_array_text(m["tags"]) for m in d]),
        "content": texts([m["content"] for m in d]),
        "body": texts([_compact(m["body"]) if m["body"] else "{}" for m in d]),
        "metadata": texts([_compact(m["metadata"]) if m["metadata"] else "{}" for m in d]),
        "terms": blobs(terms),
    }


def _array_text(tags: tuple[str, ...]) -> str:
    """Tags as the text form of an array: an array of arrays could not be unnested row by row."""
    if not tags:
        return "{}"
    quoted = ('"' + tag.replace("\\", "\\\\").replace('"', '\\"') + '"' for tag in tags)
    return "{" + ",".join(quoted) + "}"


@lru_cache(maxsize=4096)
def _source(role: Any, name: str | None, uri: str | None, start: int | None, end: int | None) -> Source:
    span = None if start is None or end is None else (start, end)
    return Source.model_construct(role=role, name=name, uri=uri, span=span)


def stored(row: Sequence[Any], tenant: str, agent: str) -> StoredMemory:
    """A memory and its number, from the columns of ``select_memories``."""
    (id, seq, version, user, session, kind, key, state, importance, valence, trust, occurred_at, recorded_at,
     valid_from, valid_to, expires_at, access_count, last_accessed_at, interaction, role, speaker, uri, span_start,
     span_end, tags, content, body, metadata) = row  # fmt: skip
    fields = {
        "id": id,
        "version": version,
        "tenant": tenant,
        "agent": agent,
        "user": user,
        "session": session,
        "kind": kind,
        "key": key,
        "content": content,
        "body": {} if body == "{}" else json.loads(body),
        "importance": importance,
        "valence": valence,
        "tags": tuple(tags),
        "metadata": {} if metadata == "{}" else json.loads(metadata),
        "source": _source(role, speaker, uri, span_start, span_end),
        "trust": trust,
        "occurred_at": occurred_at,
        "recorded_at": recorded_at,
        "valid_from": valid_from,
        "valid_to": valid_to,
        "expires_at": expires_at,
        "access_count": access_count,
        "last_accessed_at": last_accessed_at,
        "interaction": interaction,
        "state": state,
    }
    return StoredMemory(construct_unvalidated(Memory, fields), seq)


def link(row: Sequence[Any]) -> Link:
    """A link from the columns of ``select_links``; what follows them is not looked at."""
    fields = {
        "source": row[0],
        "relation": row[1],
        "target": row[2],
        "weight": row[3],
        "valid_from": row[4],
        "valid_to": row[5],
        "metadata": json.loads(row[6]),
    }
    return construct_unvalidated(Link, fields)


def link_columns(links: Sequence[Link]) -> dict[str, Column]:
    """The parameters of a statement that writes links."""
    return {
        "source": uuids(k.source for k in links),
        "relation": texts(k.relation for k in links),
        "target": uuids(k.target for k in links),
        "weight": doubles(k.weight for k in links),
        "valid_from": moments(k.valid_from for k in links),
        "valid_to": moments(k.valid_to for k in links),
        "metadata": texts(_compact(k.metadata) for k in links),
    }


def index_rows(rows: Sequence[Sequence[Any]]) -> list[IndexRow]:
    """What search reads, from the columns of the feed queries."""
    vectors = float16([row[14] for row in rows])
    return [
        IndexRow(
            id, seq, user, session, kind, state, importance, trust, occurred.timestamp(), recorded.timestamp(),
            _seconds(start), _seconds(end), _seconds(expires), terms, vector,
        )
        for (id, seq, user, session, kind, state, importance, trust, occurred, recorded, start, end, expires, terms,
             _), vector in zip(rows, vectors, strict=True)
    ]  # fmt: skip


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
