"""mem0: its history database, or what ``get_all`` and the export of the platform return, as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from longmind.errors import InvalidInput
from longmind.importing.databases import SqliteSource, is_sqlite
from longmind.importing.items import (
    ImportedFact,
    ImportedMessage,
    ImportedNote,
    Read,
    Unmapped,
    item_of,
    moment_of,
    name_of,
    text_of,
)
from longmind.importing.sources import document, opened

_MEMBER = re.compile(r".+\.json")
_LISTS = ("results", "memories")
_TEXTS = ("memory", "text", "content", "data")
_ROLES = ("user", "assistant", "system", "tool")


def read(path: Path) -> Iterator[Read]:
    """Yield the memories that mem0 holds: from its database, a JSON file, or those of a folder or zip archive."""
    if is_sqlite(path):
        yield from _database(path)
        return
    with opened(path, _MEMBER) as files:
        for name, stream in files:
            yield from _exported(document(stream, name), name)


def _exported(exported: Any, name: str) -> Iterator[Read]:
    memories, relations = exported, None
    if isinstance(exported, dict):
        memories = next((exported[key] for key in _LISTS if isinstance(exported.get(key), list)), None)
        relations = exported.get("relations")
    if not isinstance(memories, list):
        raise InvalidInput(
            f"{name}: this is no list of memories.", hint='Export json.dumps(memory.get_all(...)): {"results": [...]}.'
        )
    for number, memory in enumerate(memories, 1):
        place = f"{name}, memory {number}"
        if isinstance(memory, dict):
            yield _memory(memory, place)
        else:
            yield Unmapped(place=place, reason=f"a {type(memory).__name__} is no memory")
    for number, relation in enumerate(relations if isinstance(relations, list) else [], 1):
        place = f"{name}, relation {number}"
        if not isinstance(relation, dict):
            yield Unmapped(place=place, reason="it is no object")
            continue
        target = relation.get("target", relation.get("destination"))
        ends = [relation.get("source"), relation.get("relationship"), target]
        yield item_of(
            ImportedFact,
            place,
            id="/".join(str(end) for end in ends),
            subject=ends[0],
            predicate=_words(ends[1]),
            object=ends[2],
        )


def _words(relation: object) -> object:
    return relation.replace("_", " ") if isinstance(relation, str) else relation


def _memory(memory: dict[str, Any], place: str) -> Read:
    content = next((text for field in _TEXTS if (text := text_of(memory.get(field)))), None)
    stated = memory.get("metadata")
    metadata = {**(stated if isinstance(stated, dict) else {})}
    for field in ("agent_id", "app_id", "attributed_to", "categories", "structured_attributes", "updated_at"):
        if memory.get(field):
            metadata[field] = memory[field]
    expires = _end_of_day(memory.get("expiration_date"))
    if expires is not None and expires <= datetime.now(UTC):
        return Unmapped(place=place, reason="it has expired")
    role = memory.get("role")
    return item_of(
        ImportedNote,
        place,
        id=text_of(memory.get("id")),
        content=content or "",
        role=role if role in _ROLES else None,
        author=name_of(memory.get("actor_id")),
        occurred_at=moment_of(memory.get("created_at")),
        session=name_of(memory.get("run_id")),
        expires_at=expires,
        user=name_of(memory.get("user_id")),
        metadata=metadata,
    )


def _end_of_day(date: object) -> datetime | None:
    """Return the end of the last day on which a memory of mem0 is shown."""
    day = moment_of(date)
    return None if day is None else day + timedelta(days=1)


def _database(path: Path) -> Iterator[Read]:
    database = SqliteSource(path)
    held = database.columns("history")
    if not {"memory_id", "event"} <= held or not {"new_memory", "new_value"} & held:
        raise InvalidInput(f"{path.name}: this is no history database of mem0.", hint="It is ~/.mem0/history.db.")
    latest: dict[str, dict[str, Any]] = {}
    began: dict[str, Any] = {}
    for row in database.rows("mem0_history"):
        id = row["memory_id"]
        if not isinstance(id, str):
            yield Unmapped(place=f"{path.name}, history {row.get('id')}", reason="it has no memory_id")
            continue
        began.setdefault(id, row.get("created_at") or row.get("timestamp"))
        latest[id] = row
    for id, row in latest.items():
        place = f"{path.name}, memory {id}"
        if row["event"] == "DELETE" or row.get("is_deleted"):
            yield Unmapped(place=place, reason="it was deleted in mem0")
            continue
        text = row.get("new_memory") or row.get("new_value")
        fields = {"id": id, "memory": text, "created_at": began[id], "metadata": {}}
        yield _memory({**fields, "actor_id": row.get("actor_id"), "role": row.get("role")}, place)
    if latest:
        reason = "it does not say whose memories these are: name the user, or import the JSON of get_all()"
        yield Unmapped(place=f"{path.name}, history", reason=reason)
    if database.columns("messages"):
        yield from _messages(database)


def _messages(database: SqliteSource) -> Iterator[Read]:
    """Yield the messages that mem0 keeps beside the memories; their session's scope names user and run."""
    for row in database.rows("mem0_messages"):
        scope = str(row["session_scope"] or "messages")
        parts = {name: unquote(value) for name, _, value in (part.partition("=") for part in scope.split("&"))}
        yield item_of(
            ImportedMessage,
            f"{database.name}, message {row['id']}",
            id=row["id"],
            conversation=name_of(parts.get("run_id") or scope),
            content=row["content"] or "",
            role=row["role"] if row["role"] in _ROLES else None,
            author=name_of(row["name"]),
            occurred_at=moment_of(row["created_at"]),
            user=name_of(parts.get("user_id")),
        )
