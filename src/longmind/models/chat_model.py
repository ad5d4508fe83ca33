"""``Chat`` made of any provider: patience, budget, cache, structured answers, cost and telemetry, written once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pydantic import ValidationError

from longmind.clock import Clock, SystemClock
from longmind.errors import InvalidAnswer, InvalidInput, ModelError
from longmind.models.budget import Budget
from longmind.models.chat import (
    Answer,
    ChatTool,
    Messages,
    Piece,
    Provider,
    Request,
    S,
    TokenCounter,
    Usage,
    estimate_messages,
    messages_of,
)
from longmind.models.resilience import Line, Patience, Sleep
from longmind.models.structured import Structured, Structurer, Tally
from longmind.models.traces import observed
from longmind.tokens import estimate

USUAL_OUTPUT = 500
"""Tokens set aside for an answer whose length nobody bounded."""
ToolChoice = Literal["auto", "required", "none"]


class AnswerCache(Protocol):
    """Stores answers by the fingerprint of the request and the model. Used only when asked for."""

    async def get(self, key: str) -> Answer | None: ...

    async def put(self, key: str, answer: Answer) -> None: ...


class MemoryCache:
    """The latest answers, in memory; the least recently used leaves first."""

    def __init__(self, entries: int = 1000) -> None:
        self._entries = entries
        self._kept: OrderedDict[str, Answer] = OrderedDict()

    async def get(self, key: str) -> Answer | None:
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    async def put(self, key: str, answer: Answer) -> None:
        self._kept[key] = answer
        self._kept.move_to_end(key)
        while len(self._kept) > self._entries:
            self._kept.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """For input the server had read before; the same as other input unless told."""

    def cost(self, usage: Usage) -> float:
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input_tokens - usage.cached_tokens
        return (fresh * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output) / 1_000_000


@dataclass(slots=True)
class Counts:
    """What happened to the calls of a model since it was opened."""

    calls: int = 0
    failed: int = 0
    from_cache: int = 0
    usage: Usage = field(default_factory=Usage)


class ChatModel:
    """A language model as the rest of Longmind uses it; see ``Chat``."""

    def __init__(
        self,
        provider: Provider,
        *,
        patience: Patience | None = None,
        prices: Prices | None = None,
        budget: Budget | None = None,
        cache: AnswerCache | None = None,
        clock: Clock | None = None,
        sleep: Sleep = asyncio.sleep,
        line: Line | None = None,
    ) -> None:
        self._provider = provider
        self._prices = prices
        self._budget = budget
        self._cache = cache
        self._line = line or Line(provider.name, patience or Patience(), clock or SystemClock(), sleep)
        self._structurer = Structurer(self.ask, provider.forms)
        self.counts = Counts()

    @property
    def name(self) -> str:
        return self._provider.name

    @property
    def provider(self) -> Provider:
        return self._provider

    @property
    def tally(self) -> Tally:
        """How structured answers went."""
        return self._structurer.tally

    @property
    def retries(self) -> int:
        """Attempts that were made again."""
        return self._line.retries

    def __repr__(self) -> str:
        return f"ChatModel({self._provider!r})"

    def under(self, budget: Budget) -> ChatModel:
        """The same model under a budget, such as an agent's; what it shares with this one is the way to the server."""
        bound = ChatModel(self._provider, prices=self._prices, budget=budget, cache=self._cache, line=self._line)
        bound._structurer.refused = self._structurer.refused
        return bound

    async def complete(
        self,
        messages: Messages,
        *,
        tools: Sequence[ChatTool] = (),
        tool_choice: ToolChoice = "auto",
        max_tokens: int | None = None,
        temperature: float | None = None,
        prompts: Sequence[str] = (),
    ) -> Answer:
        return await self.ask(_request(messages, tools, tool_choice, max_tokens, temperature, prompts))

    async def structured(
        self,
        messages: Messages,
        schema: type[S],
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        prompts: Sequence[str] = (),
    ) -> Structured[S]:
        request = _request(messages, (), "auto", max_tokens, temperature, prompts)
        return await self._structurer.structured(request, schema)

    async def stream(
        self,
        messages: Messages,
        *,
        tools: Sequence[ChatTool] = (),
        tool_choice: ToolChoice = "auto",
        max_tokens: int | None = None,
        temperature: float | None = None,
        prompts: Sequence[str] = (),
    ) -> AsyncGenerator[Piece, None]:
        request = _request(messages, tools, tool_choice, max_tokens, temperature, prompts)
        known = await self._known(request)
        if known is not None:
            yield Piece(text=known.text)
            yield Piece(answer=known)
            return
        said: list[str] = []
        held = await self._hold(request)
        usage = Usage()
        try:
            with observed(self._provider, request, stream=True) as call:
                async with aclosing(self._line.stream(lambda: self._provider.pieces(request))) as pieces:
                    async for piece in pieces:
                        if not said:
                            call.first_piece()
                        said.append(piece.text)
                        if piece.answer is not None:
                            answer = await self._finished(request, piece.answer)
                            usage = answer.usage
                            call.answered(answer)
                            piece = Piece(answer=answer)
                        yield piece
        except ModelError as error:
            self._failed(error, "".join(said))
            raise
        finally:
            if usage == Usage() and said:  # it broke off or was given up: about what it cost
                usage = self._priced(
                    Usage(
                        input_tokens=estimate_messages(request.messages),
                        output_tokens=estimate("".join(said)),
                        requests=1,
                    )
                )
            await self._settle(held, usage)

    async def ask(self, request: Request) -> Answer:
        """One request through everything: cache, budget, patience, telemetry."""
        known = await self._known(request)
        if known is not None:
            return known
        held = await self._hold(request)
        usage = Usage()
        try:
            with observed(self._provider, request) as call:
                answer = await self._line.call(lambda: self._provider.answer(request))
                answer = await self._finished(request, answer)
                usage = answer.usage
                call.answered(answer)
                return answer
        except ModelError as error:
            if isinstance(error, InvalidAnswer):
                usage = self._priced(error.usage or Usage())
            self._failed(error, "")
            raise
        finally:
            await self._settle(held, usage)

    async def count(self, messages: Messages) -> int:
        conversation = messages_of(messages)
        if isinstance(self._provider, TokenCounter):
            counter = self._provider
            return await self._line.call(lambda: counter.count(conversation))
        return estimate_messages(conversation)

    async def close(self) -> None:
        await self._provider.close()

    async def _known(self, request: Request) -> Answer | None:
        answer = None if self._cache is None else await self._cache.get(request.fingerprint(self.name))
        if answer is None:
            return None
        self.counts.from_cache += 1
        return answer.model_copy(update={"cached": True, "usage": Usage(cost=0.0)})

    async def _finished(self, request: Request, answer: Answer) -> Answer:
        """The answer with its cost and prompts, remembered if it is whole."""
        answer = answer.model_copy(update={"usage": self._priced(answer.usage), "prompts": request.prompts})
        if self._cache is not None and answer.finish in ("stop", "tools"):
            await self._cache.put(request.fingerprint(self.name), answer)
        return answer

    def _priced(self, usage: Usage) -> Usage:
        if usage.cost is not None or self._prices is None:
            return usage
        return usage.model_copy(update={"cost": self._prices.cost(usage)})

    async def _hold(self, request: Request) -> int:
        tokens = estimate_messages(request.messages) + (request.max_tokens or USUAL_OUTPUT)
        if self._budget is not None:
            await self._budget.hold(tokens)
        return tokens

    async def _settle(self, held: int, usage: Usage) -> None:
        self.counts.calls += 1
        self.counts.usage += usage
        if self._budget is not None:
            await self._budget.settle(held, usage)

    def _failed(self, error: ModelError, said: str) -> None:
        self.counts.failed += 1
        if said:
            error.details.setdefault("text", said[-2000:])


def _request(
    messages: Messages,
    tools: Sequence[ChatTool],
    tool_choice: ToolChoice,
    max_tokens: int | None,
    temperature: float | None,
    prompts: Sequence[str],
) -> Request:
    try:
        return Request(
            messages=messages_of(messages),
            tools=tuple(tools),
            tool_choice=tool_choice,
            max_tokens=max_tokens,
            temperature=temperature,
            prompts=tuple(prompts),
        )
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        raise InvalidInput(f"{'.'.join(map(str, problem['loc']))} is not usable: {problem['msg']}.") from error
