"""The provider for Claude, and for any server with the same protocol, through the ``anthropic`` SDK.

The protocol no longer has a temperature, and can constrain an answer only by a JSON schema. The SDK's own tracing is
off: it would duplicate ours.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field, SecretStr

from longmind.clock import Clock, SystemClock
from longmind.models.answer_json import tool_call
from longmind.models.chat import Answer, ChatMessage, Finish, Form, Piece, Request, ToolCall, Usage
from longmind.models.schemas import closed
from longmind.models.wire import Wire, WireModel, to_plain_data
from longmind.types import Json

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

ANTHROPIC = "https://api.anthropic.com"
MAX_TOKENS = 4096
"""The protocol requires a limit; this is the default."""
_FINISH: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tools",
    "refusal": "filter",
}


class _WireUsage(WireModel):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Block(WireModel):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Json = Field(default_factory=dict)
    partial_json: str = ""


class _Reply(WireModel):
    model: str = ""
    content: list[_Block] = Field(default_factory=list)
    stop_reason: str | None = None
    usage: _WireUsage = _WireUsage()


class _Delta(WireModel):
    type: str = ""
    text: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Event(WireModel):
    type: str
    index: int = 0
    message: _Reply = _Reply()
    content_block: _Block | None = None
    delta: _Delta = _Delta()
    usage: _WireUsage | None = None


class AnthropicProvider:
    """``POST <base_url>/v1/messages``."""

    forms: tuple[Form, ...] = ("schema",)

    def __init__(
        self,
        model: str,
        *,
        base_url: str = ANTHROPIC,
        api_key: SecretStr | None = None,
        timeout: float = 60.0,
        clock: Clock | None = None,
    ) -> None:
        self._wire = Wire(
            "anthropic",
            "anthropic",
            base_url.rstrip("/"),
            model,
            api_key,
            header="x-api-key",
            timeout=timeout,
            clock=clock or SystemClock(),
        )
        self.system = "anthropic"
        self.name = f"anthropic/{model}"
        self._model = model
        self._client: AsyncAnthropic | None = None

    @property
    def address(self) -> str:
        return self._wire.address

    def __repr__(self) -> str:
        return f"AnthropicProvider({self._model!r}, base_url={self._wire.base_url!r})"

    async def answer(self, request: Request) -> Answer:
        client = await self._open_client()
        with self._wire.translated_errors():
            raw = await client.messages.create(**await self._body(request))
            reply = _Reply.model_validate(to_plain_data(raw))
            if reply.stop_reason is None and not reply.content:
                raise self._wire.malformed("it has no content")
            usage = _usage([reply.usage])
            return Answer(
                text="".join(block.text for block in reply.content if block.type == "text"),
                tool_calls=tuple(
                    ToolCall(id=block.id, name=block.name, arguments=block.input)
                    for block in reply.content
                    if block.type == "tool_use"
                ),
                finish=_FINISH.get(reply.stop_reason or "", "other"),
                model=reply.model,
                usage=usage,
            )

    async def pieces(self, request: Request) -> AsyncGenerator[Piece, None]:
        client = await self._open_client()
        with self._wire.translated_errors():
            stream: Any = await client.messages.create(**await self._body(request), stream=True)
        streamed = _StreamedAnswer()
        try:
            with self._wire.translated_errors():
                async for event in stream:
                    text = streamed.add(_Event.model_validate(to_plain_data(event)))
                    if text:
                        yield Piece(text=text)
            if not streamed.ended:
                raise self._wire.stream_cut()
            yield Piece(answer=streamed.answer())
        finally:
            await stream.close()

    async def models(self) -> list[str]:
        client = await self._open_client()
        with self._wire.translated_errors():
            page = await client.models.list(limit=1000)
            return sorted(str(model.id) for model in page.data or [])

    async def count(self, messages: Sequence[ChatMessage]) -> int:
        client = await self._open_client()
        system, rest = _messages(messages)
        system_field: dict[str, Any] = {"system": system} if system else {}
        with self._wire.translated_errors():
            counted = await client.messages.count_tokens(model=self._model, messages=rest, **system_field)
            return int(counted.input_tokens)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _open_client(self) -> AsyncAnthropic:
        if self._client is None:
            sdk = await self._wire.package()
            self._client = self._client or sdk.AsyncAnthropic(**self._wire.options(), open_telemetry=False)
        return self._client

    async def _body(self, request: Request) -> dict[str, Any]:
        system, messages = _messages(request.messages)
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages,
            "max_tokens": request.max_tokens or MAX_TOKENS,
        }
        if system:
            body["system"] = system
        if request.tools:
            body["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
                for tool in request.tools
            ]
            body["tool_choice"] = {"type": "any" if request.tool_choice == "required" else request.tool_choice}
        if request.form == "schema" and request.shape is not None:
            sdk = await self._wire.package()
            shape = sdk.transform_schema(closed(request.shape))  # rules the API does not know go into descriptions
            body["output_config"] = {"format": {"type": "json_schema", "schema": shape}}
        return body


class _StreamedAnswer:
    """An answer assembled from a stream."""

    def __init__(self) -> None:
        self.ended = False
        self._blocks: dict[int, _Block] = {}
        self._used: list[_WireUsage] = []
        self._model = ""
        self._stop = ""

    def add(self, event: _Event) -> str:
        """Add an event; return its new text."""
        match event.type:
            case "message_start":
                self._model = event.message.model
                self._used.append(event.message.usage)
            case "content_block_start" if event.content_block is not None:
                self._blocks[event.index] = event.content_block
                return event.content_block.text
            case "content_block_delta":
                block = self._blocks.setdefault(event.index, _Block(type="text"))
                block.text += event.delta.text
                block.partial_json += event.delta.partial_json
                return event.delta.text
            case "message_delta":
                self._stop = event.delta.stop_reason or self._stop
                if event.usage is not None:
                    self._used.append(event.usage)
            case "message_stop":
                self.ended = True
        return ""

    def answer(self) -> Answer:
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        usage = _usage(self._used)
        return Answer(
            text="".join(block.text for block in blocks if block.type == "text"),
            tool_calls=tuple(
                tool_call(block.id, block.name, block.partial_json, usage)
                for block in blocks
                if block.type == "tool_use"
            ),
            finish=_FINISH.get(self._stop, "other"),
            model=self._model,
            usage=usage,
        )


def _usage(counts: Sequence[_WireUsage]) -> Usage:
    """Return the usage from the last value of each counter: a stream repeats counters as they grow.

    Cached tokens are not part of ``input_tokens`` in this protocol, so they are added.
    """

    def last(name: str) -> int:
        return next((value for used in reversed(counts) if (value := getattr(used, name)) is not None), 0)

    cached = last("cache_read_input_tokens")
    return Usage(
        input_tokens=last("input_tokens") + cached + last("cache_creation_input_tokens"),
        output_tokens=last("output_tokens"),
        cached_tokens=cached,
        requests=1,
    )


def _messages(messages: Sequence[ChatMessage]) -> tuple[str, list[Any]]:
    """Return the system text and the other messages, merged so that user and assistant alternate as required."""
    system = "\n\n".join(message.content for message in messages if message.role == "system" and message.content)
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            continue
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _blocks(message)
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    return system, turns


def _blocks(message: ChatMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [{"type": "tool_result", "tool_use_id": message.call_id or "", "content": message.content}]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": message.content}] if message.content.strip() else []
    return blocks + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in message.tool_calls
    ]
