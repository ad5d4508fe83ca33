"""``Conversation``: add messages, read them back, and render them for a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from longmind.arguments import checked_arguments
from longmind.conversation.messages import MessageLog, parse_message, to_message
from longmind.conversation.rolling_summary import FindSummaryWriter, RollingSummary
from longmind.conversation.token_budget import first_lines, last_messages
from longmind.errors import InvalidInput
from longmind.recall.budget import HEAD, line
from longmind.store.base import Delete
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.text.quoting import quote
from longmind.tokens import estimate
from longmind.types import Hit, Memory, Message, Model, Name, Role

WINDOW = 20
_RECALLED = 8
_MIN_SCORE = 0.35
"""The score from which a memory is worth adding to a conversation."""
_SHARES = {"summary": 0.25, "memory": 0.3}
"""The shares of a budget that the summary and the recalled memories may take; the rest is for the messages."""


class Recall(Protocol):
    """The part of ``AgentMemory.recall`` that a conversation uses."""

    async def __call__(self, query: str, k: int, *, conversation: Sequence[Message], min_score: float) -> list[Hit]: ...


class _ConversationId(Model):
    id: Name


@checked_arguments
class Conversation:
    """The messages of one session, and their rendering for a model."""

    def __init__(
        self,
        scoped: ScopedStore,
        id: str,
        recall: Recall,
        *,
        window: int = WINDOW,
        summary_writer: FindSummaryWriter | None = None,
    ) -> None:
        if window < 1:
            raise InvalidInput(f"A window of {window} messages cannot be.", hint="Give at least 1.")
        self.id = validated(_ConversationId, {"id": id}).id
        self._scoped = scoped
        self._recall = recall
        self._window = window
        self._log = MessageLog(scoped, self.id)
        self._summary = RollingSummary(scoped, self._log, self.id, window=window, summary_writer=summary_writer)

    async def add(
        self,
        message: str | Message | Mapping[str, Any],
        *,
        role: Role | None = None,
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Memory:
        """Store a message and return the stored memory. It is durable then, and the next recall finds it.

        The same words twice are two messages. With a ``key`` of yours the call can be repeated: it is stored once.
        """
        return await self._log.add(parse_message(message, role), key, metadata)

    async def history(self, limit: int | None = None) -> tuple[Memory, ...]:
        """Return the messages, the earliest first: all of them, or the last ``limit``."""
        if limit is not None and limit < 1:
            raise InvalidInput(f"A history of {limit} messages cannot be.", hint="Give at least 1, or none for all.")
        return tuple(reversed(await self._log.latest(limit)))

    async def clear(self) -> int:
        """Forget the messages and the summary. Return how many messages there were."""

        async def delete() -> int:
            messages = await self.history()
            summary = await self._summary.record()
            ids = [message.id for message in messages] + ([summary.id] if summary else [])
            if ids:
                await self._scoped.rewrite([Delete(id) for id in ids], "clear the conversation")
            return len(messages)

        return await retry_on_conflict(delete)

    async def summary(self) -> str:
        """Return a summary of the messages before the window; empty while all of them are in the window."""
        return await self._summary.text()

    async def messages(self, tokens: int = 3_000) -> list[Message]:
        """Return the last messages of the window that fit the budget, for a model's API."""
        return [to_message(memory) for memory in last_messages(await self.history(self._window), tokens)]

    async def context(self, tokens: int = 1_500, *, task: str | None = None) -> str:
        """Render the conversation for a prompt: a summary of its beginning, its last messages, and what memory adds.

        Everything is quoted as data. The summary comes first and the messages follow in their order, so the beginning
        stays the same from turn to turn and a provider's prompt cache can use it.
        """
        if tokens < 1:
            raise InvalidInput(f"tokens must be at least 1, not {tokens}.")
        messages = await self.history(self._window)
        if not messages:
            return ""
        budget = max(0, tokens - estimate(HEAD) - 20)
        summary = first_lines((await self.summary()).splitlines(), budget * _SHARES["summary"])
        hits = await self._recalled(messages, task)
        memories = first_lines([line(hit.memory) for hit in hits], budget * _SHARES["memory"])
        spent = sum(map(estimate, (*summary, *memories)))
        last = last_messages(messages, max(1, budget - spent), cost=lambda m: estimate(line(m)) + 1)
        sections = [
            ("Earlier in this conversation", [f"- {quote(sentence)}" for sentence in summary]),
            ("This conversation", [line(message) for message in last]),
            ("From memory", memories),
        ]
        return "\n\n".join([HEAD, *("\n".join([f"## {title}", *lines]) for title, lines in sections if lines)])

    async def _recalled(self, messages: Sequence[Memory], task: str | None) -> list[Hit]:
        """Return the memories that fit the last turn and are not in the window."""
        query = task or next((m.content for m in reversed(messages) if m.source.role == "user"), messages[-1].content)
        conversation = [to_message(message) for message in messages]
        hits = await self._recall(query, _RECALLED, conversation=conversation, min_score=_MIN_SCORE)
        in_window = {message.id for message in messages}
        return [hit for hit in hits if hit.memory.id not in in_window]
