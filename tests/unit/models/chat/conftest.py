"""A real server on the loopback interface that speaks the OpenAI and the Anthropic protocol and misbehaves as told.

Tests reach it through the real SDKs. What it will do next is planned with ``server.plan``; when nothing is planned it
answers properly.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import SecretStr

from longmind.models.chat_anthropic import AnthropicProvider
from longmind.models.chat_model import ChatModel
from longmind.models.chat_openai import OpenAiProvider
from longmind.testing import FakeClock

KEY = "sk-canary-0123456789abcdef"
FINISH = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "content_filter": "refusal"}


@dataclass
class Say:
    """A proper answer in whichever protocol was asked, whole or as a stream."""

    text: str = "Hello there."
    calls: tuple[tuple[str, str], ...] = ()
    """Name and arguments of the tools it calls."""
    finish: str = "stop"
    used: tuple[int, int] = (11, 7)
    cut_after: int | None = None
    """End the stream after so many events, without saying that it ends."""
    chunk_pause: float = 0.0

    def __call__(self, handler: Handler, body: dict[str, Any]) -> None:
        anthropic = handler.path.endswith("/messages")
        if body.get("stream"):
            handler.stream(anthropic_events(self) if anthropic else openai_events(self), self)
        else:
            handler.send(200, anthropic_answer(self) if anthropic else openai_answer(self))


def openai_answer(say: Say) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": say.text}
    if say.calls:
        message["tool_calls"] = [
            {"id": f"call-{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for place, (name, arguments) in enumerate(say.calls)
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "test-model-2026",
        "choices": [{"index": 0, "message": message, "finish_reason": say.finish}],
        "usage": {
            "prompt_tokens": say.used[0],
            "completion_tokens": say.used[1],
            "total_tokens": sum(say.used),
            "prompt_tokens_details": {"cached_tokens": 3},
        },
    }


def openai_events(say: Say) -> list[str]:
    def event(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        told = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "test-model-2026"}
        return "data: " + json.dumps(told | {"choices": [choice]}) + "\n\n"

    events = [event({"content": word}) for word in say.text.split(" ")] if say.text else []
    for place, (name, arguments) in enumerate(say.calls):
        half = len(arguments) // 2
        first = {"index": place, "id": f"call-{place}", "function": {"name": name, "arguments": arguments[:half]}}
        rest = {"index": place, "function": {"arguments": arguments[half:]}}
        events += [event({"tool_calls": [first]}), event({"tool_calls": [rest]})]
    events.append(event({}, say.finish))
    usage = {"prompt_tokens": say.used[0], "completion_tokens": say.used[1], "total_tokens": sum(say.used)}
    last = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage}
    return [*events, "data: " + json.dumps(last) + "\n\n", "data: [DONE]\n\n"]


def anthropic_answer(say: Say) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": say.text}] if say.text else []
    content += [
        {"type": "tool_use", "id": f"call-{place}", "name": name, "input": json.loads(arguments)}
        for place, (name, arguments) in enumerate(say.calls)
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "test-model-2026",
        "content": content,
        "stop_reason": FINISH[say.finish],
        "stop_sequence": None,
        "usage": {"input_tokens": say.used[0] - 3, "output_tokens": say.used[1], "cache_read_input_tokens": 3},
    }


def anthropic_events(say: Say) -> list[str]:
    def event(type: str, **told: Any) -> str:
        return f"event: {type}\ndata: " + json.dumps({"type": type, **told}) + "\n\n"

    start = anthropic_answer(say) | {"content": [], "stop_reason": None}
    start["usage"] = {"input_tokens": say.used[0], "output_tokens": 1}
    events = [event("message_start", message=start), event("ping")]
    events.append(event("content_block_start", index=0, content_block={"type": "text", "text": ""}))
    events += [
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": word})
        for word in say.text.split(" ")
    ]
    events.append(event("content_block_stop", index=0))
    for place, (name, arguments) in enumerate(say.calls, start=1):
        block = {"type": "tool_use", "id": f"call-{place - 1}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": arguments}
        events.append(event("content_block_start", index=place, content_block=block))
        events.append(event("content_block_delta", index=place, delta=delta))
        events.append(event("content_block_stop", index=place))
    end = {"stop_reason": FINISH[say.finish], "stop_sequence": None}
    events.append(event("message_delta", delta=end, usage={"output_tokens": say.used[1]}))
    return [*events, event("message_stop")]


Reply = Callable[["Handler", dict[str, Any]], None]


class Handler(BaseHTTPRequestHandler):
    """Does the next planned thing."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            self.server.now += 1
            self.server.most = max(self.server.most, self.server.now)
            counting = self.path.endswith("/count_tokens")
            reply = self.server.planned.pop(0) if self.server.planned and not counting else Say()
        try:
            if counting:
                self.send(200, {"input_tokens": 42})
            else:
                reply(self, body)
        except OSError:
            self.close_connection = True  # the client went away
        finally:
            with self.server.lock:
                self.server.now -= 1

    def do_GET(self) -> None:
        if self.server.listing != 200:
            self.send(self.server.listing, {"error": {"message": f"bad key {KEY}", "type": KEY}})
            return
        names = [{"id": name, "object": "model", "type": "model"} for name in ("zeta", "alpha")]
        self.send(200, {"object": "list", "data": names, "has_more": False})

    def send(self, status: int, payload: Any, type: str = "application/json", **headers: str) -> None:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, events: list[str], say: Say) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in events[: say.cut_after]:
            self.wfile.write(event.encode())
            self.wfile.flush()
            time.sleep(say.chunk_pause)

    def log_message(self, *_: Any) -> None:
        """Silent."""


