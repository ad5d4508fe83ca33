"""Memories and their changes in the shapes of mem0."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from longmind import Change, Hit, Memory
from longmind.adapters.mem0.selection import FIELDS, InvalidRequest

Json = dict[str, Any]
HIDDEN = "mem0: expired"
"""The reason of a change that mem0 does not tell of: a memory that had expired when it was added."""
_PROMOTED = ("user_id", "agent_id", "run_id", "actor_id", "role", "expiration_date")
_OWN = ("agent_id", "expiration_date", "updated_at", "created_at")
"""Fields that are kept in the metadata of a memory."""


def payload_of(memory: Memory) -> Json:
    """Return the fields of a memory as mem0's store holds them."""
    created = memory.metadata.get("created_at") or memory.recorded_at.isoformat()
    fields = {
        **memory.metadata,
        "data": memory.content,
        "hash": hashlib.md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "created_at": created,
        "updated_at": memory.metadata.get("updated_at") or created,
        "user_id": memory.user,
        "run_id": memory.session,
        "actor_id": memory.source.name,
        "role": memory.source.role,
    }
    return {name: value for name, value in fields.items() if value is not None}


def item_of(memory: Memory) -> Json:
    """Return a memory as mem0 lists it."""
    payload = payload_of(memory)
    item: Json = {"id": memory.id, "memory": memory.content, "hash": payload["hash"], "metadata": None}
    item |= {"created_at": payload["created_at"], "updated_at": payload["updated_at"]}
    item |= {name: payload[name] for name in _PROMOTED if name in payload}
    if metadata := {name: value for name, value in memory.metadata.items() if name not in FIELDS}:
        item["metadata"] = metadata
    return item


def hit_of(hit: Hit, *, explain: bool) -> Json:
    """Return a memory that was found, with its score: how well it fits, as in mem0."""
    item = item_of(hit.memory) | {"score": min(hit.fit, 1.0)}
    return item | {"score_details": {"why": hit.why}} if explain else item


def history_of(changes: Sequence[Change]) -> list[Json]:
    """Return the changes of a memory as mem0 tells them."""
    events = {"put": "ADD", "update": "UPDATE", "delete": "DELETE", "erase": "DELETE"}
    rows = []
    state: Json = {}  # of an update the journal has what it changed
    for change in changes:
        before = state.get("content")
        state |= change.after or {}
        if change.action not in events or change.reason == HIDDEN:
            continue
        source = state.get("source") or {}
        created = (state.get("metadata") or {}).get("created_at") or state.get("recorded_at")
        rows.append(
            {
                "id": str(change.seq),
                "memory_id": change.memory_id,
                "old_memory": before,
                "new_memory": None if change.action in ("delete", "erase") else state.get("content"),
                "event": events[change.action],
                "created_at": created,
                "updated_at": change.at.isoformat(),
                "is_deleted": change.action in ("delete", "erase"),
                "actor_id": source.get("name"),
                "role": source.get("role"),
            }
        )
    return rows


def expiration_date(value: Any) -> str | None:
    """Return a date as mem0 writes it."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        wanted = "a valid date" if isinstance(value, str) else "a date string"
        raise InvalidRequest(f"expiration_date must be {wanted} in YYYY-MM-DD format.") from None


def expiry_of(day: str | None) -> datetime | None:
    """Return the moment from which a memory is hidden: the end of its day, in UTC."""
    if day is None:
        return None
    return datetime.combine(date.fromisoformat(day), time(), UTC) + timedelta(days=1)


def own_metadata(metadata: Any) -> Json:
    """Return the caller's metadata without ids: they are set by the arguments of their names only."""
    return {str(name): value for name, value in dict(metadata or {}).items() if name not in FIELDS - set(_OWN[2:])}
