"""The interface of a language model: messages in, an answer and its cost out.

There are two protocols. A ``Provider`` sends one request to one kind of server and does not retry; each provider has a
file of its own. ``Chat`` is what the rest of Longmind uses. ``ChatModel`` implements it on top of any provider and adds
retries, deadlines, budgets and structured answers.

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
"""Why the model stopped: finished, token limit reached, tool calls, content filter, or another reason."""
Form = Literal["schema", "json"]
"""How a server can constrain an answer: to a JSON schema, or to any valid JSON."""
S = TypeVar("S", bound=BaseModel)


def _clean(text: str) -> str:
    """Return a text that can be sent and stored: lone surrogates become ``?``, and NUL is removed."""
    return (
        text if text.isascii() and "\x00" not in text else text.encode("utf-8", "replace").decode().replace("\x00", "")
    )


CleanText = Annotated[str, AfterValidator(_clean)]


class ToolCall(Model):
    """A model's request to run a tool."""

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
    content: CleanText = ""
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None


Messages: TypeAlias = "str | Sequence[ChatMessage | Mapping[str, Any]]"


class Usage(Model):
    """Tokens, requests, and what they cost in US dollars; the cost is None when no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Input tokens that the server read from its prompt cache."""
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
    """A model's answer and its cost."""

    text: CleanText = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    model: str = ""
    """The model that the server reports; often a dated version of the one requested."""
    usage: Usage = Usage()
    cached: bool = False
    """Whether it came from the answer cache and cost nothing."""
    prompts: tuple[str, ...] = ()
    """The prompt files it came from, each with its version."""


class Piece(Model):
    """A part of a streamed answer. The last piece has the whole answer."""

    text: CleanText = ""
    answer: Answer | None = None


class Request(Model):
    """One request to a provider."""

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
        """Return a hash that is equal for equal requests to the same model."""
        return hashlib.sha256(f"{model}\n{self.model_dump_json()}".encode()).hexdigest()


class Provider(Protocol):
    """A way to reach a model. It tries once, and raises ``resilience.Transient`` for what a retry may solve."""

    @property
    def name(self) -> str:
        """The identity recorded with what the model produced, such as ``openai/gpt-5-mini``."""
        ...

    @property
    def system(self) -> str:
        """The provider's name in the GenAI semantic conventions: ``openai``, ``anthropic``."""
        ...

    @property
    def address(self) -> str:
        """The host and port of the server, or an empty text."""
        ...

    @property
    def forms(self) -> tuple[Form, ...]:
        """The constraints on answers that the server may support, the strongest first."""
        ...

    async def answer(self, request: Request) -> Answer: ...

    def pieces(self, request: Request) -> AsyncIterator[Piece]: ...

    async def close(self) -> None: ...


@runtime_checkable
class Catalogue(Protocol):
    """A provider that can list its models."""

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
        """Return the model's answer: text, or tool calls."""
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
        """Return an answer that validates as ``schema``; raise ``InvalidAnswer``, with the text, if there is none."""
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
        """Yield the answer in pieces; the last piece has the whole answer."""
        ...

    async def count(self, messages: Messages) -> int:
        """Return the number of tokens of the messages: exact if the provider can count, else an estimate."""
        ...

    async def close(self) -> None:
        """Release connections and memory."""
        ...


def messages_of(messages: Messages) -> tuple[ChatMessage, ...]:
    """Convert a text of the user, or a list of messages or dictionaries, to messages."""
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
"""Tokens that common chat templates add to each message."""


def estimate_messages(messages: Iterable[ChatMessage]) -> int:
    """Estimate the tokens of a conversation, including what the chat template adds."""
    return sum(
        PER_MESSAGE + estimate(message.content) + sum(estimate(call.model_dump_json()) for call in message.tool_calls)
        for message in messages
    )
