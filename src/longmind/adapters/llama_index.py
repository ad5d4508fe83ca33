"""LlamaIndex: a ``BaseMemory`` and a ``BaseMemoryBlock`` over Longmind.

from longmind.adapters.llama_index import LongmindMemory, LongmindMemoryBlock

memory = LongmindMemory.from_defaults(longmind=longmind, session_id="conversation-1", user="alice")
memory = Memory.from_defaults(memory_blocks=[LongmindMemoryBlock.of(longmind, user="alice")])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pydantic import PrivateAttr

from longmind.adapters.access import MemoryAccess
from longmind.adapters.history import History, Path, Said
from longmind.adapters.packages import framework
from longmind.adapters.scope import name_of
from longmind.memory import Longmind
from longmind.sync import Longmind as BlockingLongmind
from longmind.tokens import estimate
from longmind.types import Json, Message, Role

with framework("llama-index"):
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import BaseMemory, BaseMemoryBlock

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "chatbot": "assistant", "model": "assistant"}
"""Roles whose words are remembered. Instructions are the developer's, and results of tools are no words."""
_MARK = "longmind"
"""The key of ``additional_kwargs`` that marks a message with what was recalled: it is never stored."""
_TOKEN_LIMIT = 30_000
_CONTEXT_TOKENS = 1_000
_FIRST_READ = 50
"""How many messages are read at first; more if these fit."""
_PER_MESSAGE = 4
"""Tokens that a message takes beside its text."""
_MARGIN = 1.25
"""How many more messages are read than would fit if they were as long as those that were read before."""


class LongmindMemory(BaseMemory):
    """The history of one conversation, exactly as LlamaIndex gives it, with what memory adds to it.

    ``get`` returns the last messages that fit ``token_limit``, and before them a system message with what matters for
    the input, quoted as data. What the user and the assistant say is remembered; what was recalled is never stored.
    """

    session_id: str
    token_limit: int = _TOKEN_LIMIT
    context_tokens: int = _CONTEXT_TOKENS
    """The most tokens of what memory adds; 0 for none."""
    _access: MemoryAccess = PrivateAttr()
    _first_read: int = PrivateAttr(default=_FIRST_READ)

    def __init__(self, longmind: Longmind | BlockingLongmind, session_id: str, **options: Any) -> None:
        access = MemoryAccess(longmind, agent=options.pop("agent", None), user=options.pop("user", None))
        name_of(session_id, "session_id")
        super().__init__(session_id=session_id, **options)
        self._access = access

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class."""
        return "LongmindMemory"

    @classmethod
    def from_defaults(
        cls,
        *,
        longmind: Longmind | BlockingLongmind,
        session_id: str,
        agent: str | None = None,
        user: str | None = None,
        token_limit: int = _TOKEN_LIMIT,
        context_tokens: int = _CONTEXT_TOKENS,
    ) -> LongmindMemory:
        """Return the memory of one conversation. ``longmind`` is an open store, blocking or not."""
        return cls(longmind, session_id, agent=agent, user=user, token_limit=token_limit, context_tokens=context_tokens)

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return what memory adds for an input, and the last messages that fit."""
        return self._access.wait(self._get(input))

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:
        """Return what memory adds for an input, and the last messages that fit."""
        return await self._access.run(self._get(input))

    def get_all(self) -> list[ChatMessage]:
        """Return all messages."""
        return self._access.wait(self._get_all())

    async def aget_all(self) -> list[ChatMessage]:
        """Return all messages."""
        return await self._access.run(self._get_all())

    def put(self, message: ChatMessage) -> None:
        """Store a message."""
        self._access.wait(self._put([message]))

    async def aput(self, message: ChatMessage) -> None:
        """Store a message."""
        await self._access.run(self._put([message]))

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Store messages, in one transaction."""
        self._access.wait(self._put(messages))

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Store messages, in one transaction."""
        await self._access.run(self._put(messages))

    def set(self, messages: list[ChatMessage]) -> None:
        """Make these the messages of the conversation."""
        self._access.wait(self._set(messages))

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Make these the messages of the conversation."""
        await self._access.run(self._set(messages))

    def reset(self) -> None:
        """Forget the messages of the conversation."""
        self._access.wait(self._history().clear())

    async def areset(self) -> None:
        """Forget the messages of the conversation."""
        await self._access.run(self._history().clear())

    def _history(self) -> History:
        session = name_of(self.session_id, "session_id")
        return History(self._access.memory().conversation(session), _said, _item)

    async def _get_all(self) -> list[ChatMessage]:
        return [ChatMessage.model_validate(item) for item in await self._history().items()]

    async def _get(self, input: Any) -> list[ChatMessage]:
        text = input.content if isinstance(input, ChatMessage) else input
        messages = await self._fitting(self.token_limit - self.context_tokens)
        added = await _context(self._access, text, messages, self.context_tokens)
        if not added:
            return messages
        return [ChatMessage(role="system", content=added, additional_kwargs={_MARK: "recalled"}), *messages]

    async def _fitting(self, tokens: int) -> list[ChatMessage]:
        """Return the last messages that fit; of a long conversation only its end is read."""
        limit = self._first_read
        while True:
            items = await self._history().items(limit)
            kept, left = _last(items, tokens)
            if len(items) < limit or left is None:
                break
            used = max(tokens - left, 1)
            limit = min(8 * limit, max(limit + _FIRST_READ, math.ceil(limit * tokens / used * _MARGIN)))
        self._first_read = max(_FIRST_READ, math.ceil(len(kept) * _MARGIN))
        return kept

    async def _put(self, messages: Sequence[ChatMessage]) -> None:
        await self._history().append(_items(messages))

    async def _set(self, messages: Sequence[ChatMessage]) -> None:
        """Store what is new. What is there and stays, from the beginning on, is not touched."""
        history = self._history()
        wanted, stored = _items(messages), await history.items()
        same = 0
        while same < min(len(wanted), len(stored)) and wanted[same] == stored[same]:
            same += 1
        for _ in stored[same:]:
            await history.pop()
        await history.append(wanted[same:])


class LongmindMemoryBlock(BaseMemoryBlock[str]):
    """A block of LlamaIndex's ``Memory``: what matters for the conversation, and where old messages go.

    Messages that leave the short-term memory are remembered; ``Memory`` itself holds the rest of the conversation.
    """

    name: str = "longmind"
    context_tokens: int = _CONTEXT_TOKENS
    _access: MemoryAccess = PrivateAttr()

    @classmethod
    def of(
        cls, longmind: Longmind | BlockingLongmind, *, agent: str | None = None, user: str | None = None, **options: Any
    ) -> LongmindMemoryBlock:
        """Return the block of an agent and a user. ``options`` are the fields of a block, such as ``priority``."""
        block = cls(**options)
        block._access = MemoryAccess(longmind, agent=agent, user=user)
        return block

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return what matters for the last message of the user, quoted as data."""
        return await self._access.run(_context(self._access, None, messages or [], self.context_tokens))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Remember what the user and the assistant said, each turn once."""
        by_session: dict[str | None, list[Message]] = {}
        for message in messages:
            if (said := _message(message)) is not None:
                by_session.setdefault(message.additional_kwargs.get("session_id"), []).append(said)
        for session, said_in_it in by_session.items():
            name = None if session is None else name_of(session, "session_id")
            await self._access.run(self._access.memory().remember(said_in_it, session=name))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave out lines from the end until so many tokens are saved; None if nothing is left."""
        lines, saved = content.splitlines(), 0
        while lines and saved < tokens_to_truncate:
            saved += estimate(lines.pop()) + 1
        while lines and (not lines[-1].strip() or lines[-1].startswith("#")):  # a heading of nothing
            lines.pop()
        return "\n".join(lines) or None


