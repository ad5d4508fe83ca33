"""``MemoryCall``: one call of a model with memory. Written once, asynchronously, for clients of both kinds."""

from __future__ import annotations

import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from longmind import AgentMemory, InvalidInput
from longmind.adapters.model_clients.requests import Interface, Turn, marked, without_context
from longmind.tokens import estimate

_log = logging.getLogger(__name__)
_KEPT = 256
"""How many contexts and sessions a client keeps in mind."""
Json = dict[str, Any]
Place = Literal["turn", "system"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """How memory takes part in a call."""

    session: str | None = None
    """The conversation. Without one the same text is stored once; with one every turn is, in its place."""
    tokens: int | None = None
    """The budget of the context; by default that of the agent's settings."""
    recall: bool = True
    """Whether the call gets a context."""
    remember: bool = True
    """Whether the call is remembered."""
    place: Place = "turn"
    """Where the context stands: before the user's text, or after the instructions."""
    on_error: Literal["log", "raise"] = "log"
    """Whether an error of memory is logged and reported, or raised."""

    def __post_init__(self) -> None:
        if self.place not in ("turn", "system"):
            raise InvalidInput("place must be 'turn' or 'system'.", field="place")
        if self.on_error not in ("log", "raise"):
            raise InvalidInput("on_error must be 'log' or 'raise'.", field="on_error")
        if self.tokens is not None and self.tokens < 1:
            raise InvalidInput(f"tokens must be at least 1, not {self.tokens}.", field="tokens")

    def changed(self, memory: bool | Mapping[str, Any] | MemoryOptions) -> MemoryOptions:
        """Return the options of one call: ``False`` switches memory off, a mapping changes some."""
        if isinstance(memory, MemoryOptions):
            return memory
        if isinstance(memory, bool):
            return self if memory else replace(self, recall=False, remember=False)
        if not isinstance(memory, Mapping):
            raise InvalidInput("memory must be True, False, a mapping of options, or MemoryOptions.", field="memory")
        unknown = set(memory) - set(self.__dataclass_fields__)
        if unknown:
            raise InvalidInput(
                f"There is no option {', '.join(sorted(map(str, unknown)))}.",
                hint=f"Options are: {', '.join(self.__dataclass_fields__)}.",
                field="memory",
            )
        return replace(self, **memory)


@dataclass(slots=True)
class MemoryCall:
    """What memory did in one call. Of a stream it is complete when the stream has ended."""

    context: str = ""
    """The text that was added to the request; empty if there was none."""
    tokens: int = 0
    """Tokens that were added, estimated."""
    recall_ms: float = 0.0
    remember_ms: float = 0.0
    memories: tuple[str, ...] = ()
    """The ids of the memories of what this call handed to memory: those it stored, and those that were known."""
    done: bool = False
    """Whether the call has ended and memory is finished with it."""
    errors: list[Exception] = field(default_factory=list)
    """Errors of memory that were logged instead of raised."""

    @property
    def milliseconds(self) -> float:
        """How long memory took in all."""
        return self.recall_ms + self.remember_ms


def memory_call(response: Any) -> MemoryCall:
    """Return what memory did in the call of a response or a stream, or in the last call of a client."""
    call = getattr(response, "longmind", None) or getattr(response, "last_call", None)
    if not isinstance(call, MemoryCall):
        raise InvalidInput("This does not come from a client with memory.", hint="See with_memory.")
    return call


class RecentCalls:
    """What a client remembers of its last calls: the contexts of questions, and what was stored of each session.

    The rounds of one turn send the same context, for the prompt cache. A request that is sent again, such as after a
    stream that broke, is not stored again.
    """

    def __init__(self) -> None:
        self._contexts: OrderedDict[str, str] = OrderedDict()
        self._stored: OrderedDict[Hashable, tuple[list[Json], str]] = OrderedDict()

    def context(self, key: str) -> str | None:
        return self._contexts.get(key)

    def keep_context(self, key: str, context: str) -> None:
        _keep(self._contexts, key, context)

    def unknown(self, session: Hashable, said: list[Json], reply: str) -> list[Json]:
        """Return the messages of a call that its session does not hold as the last call left it."""
        before, last_reply = self._stored.get(session, ([], ""))
        answered = [_assistant(reply)] if reply else []
        if not before or said[: len(before)] != before:
            return said + answered
        following = said[len(before) :]
        if following[:1] == [_assistant(last_reply)]:
            following = following[1:]
        elif not following and reply == last_reply:
            return []
        return following + answered

    def keep_stored(self, session: Hashable, said: list[Json], reply: str) -> None:
        _keep(self._stored, session, (said, reply))


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def _keep(kept: OrderedDict[K, V], key: K, value: V) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > _KEPT:
        kept.popitem(last=False)


def _assistant(text: str) -> Json:
    return {"role": "assistant", "content": text}


class Exchange:
    """The memory's part in one call: before the request, and after the reply."""

    def __init__(
        self, interface: Interface, body: Mapping[str, Any], options: MemoryOptions, recent: RecentCalls
    ) -> None:
        self.report = MemoryCall()
        self.body = body
        """The body of the request, with its context once that is known."""
        self._interface = interface
        self._options = options
        self._recent = recent
        self._turns: list[Turn] = []
        self._parts: list[str] = []
        self._finished = False
        with self.guarded():  # a request that cannot be read is the provider's to refuse
            self._turns = interface.turns(body)

    async def recall(self, mem: AgentMemory) -> None:
        """Put the context of the last question into the body of the request."""
        asked = next((turn for turn in reversed(self._turns) if turn.role == "user"), None)
        if not self._options.recall or asked is None:
            return
        started = time.perf_counter()
        try:
            context = await self._context(mem, asked)
            if context:
                text = marked(context)
                in_turn = self._options.place == "turn" or self.body.get("thread")  # a thread keeps its instructions
                self.body = self._interface.with_context(self.body, text, asked.index if in_turn else -1)
                self.report.context, self.report.tokens = text, estimate(text)
        finally:
            self.report.recall_ms = (time.perf_counter() - started) * 1000

    async def _context(self, mem: AgentMemory, asked: Turn) -> str:
        """Return the context of a question: of a later round of its turn, that of the first."""
        before = [turn for turn in self._turns if turn.index < asked.index]
        key = _digest(mem, self._options, [*before, asked])
        known = self._recent.context(key) if _follows(self.body, asked) else None
        if known is not None:
            return known
        conversation = [turn.message() for turn in before]
        context = await mem.context(asked.text, self._options.tokens, conversation=conversation)
        self._recent.keep_context(key, context)
        return context

    def receive(self, event: Any) -> None:
        """Take in an event of a stream."""
        with self.guarded():
            self._parts.append(self._interface.received(event))

    def read(self, response: Any) -> None:
        """Take in a whole response."""
        with self.guarded():
            self._parts = [self._interface.reply(response)]

    def finish(self) -> bool:
        """Return whether there is still something to remember; the second time there is not."""
        if self._finished:
            return False
        self._finished = True
        return True

    async def remember(self, mem: AgentMemory) -> None:
        """Store what was said: the turns of the request that are not known yet, and what was received."""
        started = time.perf_counter()
        try:
            reply = without_context("".join(self._parts)).strip()
            if self._options.remember:
                await self._store(mem, [turn.message() for turn in self._turns], reply)
        finally:
            self.report.remember_ms = (time.perf_counter() - started) * 1000

    async def _store(self, mem: AgentMemory, said: list[Json], reply: str) -> None:
        scope, session = mem.scope, self._options.session
        place = (scope.tenant, scope.agent, scope.user, session)
        if session is None:  # the same text is stored once
            messages = said + ([_assistant(reply)] if reply else [])
        else:
            messages = self._recent.unknown(place, said, reply)
        if messages:
            stored = await mem.remember(messages, session=session)
            self.report.memories = tuple(memory.id for memory in stored)
        self._recent.keep_stored(place, said, reply)

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Log and report an error of memory, so that the model's call goes on; or raise it, if that was asked for."""
        try:
            yield
        except Exception as error:
            if self._options.on_error == "raise":
                raise
            _log.warning("Memory took no part in a model's call: %s", error, exc_info=True)
            self.report.errors.append(error)


def _follows(body: Mapping[str, Any], asked: Turn) -> bool:
    """Whether messages follow the question, such as results of tools: then it is another round of the same turn."""
    messages = body.get("messages", body.get("input"))
    return not isinstance(messages, str) and isinstance(messages, Sequence) and len(messages) > asked.index + 1


def _digest(mem: AgentMemory, options: MemoryOptions, turns: Sequence[Turn]) -> str:
    scope = mem.scope
    parts = [repr((scope.tenant, scope.agent, scope.user, options.session, options.tokens))]
    parts += [f"{turn.role}\0{turn.text}" for turn in turns]
    return hashlib.sha256("\0\0".join(parts).encode(errors="surrogatepass")).hexdigest()
