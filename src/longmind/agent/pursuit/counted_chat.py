"""A language model whose token usage is counted, so that planning counts towards a pursuit's limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from longmind.errors import InvalidAnswer
from longmind.models.chat import Answer, Chat, Messages, Piece, S, Usage
from longmind.models.structured import Structured


@dataclass(frozen=True, slots=True)
class CountedChat:
    """Wraps a model and reports the usage of each answer to ``count_usage``."""

    chat: Chat
    count_usage: Callable[[Usage], None]

    @property
    def name(self) -> str:
        return self.chat.name

    async def complete(self, messages: Messages, **options: Any) -> Answer:
        answer = await self.chat.complete(messages, **options)
        self.count_usage(answer.usage)
        return answer

    async def structured(self, messages: Messages, schema: type[S], **options: Any) -> Structured[S]:
        try:
            answer = await self.chat.structured(messages, schema, **options)
        except InvalidAnswer as error:
            self.count_usage(error.usage or Usage())
            raise
        self.count_usage(answer.usage)
        return answer

    async def stream(self, messages: Messages, **options: Any) -> AsyncIterator[Piece]:
        async for piece in self.chat.stream(messages, **options):
            if piece.answer is not None:
                self.count_usage(piece.answer.usage)
            yield piece

    async def count(self, messages: Messages) -> int:
        return await self.chat.count(messages)

    async def close(self) -> None:
        """Do nothing: the owner of the model closes it."""
