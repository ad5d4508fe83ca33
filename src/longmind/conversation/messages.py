"""The stored messages of one conversation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any

from longmind.perceive.intake import InputDetails, build_memories
from longmind.perceive.messages import checked_message
from longmind.store.base import Put
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.types import Filter, Memory, Message, Role

_PAGE_SIZE = 500


class MessageLog:
    """Writes and reads the messages of one session."""

    def __init__(self, scoped: ScopedStore, session: str) -> None:
        self._scoped = scoped
        self._session = session

    async def add(self, message: Message, key: str | None, metadata: Mapping[str, Any] | None) -> Memory:
        """Store a message; with a ``key`` at most once."""
        details = InputDetails(session=self._session, metadata=metadata)
        (memory,) = build_memories([message], details, self._scoped.scope, self._scoped.clock).memories
        record_key = f"{memory.key}:{memory.id}" if key is None else f"turn:{digest(self._session, key)}"
        put = Put(memory.model_copy(update={"key": record_key}))
        receipt = await self._scoped.write([put], reason="said", actor="user")
        return receipt.memories[0]

    async def latest(self, limit: int | None, *, recorded_since: datetime | None = None) -> list[Memory]:
        """Return the last ``limit`` messages, or all, the latest first.

        A scope of all users sees the messages of every user. Those of another user's session with the same name are
        left out here.
        """
        return await latest_records(
            self._scoped,
            limit,
            Filter(
                kinds=("message",),
                sessions=(self._session,),
                states=("active", "stale"),
                recorded_since=recorded_since,
            ),
        )


async def latest_records(scoped: ScopedStore, limit: int | None, where: Filter) -> list[Memory]:
    """Return the last ``limit`` records that pass the filter and are exactly this user's, or all, the latest first."""
    user = scoped.scope.user
    where = where.model_copy(update={"users": None if user is None else (user,)})
    records: list[Memory] = []
    cursor: str | None = None
    while limit is None or len(records) < limit:
        size = _PAGE_SIZE if limit is None or user is None else min(_PAGE_SIZE, limit - len(records))
        page = await scoped.store.scan(scoped.scope, where, descending=True, limit=size, cursor=cursor)
        records += [record for record in page.items if record.user == user]
        cursor = page.cursor
        if cursor is None:
            break
    return records[:limit]


def digest(*parts: str) -> str:
    """Return a short hash for a record's key."""
    return sha256("\n".join(parts).encode()).hexdigest()[:32]


def parse_message(message: str | Message | Mapping[str, Any], role: Role | None) -> Message:
    """Return a message from a text, a message or its fields; ``role`` overrides the message's own."""
    if isinstance(message, str):
        return validated(Message, {"role": role or "user", "content": message})
    parsed = message if isinstance(message, Message) else checked_message(message)
    return parsed if role is None else parsed.model_copy(update={"role": role})


def to_message(memory: Memory) -> Message:
    """Return a stored message as it was said."""
    return Message(
        role=memory.source.role, content=memory.content, name=memory.source.name, occurred_at=memory.occurred_at
    )
