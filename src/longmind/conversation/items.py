"""A conversation in the form of a framework: each of its items exactly, and what is said in them as messages."""

from __future__ import annotations

from collections.abc import Sequence

from longmind.conversation.messages import latest_records, to_message
from longmind.perceive.intake import InputDetails, build_memories
from longmind.store.base import Delete, Put
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict
from longmind.types import Filter, Id, Json, Memory, Message, Model, PlainJson, Source

ITEM = "item"
"""The kind of an item that says nothing, such as the call of a tool or a blank message."""
_PAYLOAD = "payload"


class ConversationItem(Model):
    """An item of a conversation: the framework's own fields of it, and what is said in it, if anything is."""

    payload: PlainJson
    message: Message | None = None


class StoredItem(Model):
    """An item of a conversation as it is stored. What ``add`` or ``remember`` stored has no payload."""

    id: Id
    """The id of its memory."""
    payload: Json | None
    message: Message | None


class ItemLog:
    """Writes and reads the items of one session. An item is one record: a message with a payload, or an item."""

    def __init__(self, scoped: ScopedStore, session: str) -> None:
        self._scoped = scoped
        self._session = session

    async def append(self, items: Sequence[ConversationItem], operation: str | None) -> list[StoredItem]:
        """Store items in one transaction, after those that are there."""
        if not items:
            return []
        puts = [Put(self._memory(item)) for item in items]
        receipt = await self._scoped.write(puts, reason="said", actor="user", operation=operation)
        return [_stored(memory) for memory in receipt.memories]

    def _memory(self, item: ConversationItem) -> Memory:
        body = {_PAYLOAD: item.payload}
        if item.message is None or not item.message.content.strip():
            return self._scoped.new(ITEM, "", body=body, session=self._session, source=Source(role="tool"))
        details = InputDetails(session=self._session)
        (memory,) = build_memories([item.message], details, self._scoped.scope, self._scoped.clock).memories
        return memory.model_copy(update={"key": f"{memory.key}:{memory.id}", "body": body})

    async def latest(self, limit: int | None) -> list[StoredItem]:
        """Return the last ``limit`` items, or all, the earliest first."""
        return [_stored(memory) for memory in reversed(await self.memories(("message", ITEM), limit))]

    async def pop(self) -> StoredItem | None:
        """Remove the last item and return it."""

        async def remove() -> StoredItem | None:
            last = await self.memories(("message", ITEM), 1)
            if not last:
                return None
            await self._scoped.rewrite([Delete(last[0].id, last[0].version)], "remove the last item")
            return _stored(last[0])

        return await retry_on_conflict(remove)

    async def memories(self, kinds: tuple[str, ...], limit: int | None) -> list[Memory]:
        """Return the last records of the session that are exactly this user's, the latest first."""
        where = Filter(kinds=kinds, sessions=(self._session,), states=None)
        return await latest_records(self._scoped, limit, where)


def _stored(memory: Memory) -> StoredItem:
    message = None if memory.kind == ITEM else to_message(memory)
    return StoredItem(id=memory.id, payload=memory.body.get(_PAYLOAD), message=message)
