"""The provider for OpenAI and every server with its protocol (Ollama, vLLM, llama.cpp ...), through the ``openai`` SDK.

Servers differ in the parameters they accept. A parameter that a server refuses by name (``temperature`` with some
models, ``max_tokens`` with others) is left out from then on.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import Field, SecretStr

from longmind.clock import Clock, SystemClock
from longmind.errors import ModelError
from longmind.models.answer_json import tool_call
from longmind.models.chat import Answer, ChatMessage, Finish, Form, Piece, Request, ToolCall, Usage
from longmind.models.schemas import closed, strict
from longmind.models.wire import Wire, WireModel, to_plain_data

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OPENAI = "https://api.openai.com/v1"
_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tools",
    "function_call": "tools",
    "content_filter": "filter",
}
_OPTIONAL = ("temperature", "max_tokens", "max_completion_tokens", "stream_options")


class _Function(WireModel):
    name: str | None = None
    arguments: str | None = None


class _Call(WireModel):
    index: int = 0
    id: str | None = None
    function: _Function = _Function()


class _WireMessage(WireModel):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Cached(WireModel):
    cached_tokens: int | None = None


class _WireUsage(WireModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _Cached | None = None
    cost: float | None = None

    def usage(self) -> Usage:
        return Usage(
            input_tokens=self.prompt_tokens,
            output_tokens=self.completion_tokens,
            cached_tokens=(self.prompt_tokens_details and self.prompt_tokens_details.cached_tokens) or 0,
            requests=1,
            cost=self.cost,
        )


class _Choice(WireModel):
    message: _WireMessage = _WireMessage()
    delta: _WireMessage = _WireMessage()
    finish_reason: str | None = None


class _Reply(WireModel):
    """A whole answer, or one chunk of a stream."""

    model: str | None = None
    choices: list[_Choice] = Field(default_factory=list)
    usage: _WireUsage | None = None


class OpenAiProvider:
    """``POST <base_url>/chat/completions``."""

    forms: tuple[Form, ...] = ("schema", "json")

    def __init__(
        self,
        model: str,
        *,
        base_url: str = OPENAI,
        api_key: SecretStr | None = None,
        timeout: float = 60.0,
        clock: Clock | None = None,
        name: str | None = None,
    ) -> None:
        self._wire = Wire(
            "openai", "openai", base_url.rstrip("/"), model, api_key, timeout=timeout, clock=clock or SystemClock()
        )
        self._hosted = self._wire.base_url == OPENAI
        self.system = "openai"
        self.name = name or f"openai/{model}"
        self._model = model
        self._unsupported: set[str] = set()
        self._client: AsyncOpenAI | None = None

    @property
    def address(self) -> str:
        return self._wire.address

    def __repr__(self) -> str:
        return f"OpenAiProvider({self._model!r}, base_url={self._wire.base_url!r})"

    async def answer(self, request: Request) -> Answer:
        raw = await self._create(self._body(request))
        with self._wire.translated_errors():
            reply = _Reply.model_validate(to_plain_data(raw))
            if not reply.choices:
                raise self._wire.malformed("it has no choice", json.dumps(to_plain_data(raw), default=str))
            choice, usage = reply.choices[0], reply.usage.usage() if reply.usage else Usage(requests=1)
            message = choice.message
            return Answer(
                text=message.content or message.refusal or "",
                tool_calls=_calls(message.tool_calls or [], usage),
                finish="filter" if message.refusal else _FINISH.get(choice.finish_reason or "", "other"),
                model=reply.model or "",
                usage=usage,
            )

    async def pieces(self, request: Request) -> AsyncGenerator[Piece, None]:
        body = self._body(request) | {"stream": True}
        if "stream_options" not in self._unsupported:
            body["stream_options"] = {"include_usage": True}
        stream = await self._create(body)
        if not hasattr(stream, "__aiter__"):
            raise self._wire.malformed("it is not a stream")
        streamed = _StreamedAnswer()
        try:
            with self._wire.translated_errors():
                async for chunk in stream:
                    text = streamed.add(_Reply.model_validate(to_plain_data(chunk)))
                    if text:
                        yield Piece(text=text)
            if streamed.finish is None:
                raise self._wire.stream_cut()
            yield Piece(answer=streamed.answer())
        finally:
            await stream.close()

    async def models(self) -> list[str]:
        client = await self._open_client()
        with self._wire.translated_errors():
            page = await client.models.list()
            return sorted(str(model.id) for model in page.data or [])

    async def count_by_llamacpp(self, messages: Sequence[ChatMessage]) -> int:
        """Return the exact number of tokens, by an endpoint that only llama.cpp's server has."""
        client = await self._open_client()
        body = {"messages": [_message(message) for message in messages]}
        with self._wire.translated_errors():
            counted = await client.post("/chat/completions/input_tokens", body=body, cast_to=object)
            if not isinstance(counted, dict) or not isinstance(counted.get("input_tokens"), int):
                raise self._wire.malformed("it has no number of tokens")
            return int(counted["input_tokens"])

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _open_client(self) -> AsyncOpenAI:
        if self._client is None:
            sdk = await self._wire.package()
            self._client = self._client or sdk.AsyncOpenAI(**self._wire.options())
        return self._client

    async def _create(self, body: dict[str, Any]) -> Any:
        """Send a request; drop optional parameters that the server refuses by name, and remember them."""
        client = await self._open_client()
        while True:
            try:
                with self._wire.translated_errors():
                    return await client.chat.completions.create(**body)
            except ModelError as error:
                unwanted = next((name for name in error.details.get("said", ()) if name in _OPTIONAL), None)
                if unwanted is None or unwanted not in body:
                    raise
                self._unsupported.add(unwanted)
                value = body.pop(unwanted)
                if unwanted == "max_tokens" and "max_completion_tokens" not in self._unsupported:
                    body["max_completion_tokens"] = value

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._model, "messages": [_message(m) for m in request.messages]}
        limit = "max_completion_tokens" if self._hosted or "max_tokens" in self._unsupported else "max_tokens"
        if request.max_tokens is not None and limit not in self._unsupported:
            body[limit] = request.max_tokens
        if request.temperature is not None and "temperature" not in self._unsupported:
            body["temperature"] = request.temperature
        if request.tools:
            body["tools"] = [{"type": "function", "function": tool.model_dump()} for tool in request.tools]
            body["tool_choice"] = request.tool_choice
        if request.form == "schema" and request.shape is not None:
            shape = strict(request.shape) if self._hosted else closed(request.shape)
            name = re.sub(r"[^A-Za-z0-9_-]", "_", str(request.shape.get("title", "answer")))[:64]
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": name, "schema": shape, "strict": True},
            }
        elif request.form == "json":
            body["response_format"] = {"type": "json_object"}
        return body