class Server(ThreadingHTTPServer):
    """What it was asked, what it will do next, and how many asked at once."""

    daemon_threads = True
    Say = Say

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.seen: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.planned: list[Reply] = []
        self.now = self.most = 0
        self.listing = 200
        """The status with which it tells its models."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests are about."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [body for _, _, body in self.seen]

    def plan(self, *replies: Reply | str) -> None:
        """What comes next, in order; a text is said properly."""
        self.planned += [Say(reply) if isinstance(reply, str) else reply for reply in replies]

    @staticmethod
    def status(code: int, payload: Any = None, **headers: str) -> Reply:
        """A refusal, by default one that repeats the key, as some servers do."""
        told = {"error": {"message": f"bad key {KEY}", "type": KEY, "code": None}} if payload is None else payload
        return lambda handler, _: handler.send(code, told, **headers)

    @staticmethod
    def raw(payload: bytes, type: str = "application/json", **headers: str) -> Reply:
        return lambda handler, _: handler.send(200, payload, type, **headers)

    @staticmethod
    def slow(seconds: float) -> Reply:
        def reply(handler: Handler, body: dict[str, Any]) -> None:
            time.sleep(seconds)
            Say()(handler, body)

        return reply

    @staticmethod
    def hang_up(handler: Handler, _: dict[str, Any]) -> None:
        handler.close_connection = True

    @staticmethod
    def half(handler: Handler, _: dict[str, Any]) -> None:
        """Promises more bytes than it sends."""
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"id": ')
        handler.close_connection = True

    @staticmethod
    def huge(megabytes: int) -> Reply:
        def reply(handler: Handler, body: dict[str, Any]) -> None:
            streamed = body.get("stream")
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
            handler.send_header("Connection", "close")
            handler.end_headers()
            handler.close_connection = True
            for _ in range(megabytes):
                handler.wfile.write(b" " * 1024 * 1024)

        return reply


class Waits(list[float]):
    """A sleep that takes no time and remembers how long it should have been."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@contextmanager
def serving() -> Iterator[Server]:
    """The server at work in a thread of its own."""
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def key() -> str:
    return KEY


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def opened(server: Server, waits: Waits, protocol: str) -> AsyncIterator[Callable[..., ChatModel]]:
    """A model behind the server, in either protocol; options as ``ChatModel`` has them."""
    made: list[ChatModel] = []

    def open(timeout: float = 10.0, **options: Any) -> ChatModel:
        told: dict[str, Any] = {"api_key": SecretStr(KEY), "timeout": timeout}
        provider: Any
        if protocol == "openai":
            provider = OpenAiProvider("test-model", base_url=f"{server.address}/v1", **told)
        else:
            provider = AnthropicProvider("test-model", base_url=server.address, **told)
        made.append(ChatModel(provider, **({"sleep": waits, "clock": FakeClock()} | options)))
        return made[-1]

    yield open
    for chat in made:
        await chat.close()
