"""The real model with little room for each answer, so that a test of it ends soon, and without dice, so that it ends
the same way each time. What it said can be looked at."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from longmind.models.chat import Answer, Form, Piece, Provider, Request


@dataclass(slots=True)
class Brief:
    """A provider that asks another one, for at most ``most`` tokens. It is not its to close."""

    provider: Provider
    most: int = 200
    heard: list[Answer] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.provider.name

    @property
    def system(self) -> str:
        return self.provider.system

    @property
    def address(self) -> str:
        return self.provider.address

    @property
    def forms(self) -> tuple[Form, ...]:
        return self.provider.forms

    async def answer(self, request: Request) -> Answer:
        answer = await self.provider.answer(self._bounded(request))
        self.heard.append(answer)
        return answer

    async def pieces(self, request: Request) -> AsyncGenerator[Piece, None]:
        stream = self.provider.pieces(self._bounded(request))
        async with aclosing(stream) as pieces:  # type: ignore[type-var]
            async for piece in pieces:
                if piece.answer is not None:
                    self.heard.append(piece.answer)
                yield piece

    async def close(self) -> None:
        """The model is shared by all tests."""

    def _bounded(self, request: Request) -> Request:
        most = min(self.most, request.max_tokens or self.most)
        return request.model_copy(update={"max_tokens": most, "temperature": 0.0})
