"""AutoGen: a ``Memory`` over what an agent knows.

from longmind.adapters.autogen import LongmindMemory

agent = AssistantAgent("assistant", model_client=client, memory=[LongmindMemory(longmind, user="alice")])
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Coroutine, Sequence
from hashlib import sha256
from typing import Any, TypeVar

from longmind.adapters.access import MemoryAccess
from longmind.adapters.packages import framework
from longmind.adapters.scope import name_of
from longmind.errors import InvalidInput
from longmind.memory import Longmind
from longmind.sync import Longmind as BlockingLongmind
from longmind.types import Hit, Json, Memory, Message

with framework("autogen"):
    from autogen_core import CancellationToken, Image
    from autogen_core.memory import Memory as AutoGenMemory
    from autogen_core.memory import MemoryContent, MemoryMimeType, MemoryQueryResult, UpdateContextResult
    from autogen_core.model_context import ChatCompletionContext
    from autogen_core.models import AssistantMessage, LLMMessage, SystemMessage, UserMessage

R = TypeVar("R")
_ADDED_BY = "autogen"
"""The metadata that marks what ``add`` stored, and the namespace of what is no text; with the memory's name."""


class LongmindMemory(AutoGenMemory):
    """What an agent knows with a user, as a memory of AutoGen.

    ``update_context`` adds what matters for the last message, quoted as data. With a ``session`` it also remembers what
    the user and the assistant said in the model's context, each turn once; what was recalled is never remembered.
    ``clear`` forgets what was added under this memory's ``name``, and nothing else.
    """

    def __init__(
        self,
        longmind: Longmind | BlockingLongmind,
        *,
        agent: str | None = None,
        user: str | None = None,
        session: str | None = None,
        name: str = "memory",
        context_tokens: int = 1_000,
        k: int = 10,
    ) -> None:
        self.name = name
        self._access = MemoryAccess(longmind, agent=agent, user=user)
        self._session = None if session is None else name_of(session, "session")
        self._context_tokens = context_tokens
        self._k = k

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Add what matters for the last message to a model's context, unless the same was added before."""
        messages = await model_context.get_messages()
        conversation = [message for message in map(_said, messages) if message is not None]
        task = next((message.content for message in reversed(conversation) if message.role == "user"), None)
        text = "" if task is None else await self._access.run(self._context(task, conversation))
        if not text:
            return UpdateContextResult(memories=MemoryQueryResult(results=[]))
        if not any(isinstance(message, SystemMessage) and message.content == text for message in messages):
            await model_context.add_message(SystemMessage(content=text))
        added = MemoryContent(content=text, mime_type=MemoryMimeType.MARKDOWN)
        return UpdateContextResult(memories=MemoryQueryResult(results=[added]))

    async def _context(self, task: str, conversation: Sequence[Message]) -> str:
        memory = self._access.memory()
        if self._session is not None:
            await memory.remember(list(conversation), session=self._session)
        return await memory.context(task, self._context_tokens, conversation=conversation)

    async def query(
        self, query: str | MemoryContent, cancellation_token: CancellationToken | None = None, **kwargs: Any
    ) -> MemoryQueryResult:
        """Return the memories that fit a query best, with score and id in their metadata. ``k`` says how many."""
        text = query if isinstance(query, str) else _text(query)
        k = kwargs.get("k", self._k)
        recalled: Coroutine[Any, Any, list[Hit]] = self._access.memory().recall(text, k)
        hits = await self._run(recalled, cancellation_token)
        return MemoryQueryResult(results=[_content(hit.memory, hit.score) for hit in hits])

    async def add(self, content: MemoryContent, cancellation_token: CancellationToken | None = None) -> None:
        """Remember a text, or store anything else exactly; the same again is stored once."""
        await self._run(self._add(content), cancellation_token)

    async def _add(self, content: MemoryContent) -> None:
        memory, mime_type = self._access.memory(), _mime_type(content)
        if isinstance(content.content, str):
            metadata = {**(content.metadata or {}), "mime_type": mime_type, _ADDED_BY: self.name}
            await memory.remember(content.content, metadata=metadata)
            return
        value = {"content": _packed(content.content), "mime_type": mime_type, "metadata": content.metadata or {}}
        key = sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
        await memory.values.put((_ADDED_BY, self.name), key, value, text=_text(content))

    async def clear(self) -> None:
        """Forget what was added under this memory's name. What the agent learnt otherwise stays."""
        await self._access.run(self._clear())

    async def _clear(self) -> None:
        memory = self._access.memory()
        users = None if memory.scope.user is None else [memory.scope.user]
        await memory.forget(where={"metadata": {_ADDED_BY: self.name}, "users": users, "states": None})
        await memory.values.clear((_ADDED_BY, self.name))

    async def close(self) -> None:
        """Do nothing: whoever opened the store closes it."""

    async def _run(self, work: Coroutine[Any, Any, R], token: CancellationToken | None) -> R:
        if token is not None and token.is_cancelled():
            work.close()
            raise asyncio.CancelledError
        task = asyncio.ensure_future(self._access.run(work))
        if token is not None:
            token.link_future(task)
        return await task


def _said(message: LLMMessage) -> Message | None:
    """Return what a message of a model's context says; None for instructions, calls and their results."""
    if isinstance(message, UserMessage):
        parts = [message.content] if isinstance(message.content, str) else message.content
        text = "\n".join(part for part in parts if isinstance(part, str))
        return Message(role="user", content=text, name=_speaker(message.source)) if text else None
    if isinstance(message, AssistantMessage) and isinstance(message.content, str) and message.content:
        return Message(role="assistant", content=message.content, name=_speaker(message.source))
    return None


def _speaker(source: str) -> str | None:
    return None if source in ("", "user", "assistant") else name_of(source, "source")


def _mime_type(content: MemoryContent) -> str:
    return str(content.mime_type.value if isinstance(content.mime_type, MemoryMimeType) else content.mime_type)


def _packed(content: Any) -> Json:
    """Return a content that is no text as JSON."""
    if isinstance(content, bytes):
        return {"bytes": base64.b64encode(content).decode()}
    if isinstance(content, Image):
        return {"image": content.to_base64()}
    if isinstance(content, dict):
        return {"json": content}
    raise InvalidInput(f"A {type(content).__name__} cannot be added.", hint="Give a text, a dict, bytes or an Image.")


def _unpacked(packed: Json) -> Any:
    if "bytes" in packed:
        return base64.b64decode(packed["bytes"])
    return Image.from_base64(packed["image"]) if "image" in packed else packed["json"]


def _text(content: MemoryContent) -> str:
    """Return what a content is found by: its words, or for what has none those of its metadata."""
    if isinstance(content.content, str):
        return str(content.content)
    described = content.content if isinstance(content.content, dict) else content.metadata or {}
    return "\n".join(f"{name}: {value}" for name, value in described.items())


def _content(memory: Memory, score: float) -> MemoryContent:
    found: Json = {"id": memory.id, "score": score, "kind": memory.kind, "occurred_at": memory.occurred_at.isoformat()}
    if memory.kind == "record" and memory.body.get("content") and "mime_type" in memory.body:
        body = memory.body
        return MemoryContent(
            content=_unpacked(body["content"]), mime_type=body["mime_type"], metadata={**body["metadata"], **found}
        )
    own = {name: value for name, value in memory.metadata.items() if name not in ("mime_type", _ADDED_BY)}
    mime_type = memory.metadata.get("mime_type", MemoryMimeType.TEXT.value)
    return MemoryContent(content=memory.content, mime_type=mime_type, metadata={**own, **found})
