"""The history of a conversation in a framework's own form, each item of it stored once.

What is said in an item is the content of a message; the item's other fields are its payload, in the same record. The
texts are cut out of the payload and put back when it is read. So when the memory is forgotten, the item is gone too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from longmind.conversation import Conversation, ConversationItem, StoredItem
from longmind.types import MAX_CONTENT, Json, Message, Role

Path = tuple[str | int, ...]
"""Where a text is in an item: names of fields and numbers of list elements."""
_BETWEEN = "\n"


class Said(NamedTuple):
    """What is said in an item: by whom, and where in the item its texts are."""

    role: Role
    paths: Sequence[Path]
    name: str | None = None


class History:
    """The items of one conversation.

    ``said`` tells what is said in an item, None for an item that says nothing. ``of_message`` makes an item of a
    message that was remembered otherwise.
    """

    def __init__(
        self,
        conversation: Conversation,
        said: Callable[[Json], Said | None],
        of_message: Callable[[Message], Json],
    ) -> None:
        self._conversation = conversation
        self._said = said
        self._of_message = of_message

    async def append(self, items: Sequence[Json]) -> None:
        """Store items after those that are there, in one transaction."""
        if items:
            await self._conversation.append([self._cut(item) for item in items])

    async def items(self, limit: int | None = None) -> list[Json]:
        """Return the items, the earliest first: all of them, or the last ``limit``."""
        if limit is not None and limit <= 0:
            return []
        return [self._joined(item) for item in await self._conversation.items(limit)]

    async def pop(self) -> Json | None:
        """Remove the last item and return it."""
        item = await self._conversation.pop()
        return None if item is None else self._joined(item)

    async def clear(self) -> None:
        """Forget all items."""
        await self._conversation.clear()

    def _cut(self, item: Json) -> ConversationItem:
        said = self._said(item)
        texts = [] if said is None else [(path, _at(item, path)) for path in said.paths]
        content = _BETWEEN.join(text for _, text in texts)
        if said is None or not content.strip() or len(content) > MAX_CONTENT:
            return ConversationItem(payload={"item": item})
        rest = _copy(item)
        spans: list[Json] = []
        start = 0
        for path, text in texts:
            _put(rest, path, "")
            spans.append({"path": list(path), "start": start, "end": start + len(text)})
            start += len(text) + len(_BETWEEN)
        message = Message(role=said.role, content=content, name=said.name)
        return ConversationItem(payload={"item": rest, "texts": spans, "length": len(content)}, message=message)

    def _joined(self, stored: StoredItem) -> Json:
        if stored.payload is None or "item" not in stored.payload:
            return self._of_message(stored.message or Message(content=""))
        item: Json = _copy(stored.payload["item"])
        content = "" if stored.message is None else stored.message.content
        spans = stored.payload.get("texts", ())
        changed = len(content) != stored.payload.get("length")
        for number, span in enumerate(spans):
            whole = content if number == 0 else ""  # the words of a message can be edited; then they are one text
            _put(item, tuple(span["path"]), whole if changed else content[span["start"] : span["end"]])
        return item


def _copy(value: Any) -> Any:
    """Return a copy of JSON, in a fraction of the time of ``copy.deepcopy``."""
    if isinstance(value, dict):
        return {name: _copy(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_copy(part) for part in value]
    return value


def _at(item: Any, path: Path) -> str:
    for step in path:
        item = item[step]
    return str(item)


def _put(item: Any, path: Path, text: str) -> None:
    for step in path[:-1]:
        item = item[step]
    item[path[-1]] = text