class _StreamedAnswer:
    """An answer assembled from a stream."""

    def __init__(self) -> None:
        self.finish: Finish | None = None
        self._text: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._model = ""
        self._usage = Usage(requests=1)

    def add(self, chunk: _Reply) -> str:
        """Add a chunk; return its new text."""
        self._model = chunk.model or self._model
        if chunk.usage is not None:
            self._usage = chunk.usage.usage()
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        if choice.finish_reason is not None:
            self.finish = _FINISH.get(choice.finish_reason, "other")
        for part in choice.delta.tool_calls or []:
            call = self._calls.setdefault(part.index, _Call(function=_Function(name="", arguments="")))
            call.id = call.id or part.id
            call.function.name = call.function.name or part.function.name
            call.function.arguments = (call.function.arguments or "") + (part.function.arguments or "")
        text = choice.delta.content or choice.delta.refusal or ""
        self._text.append(text)
        return text

    def answer(self) -> Answer:
        calls = _calls([self._calls[index] for index in sorted(self._calls)], self._usage)
        return Answer(
            text="".join(self._text),
            tool_calls=calls,
            finish=self.finish or "other",
            model=self._model,
            usage=self._usage,
        )


def _calls(calls: Sequence[_Call], usage: Usage) -> tuple[ToolCall, ...]:
    return tuple(
        tool_call(call.id or f"call_{place}", call.function.name or "", call.function.arguments or "", usage)
        for place, call in enumerate(calls)
    )


def _message(message: ChatMessage) -> dict[str, Any]:
    payload: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        payload["content"] = message.content or None
        payload["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.call_id is not None:
        payload["tool_call_id"] = message.call_id
    return payload
