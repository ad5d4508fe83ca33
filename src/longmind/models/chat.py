"""What a language model is: messages in, an answer out, with what it cost.

Two protocols. A ``Provider`` is one way to reach a model: one request, one answer, no patience; there is one file for
each. ``Chat`` is what the rest of Longmind uses; ``ChatModel`` makes it of any provider and adds what all of them need
(retries, deadlines, budgets, structured answers).

Nothing here imports a provider's package.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from longmind.errors import InvalidInput
from longmind.tokens import estimate
from longmind.types import Json, Model

if TYPE_CHECKING:
    from longmind.models.structured import Structured

Role = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "length", "tools", "filter", "other"]
"""Why the model ended: it was done, it ran out of room, it calls tools, it would not answer, or something else."""
Form = Literal["schema", "json"]
"""What a server can hold an answer to: a JSON schema, or JSON of any shape."""
S = TypeVar("S", bound=BaseModel)


def _clean(text: str) -> str:
    """A text that can be sent and stored: half characters, from badly decoded input, become ``?``; NUL goes."""
    return (
        text if text.isascii() and "\x00" not in text else text.encode("utf-8", "replace").decode().replace("\x00", "")
    )


Said = Annotated[str, AfterValidator(_clean)]


class ToolCall(Model):
    """The model asks for a tool to be run."""

    id: str
    name: str
    arguments: Json = Field(default_factory=dict)


class ChatTool(Model):
    """A tool the model may call; ``parameters`` is the JSON schema of its arguments."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: str = ""
    parameters: Json = Field(default_factory=lambda: {"type": "object", "properties": {}})


class ChatMessage(Model):
    """One message. A tool's result has the role ``tool`` and the id of the call it answers."""

    role: Role
    content: Said = ""
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None


Messages: TypeAlias = "str | Sequence[ChatMessage | Mapping[str, Any]]"


class Usage(Model):
    """Tokens, requests, and what they cost in US dollars; the cost is None when no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Those of the input that the server had read before."""
    requests: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            requests=self.requests + other.requests,
            cost=sum(costs) if costs else None,
        )


class Answer(Model):
    """What a model said, and what it cost."""

    text: Said = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    model: str = ""
    """What the server says it ran; often a dated version of what was asked for."""
    usage: Usage = Usage()
    cached: bool = False
    """Whether it came from the request cache, and so cost nothing now."""
    prompts: tuple[str, ...] = ()
    """The prompt files it came from, each with its version."""


class Piece(Model):
    """A part of an answer as it comes. The last piece has the whole answer."""

    text: Said = ""
    answer: Answer | None = None


class Request(Model):
    """One question to a provider."""

    messages: tuple[ChatMessage, ...]
    tools: tuple[ChatTool, ...] = ()
    tool_choice: Literal["auto", "required", "none"] = "auto"
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0.0, le=2.0)] | None = None
    form: Form | None = None
    shape: Json | None = None
    """The JSON schema the answer should have, for ``form="schema"``."""
    prompts: tuple[str, ...] = ()

    def fingerprint(self, model: str) -> str:
        """The same for the same question to the same model."""
        return hashlib.sha256(f"{model}\n{self.model_dump_json()}".encode()).hexdigest()


class Provider(Protocol):
    """One way to reach a model. It tries once; what may work later it raises as ``resilience.Transient``."""

    @property
    def name(self) -> str:
        """The identity recorded with what the model produced, such as ``openai/gpt-5-mini``."""
        ...

    @property
    def system(self) -> str:
        """Whose model it is, as the GenAI semantic conventions name it: ``openai``, ``anthropic``."""
        ...

    @property
    def address(self) -> str:
        """The host and port that is asked, or nothing."""
        ...

    @property
    def forms(self) -> tuple[Form, ...]:
        """What the server may be asked to hold an answer to, the strongest first."""
        ...

    async def answer(self, request: Request) -> Answer: ...

    def pieces(self, request: Request) -> AsyncIterator[Piece]: ...

    async def close(self) -> None: ...


@runtime_checkable
class Catalogue(Protocol):
    """A provider that can tell which models it has."""

    async def models(self) -> list[str]: ...


@runtime_checkable
class TokenCounter(Protocol):
    """A provider that can count the tokens of a conversation exactly."""

    async def count(self, messages: Sequence[ChatMessage]) -> int: ...


class Chat(Protocol):
    """A language model as the rest of Longmind uses it."""

    @property
    def name(self) -> str: ...

    async def complete(
        self,
        messages: Messages,
        *,
        tools: Sequence[ChatTool] = (),
        tool_choice: Literal["auto", "required", "none"] = "auto",
        max_tokens: int | None = None,
        temperature: float | None = None,
        prompts: Sequence[str] = (),
    ) -> Answer:
        """The model's answer: text, or calls of the tools."""
        ...

    async def structured(
        self,
        messages: Messages,
        schema: type[S],
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        prompts: Sequence[str] = (),
    ) -> Structured[S]:
        """An answer that is a valid ``schema``, or ``InvalidAnswer`` with the text attached."""
        ...

    def stream(
        self,
        messages: Messages,
        *,
        tools: Sequence[ChatTool] = (),
        tool_choice: Literal["auto", "required", "none"] = "auto",
        max_tokens: int | None = None,
        temperature: float | None = None,
        prompts: Sequence[str] = (),
    ) -> AsyncIterator[Piece]:
        """The answer piece by piece; the last piece has it whole."""
        ...

    async def count(self, messages: Messages) -> int:
        """How many tokens the messages are: exactly where the provider can tell, else about."""
        ...

    async def close(self) -> None:
        """Free what is held."""
        ...


def messages_of(messages: Messages) -> tuple[ChatMessage, ...]:
    """Messages from what a caller finds convenient: one text of the user, or a list of messages or dictionaries."""
    if isinstance(messages, str):
        messages = [ChatMessage(role="user", content=messages)]
    try:
        conversation = tuple(
            item if isinstance(item, ChatMessage) else ChatMessage.model_validate(dict(item)) for item in messages
        )
    except (ValidationError, TypeError, ValueError) as error:
        raise InvalidInput(
            "A message for the model is not usable.",
            hint='Give a text, or a list of {"role": "system|user|assistant|tool", "content": "..."}.',
        ) from error
    if not conversation:
        raise InvalidInput("There is no message for the model.", hint="Give a text or at least one message.")
    return conversation


PER_MESSAGE = 4
"""What the marks around a message cost in common chat templates."""


def estimate_messages(messages: Iterable[ChatMessage]) -> int:
    """Estimate the tokens of a conversation, with the marks around each message."""
    return sum(
        PER_MESSAGE + estimate(message.content) + sum(estimate(call.model_dump_json()) for call in message.tool_calls)
        for message in messages
    )
