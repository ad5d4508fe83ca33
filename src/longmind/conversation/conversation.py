"""``Conversation``: add messages, read them back, and render them for a prompt."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from longmind.arguments import checked_arguments
from longmind.conversation.items import ITEM, ConversationItem, ItemLog, StoredItem
from longmind.conversation.messages import MessageLog, parse_message, to_message
from longmind.conversation.rolling_summary import FindSummaryWriter, RollingSummary
from longmind.conversation.token_budget import first_lines, last_messages
from longmind.errors import InvalidInput
from longmind.recall.budget import (
    HEAD,
    STANDING_SHARE,
    fitting_hits,
    fitting_standing,
    line,
    sections,
)
from longmind.recall.engine import ContextParts
from longmind.recall.standing import standing_lines
from longmind.store.base import Delete
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.text.quoting import quote
from longmind.tokens import estimate
from longmind.types import Memory, Message, Model, Name, Role

WINDOW = 20
_MESSAGES_SHARE = 0.4
"""The share of a budget that the last messages get in any case."""
_SUMMARY_SHARE = 0.25
"""The share of the rest that the summary may take."""


class FindParts(Protocol):
    """Finds the memories that a context adds to the messages of a conversation."""

    async def __call__(
        self, task: str, tokens: int, *, conversation: Sequence[Message], left_out: Collection[str]
    ) -> ContextParts: ...


class _ConversationId(Model):
    id: Name


@checked_arguments
class Conversation:
    """The messages of one session, and their rendering for a model."""

    def __init__(
        self,
        scoped: ScopedStore,
        id: str,
        find_parts: FindParts,
        *,
        window: int = WINDOW,
        summary_writer: FindSummaryWriter | None = None,
    ) -> None:
        if window < 1:
            raise InvalidInput(f"A window of {window} messages cannot be.", hint="Give at least 1.")
        self.id = validated(_ConversationId, {"id": id}).id
        self._scoped = scoped
        self._find_parts = find_parts
        self._window = window
        self._log = MessageLog(scoped, self.id)
        self._items = ItemLog(scoped, self.id)
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

    async def append(
        self, items: Sequence[ConversationItem], *, operation: str | None = None
    ) -> tuple[StoredItem, ...]:
        """Store items of a framework's conversation in one transaction, exactly and in order.

        What is said in an item is a message like any other, and the item's own fields are part of its record. An item
        that says nothing, or whose message is blank, is never recalled. With an ``operation`` id of yours the call can
        be repeated safely.
        """
        return tuple(await self._items.append(items, operation))

    async def items(self, limit: int | None = None) -> tuple[StoredItem, ...]:
        """Return the items and messages, the earliest first: all of them, or the last ``limit``."""
        if limit is not None and limit < 1:
            raise InvalidInput(f"A list of {limit} items cannot be.", hint="Give at least 1, or none for all.")
        return tuple(await self._items.latest(limit))

    async def pop(self) -> StoredItem | None:
        """Remove the last item or message and return it; None if there is none."""
        return await self._items.pop()

    async def history(self, limit: int | None = None) -> tuple[Memory, ...]:
        """Return the messages, the earliest first: all of them, or the last ``limit``."""
        if limit is not None and limit < 1:
            raise InvalidInput(f"A history of {limit} messages cannot be.", hint="Give at least 1, or none for all.")
        return tuple(reversed(await self._log.latest(limit)))

    async def clear(self) -> int:
        """Forget the messages, the items and the summary. Return how many messages there were."""

        async def delete() -> int:
            messages = await self.history()
            summary = await self._summary.record()
            items = await self._items.memories((ITEM,), None)
            ids = [memory.id for memory in (*messages, *items, *([summary] if summary else []))]
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
        """Render the conversation for a prompt: what stands in every context, its messages, and what memory adds.

        Of the messages there is a summary of the earlier ones, and the last ones as they were. Everything is quoted as
        data. What stands comes first, then the summary, and the messages follow in their order, so the beginning stays
        the same from turn to turn and a provider's prompt cache can use it. Without a ``task``, memories are recalled
        for the last message of the user.
        """
        if tokens < 1:
            raise InvalidInput(f"tokens must be at least 1, not {tokens}.")
        messages = await self.history(self._window)
        if not messages and task is None:
            return ""
        budget = max(0, tokens - estimate(HEAD) - 1 - _heading("This conversation") - _heading("From memory"))
        costs = {message.id: estimate(line(message)) + 1 for message in messages}
        reserved = min(sum(costs.values()), int(budget * _MESSAGES_SHARE))
        certain = last_messages(messages, max(1, reserved), cost=lambda m: costs[m.id]) if messages else []
        parts = await self._parts(messages, task, budget, left_out=frozenset(message.id for message in certain))
        left = budget - sum(costs[message.id] for message in certain)
        standing = fitting_standing(standing_lines(parts.standing), int(left * STANDING_SHARE))
        always = sections(standing)
        left -= sum(estimate(section) + 1 for section in always)
        earlier = (await self.summary()).splitlines()
        left -= _heading("Earlier in this conversation") if earlier else 0
        summary = first_lines(earlier, max(0, left) * _SUMMARY_SHARE)
        left -= sum(estimate(sentence) + 2 for sentence in summary)
        memories = fitting_hits(parts.hits, left, shown=standing, grouped=False)
        parts.count_reads(memories)
        left -= sum(estimate(line(memory)) + 1 for memory in memories)
        in_memories = {memory.id for memory in memories}
        others = [message for message in messages if message.id not in in_memories]
        room = left + sum(costs[message.id] for message in certain)
        last = last_messages(others, max(1, room), cost=lambda m: costs[m.id]) if others else []
        listed = [
            ("Earlier in this conversation", [f"- {quote(sentence)}" for sentence in summary]),
            ("This conversation", [line(message) for message in last]),
            ("From memory", [line(memory) for memory in memories]),
        ]
        rest = ["\n".join([f"## {title}", *lines]) for title, lines in listed if lines]
        return "\n\n".join([HEAD, *always, *rest]) if always or rest else ""

    async def _parts(
        self, messages: Sequence[Memory], task: str | None, tokens: int, left_out: Collection[str]
    ) -> ContextParts:
        """Return the memories for a task, or for the last message of the user, which is not read beside itself."""
        asked = next((m for m in reversed(messages) if m.source.role == "user"), messages[-1] if messages else None)
        if task is None:
            beside = [message for message in messages if message is not asked]
            return await self._find_parts(
                asked.content if asked else "", tokens, conversation=list(map(to_message, beside)), left_out=left_out
            )
        return await self._find_parts(task, tokens, conversation=list(map(to_message, messages)), left_out=left_out)


def _heading(title: str) -> int:
    """Return the tokens of a heading."""
    return estimate(f"## {title}") + 1