async def _context(access: MemoryAccess, task: str | None, messages: Sequence[ChatMessage], tokens: int) -> str:
    """Return what matters for a task, or for the last message of the user."""
    said = [message for message in map(_message, messages) if message is not None]
    asked = task or next((message.content for message in reversed(said) if message.role == "user"), None)
    if asked is None or tokens < 1:
        return ""
    return await access.memory().context(asked, tokens, conversation=said)


def _last(items: Sequence[Json], tokens: int) -> tuple[list[ChatMessage], int | None]:
    """Return the last messages that fit, and how many tokens are left over; None if a message did not fit.

    Where not all fit they begin with a message of the user if there is one; the last message is kept in any case.
    """
    kept: list[ChatMessage] = []
    left = tokens
    for item in reversed(items):
        message = ChatMessage.model_validate(item)
        left -= estimate(message.content or "") + _PER_MESSAGE
        if left < 0 and kept:
            break
        kept.append(message)
        if left < 0:
            break
    kept.reverse()
    if left >= 0:
        return kept, left
    first = next((n for n, message in enumerate(kept) if message.role.value == "user"), 0)
    return kept[first:], None


def _items(messages: Sequence[ChatMessage]) -> list[Json]:
    return [message.model_dump(mode="json") for message in messages if not _is_recalled(message)]


def _is_recalled(message: ChatMessage) -> bool:
    return bool(message.additional_kwargs.get(_MARK) == "recalled")


def _message(message: ChatMessage) -> Message | None:
    """Return what a message says; None for instructions, calls of tools and what was recalled."""
    role = _ROLES.get(message.role.value)
    if role is None or not (message.content or "").strip() or _is_recalled(message):
        return None
    return Message(role=role, content=message.content)


def _said(item: Json) -> Said | None:
    role = _ROLES.get(str(item.get("role")))
    paths: list[Path] = [
        ("blocks", number, "text")
        for number, block in enumerate(item.get("blocks") or ())
        if block.get("block_type") == "text" and isinstance(block.get("text"), str)
    ]
    return Said(role, paths) if role is not None and paths else None


def _item(message: Message) -> Json:
    role = "user" if message.role == "document" else message.role
    item: Json = ChatMessage(role=role, content=message.content).model_dump(mode="json")
    return item
