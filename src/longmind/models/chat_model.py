"""``Chat`` on top of any provider: retries, budget, cache, structured answers, cost and telemetry, written once."""

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
from longmind.models.resilience import RetryingCaller, RetryPolicy, Sleep
from longmind.models.structured import Structured, Structurer, Tally
from longmind.models.traces import observed
from longmind.problems import first_problem
from longmind.tokens import estimate

USUAL_OUTPUT = 500
"""Tokens reserved for an answer without ``max_tokens``."""
ToolChoice = Literal["auto", "required", "none"]


class AnswerCache(Protocol):
    """Stores answers by the fingerprint of request and model. Off by default."""

    async def get(self, key: str) -> Answer | None: ...

    async def put(self, key: str, answer: Answer) -> None: ...


class MemoryCache:
    """An LRU cache of answers in memory."""

    def __init__(self, entries: int = 1000) -> None:
        self._entries = entries
        self._answers: OrderedDict[str, Answer] = OrderedDict()

    async def get(self, key: str) -> Answer | None:
        if key in self._answers:
            self._answers.move_to_end(key)
        return self._answers.get(key)

    async def put(self, key: str, answer: Answer) -> None:
        self._answers[key] = answer
        self._answers.move_to_end(key)
        while len(self._answers) > self._entries:
            self._answers.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """For input tokens from the server's prompt cache; by default the price of other input."""

    def cost(self, usage: Usage) -> float:
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input_tokens - usage.cached_tokens
        return (fresh * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output) / 1_000_000


@dataclass(slots=True)
class Counts:
    """Counters of a model's calls since it was opened."""

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
        retry_policy: RetryPolicy | None = None,
        prices: Prices | None = None,
        budget: Budget | None = None,
        cache: AnswerCache | None = None,
        clock: Clock | None = None,
        sleep: Sleep = asyncio.sleep,
        caller: RetryingCaller | None = None,
    ) -> None:
        self._provider = provider
        self._prices = prices
        self._budget = budget
        self._cache = cache
        self._caller = caller or RetryingCaller(
            provider.name, retry_policy or RetryPolicy(), clock or SystemClock(), sleep
        )
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
        """Counters of structured answers."""
        return self._structurer.tally

    @property
    def retries(self) -> int:
        """The number of attempts that were retried."""
        return self._caller.retries

    def __repr__(self) -> str:
        return f"ChatModel({self._provider!r})"

    def with_budget(self, budget: Budget) -> ChatModel:
        """Return the same model with a budget, such as an agent's. Connection, retries and cache are shared."""
        bound = ChatModel(self._provider, prices=self._prices, budget=budget, cache=self._cache, caller=self._caller)
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
        cached_answer = await self._cached_answer(request)
        if cached_answer is not None:
            yield Piece(text=cached_answer.text)
            yield Piece(answer=cached_answer)
            return
        texts: list[str] = []
        reserved = await self._reserve(request)
        usage = Usage()
        try:
            with observed(self._provider, request, stream=True) as call:
                async with aclosing(self._caller.stream(lambda: self._provider.pieces(request))) as pieces:
                    async for piece in pieces:
                        if not texts:
                            call.first_piece()
                        texts.append(piece.text)
                        if piece.answer is not None:
                            answer = await self._completed(request, piece.answer)
                            usage = answer.usage
                            call.answered(answer)
                            piece = Piece(answer=answer)
                        yield piece
        except ModelError as error:
            self._count_failure(error, "".join(texts))
            raise
        finally:
            if usage == Usage() and texts:  # the stream ended early: estimate what it cost
                usage = self._priced(
                    Usage(
                        input_tokens=estimate_messages(request.messages),
                        output_tokens=estimate("".join(texts)),
                        requests=1,
                    )
                )
            await self._charge(reserved, usage)

    async def ask(self, request: Request) -> Answer:
        """Send one request, with cache, budget, retries and telemetry."""
        cached_answer = await self._cached_answer(request)
        if cached_answer is not None:
            return cached_answer
        reserved = await self._reserve(request)
        usage = Usage()
        try:
            with observed(self._provider, request) as call:
                answer = await self._caller.call(lambda: self._provider.answer(request))
                answer = await self._completed(request, answer)
                usage = answer.usage
                call.answered(answer)
                return answer
        except ModelError as error:
            if isinstance(error, InvalidAnswer):
                usage = self._priced(error.usage or Usage())
            self._count_failure(error, "")
            raise
        finally:
            await self._charge(reserved, usage)

    async def count(self, messages: Messages) -> int:
        conversation = messages_of(messages)
        if isinstance(self._provider, TokenCounter):
            counter = self._provider
            return await self._caller.call(lambda: counter.count(conversation))
        return estimate_messages(conversation)

    async def close(self) -> None:
        await self._provider.close()

    async def _cached_answer(self, request: Request) -> Answer | None:
        answer = None if self._cache is None else await self._cache.get(request.fingerprint(self.name))
        if answer is None:
            return None
        self.counts.from_cache += 1
        return answer.model_copy(update={"cached": True, "usage": Usage(cost=0.0)})

    async def _completed(self, request: Request, answer: Answer) -> Answer:
        """Add cost and prompts to an answer, and cache it if it is complete."""
        answer = answer.model_copy(update={"usage": self._priced(answer.usage), "prompts": request.prompts})
        if self._cache is not None and answer.finish in ("stop", "tools"):
            await self._cache.put(request.fingerprint(self.name), answer)
        return answer

    def _priced(self, usage: Usage) -> Usage:
        if usage.cost is not None or self._prices is None:
            return usage
        return usage.model_copy(update={"cost": self._prices.cost(usage)})

    async def _reserve(self, request: Request) -> int:
        tokens = estimate_messages(request.messages) + (request.max_tokens or USUAL_OUTPUT)
        if self._budget is not None:
            await self._budget.reserve(tokens)
        return tokens

    async def _charge(self, reserved: int, usage: Usage) -> None:
        self.counts.calls += 1
        self.counts.usage += usage
        if self._budget is not None:
            await self._budget.charge(reserved, usage)

    def _count_failure(self, error: ModelError, texts: str) -> None:
        self.counts.failed += 1
        if texts:
            error.details.setdefault("text", texts[-2000:])


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
        where, reason = first_problem(error)
        raise InvalidInput(f"{where or 'The request'} is not usable: {reason}.") from error
