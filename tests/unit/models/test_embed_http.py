"""Against a real server on the loopback interface, which misbehaves as it is told."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from longmind.errors import InvalidSetting, ModelError, ModelMismatch
from longmind.models import embed_http as module
from longmind.models.embed_http import HttpEmbedder

KEY = "sk-very-secret-0123456789"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
Reply = Callable[["Handler", list[str]], None]


class Handler(BaseHTTPRequestHandler):
    """Answers with the next planned reply, or properly when none is left."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.seen.append((self.path, dict(self.headers), body))
            reply = self.server.planned.pop(0) if self.server.planned else proper
        reply(self, body["input"])

    def send(self, status: int, payload: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: Any) -> None:
        """Silent."""


class Server(ThreadingHTTPServer):
    """What it was asked, and what it will answer next."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.seen: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.planned: list[Reply] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, -2.0]


def proper(handler: Handler, texts: list[str]) -> None:
    """A good answer, last text first: the index tells the order, not the place."""
    data = [{"object": "embedding", "index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
    handler.send(200, json.dumps({"object": "list", "data": data[::-1]}).encode())


def status(code: int, **headers: str) -> Reply:
    return lambda handler, _: handler.send(code, json.dumps({"error": f"bad key {KEY}"}).encode(), **headers)


def answer(payload: Any) -> Reply:
    return lambda handler, _: handler.send(200, payload if isinstance(payload, bytes) else json.dumps(payload).encode())


def hang_up(handler: Handler, _: list[str]) -> None:
    handler.close_connection = True


def drip(handler: Handler, _: list[str]) -> None:
    """A byte now and then, for longer than the whole request may take."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    handler.close_connection = True
    for _ in range(400):
        try:
            handler.wfile.write(b" ")
            handler.wfile.flush()
        except OSError:
            return
        time.sleep(0.05)


class FixedClock:
    def now(self) -> datetime:
        return NOW

    def new_id(self) -> str:
        return "id"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


class Waits(list[float]):
    """A sleep that takes no time and remembers how long it should have been."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def opened(server: Server, waits: Waits | None = None, **options: Any) -> HttpEmbedder:
    sleep = Waits() if waits is None else waits
    return HttpEmbedder(server.url, "test-model", api_key=KEY, clock=FixedClock(), sleep=sleep, **options)


async def test_asks_in_the_openai_way_and_keeps_the_order(server: Server) -> None:
    embedder = opened(server)
    texts = ["a", "bb", "ccc"]
    rows = await embedder.embed(texts)
    expected = np.array([vector(text) for text in texts])
    np.testing.assert_allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert rows.dtype == np.float32
    assert (embedder.name, embedder.dimensions) == ("http/test-model", 3)
    ((path, headers, body),) = server.seen
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body == {"model": "test-model", "input": texts}
    await embedder.close()


async def test_no_key_sends_no_header(server: Server) -> None:
    embedder = HttpEmbedder(server.url + "/", "m")
    await embedder.embed(["a"])
    assert "Authorization" not in server.seen[0][1]
    assert server.seen[0][0] == "/v1/embeddings"
    await embedder.close()


async def test_batches_by_texts_and_by_characters(server: Server) -> None:
    embedder = opened(server)
    rows = await embedder.embed([f"{number}" for number in range(300)])
    assert [len(body["input"]) for _, _, body in server.seen] == [128, 128, 44]
    assert rows.shape == (300, 3)
    server.seen.clear()
    await embedder.embed(["x" * 8_000] * 30)
    assert [len(body["input"]) for _, _, body in server.seen] == [25, 5]
    await embedder.close()


async def test_a_megabyte_is_cut(server: Server) -> None:
    embedder = opened(server, max_characters=100)
    await embedder.embed(["x" * 1_000_000])
    assert server.seen[0][2]["input"] == ["x" * 100]
    await embedder.close()


async def test_empty_texts_are_not_sent_and_give_zero_rows(server: Server) -> None:
    embedder = opened(server)
    rows = await embedder.embed(["", "word", " \n"])
    assert server.seen[0][2]["input"] == ["word"]
    assert [bool(row.any()) for row in rows] == [False, True, False]
    await embedder.close()


async def test_dimensions_are_learnt_by_an_empty_call(server: Server) -> None:
    embedder = opened(server)
    with pytest.raises(ModelError, match=r"await embedder\.embed\(\[\]\)"):
        _ = embedder.dimensions
    assert (await embedder.embed([])).shape == (0, 3)
    assert embedder.dimensions == 3
    assert (await embedder.embed([])).shape == (0, 3)
    assert len(server.seen) == 1
    await embedder.close()


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
async def test_tries_again_with_growing_waits(server: Server, code: int) -> None:
    server.planned = [status(code)] * 3
    waits = Waits()
    embedder = opened(server, waits)
    assert (await embedder.embed(["a"])).shape == (1, 3)
    assert len(server.seen) == 4
    assert [0.375 * 2**step <= wait <= 0.625 * 2**step for step, wait in enumerate(waits)] == [True] * 3
    await embedder.close()


@pytest.mark.parametrize("trouble", [hang_up, drip])
async def test_tries_again_after_a_lost_or_slow_answer(server: Server, trouble: Reply) -> None:
    server.planned = [trouble]
    embedder = opened(server, timeout=2.0)
    assert (await embedder.embed(["a"])).shape == (1, 3)
    assert len(server.seen) == 2
    await embedder.close()


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("7", 7.0),
        ("0", 0.0),
        (format_datetime(NOW + timedelta(seconds=12), usegmt=True), 12.0),
        (format_datetime(NOW - timedelta(hours=1), usegmt=True), 0.0),
    ],
)
async def test_waits_as_long_as_the_server_asks(server: Server, header: str, expected: float) -> None:
    server.planned = [status(429, Retry_After=header)]
    waits = Waits()
    embedder = opened(server, waits)
    await embedder.embed(["a"])
    assert waits == [expected]
    await embedder.close()


async def test_a_retry_after_that_says_nothing_is_passed_over(server: Server) -> None:
    server.planned = [status(503, Retry_After="soon")]
    waits = Waits()
    embedder = opened(server, waits)
    await embedder.embed(["a"])
    assert len(waits) == 1
    assert 0.375 <= waits[0] <= 0.625
    await embedder.close()


async def test_too_long_a_wait_is_told_and_not_waited(server: Server) -> None:
    server.planned = [status(429, Retry_After="3600")]
    waits = Waits()
    embedder = opened(server, waits)
    with pytest.raises(ModelError, match="status 429") as caught:
        await embedder.embed(["a"])
    assert caught.value.details == {"retry_after": 3600.0}
    assert waits == []
    await embedder.close()


async def test_gives_up_in_the_end(server: Server) -> None:
    server.planned = [status(503)] * 10
    embedder = opened(server)
    with pytest.raises(ModelError, match="4 of 4 attempts: status 503"):
        await embedder.embed(["a"])
    assert len(server.seen) == module.ATTEMPTS
    await embedder.close()


async def test_no_server_at_all_is_a_model_error(server: Server) -> None:
    embedder = HttpEmbedder("http://127.0.0.1:1/v1", "m", sleep=Waits())
    with pytest.raises(ModelError, match="ConnectError"):
        await embedder.embed(["a"])
    await embedder.close()


@pytest.mark.parametrize(
    ("code", "hint"),
    [(400, "length"), (401, "API key"), (403, "API key"), (404, "/v1"), (418, "address"), (302, "address")],
)
async def test_a_refusal_is_final(server: Server, code: int, hint: str) -> None:
    server.planned = [status(code, Location="http://127.0.0.1:1/elsewhere")]
    embedder = opened(server)
    with pytest.raises(ModelError, match=f"status {code}") as caught:
        await embedder.embed(["a"])
    assert hint in caught.value.hint
    assert len(server.seen) == 1
    await embedder.close()


@pytest.mark.parametrize(
    "payload",
    [
        b"<html>not JSON</html>",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        [],
        {},
        {"data": "text"},
        {"data": [1, 2]},
        {"data": []},
        {"data": [{"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 7, "embedding": [1.0]}]},
        {"data": [{"index": [0], "embedding": [1.0]}, {"index": {}, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1}]},
        {"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]},
        {"data": [{"index": 0, "embedding": ["a"]}, {"index": 1, "embedding": ["b"]}]},
        {"data": [{"index": 0, "embedding": 1.0}, {"index": 1, "embedding": 2.0}]},
        {"data": [{"index": 0, "embedding": [None]}, {"index": 1, "embedding": [1.0]}]},
        b'{"data": [{"embedding": [NaN]}, {"embedding": [Infinity]}]}',
    ],
)
async def test_a_wrong_answer_is_a_clear_error(server: Server, payload: Any) -> None:
    server.planned = [answer(payload)]
    embedder = opened(server)
    with pytest.raises(ModelError, match="not a list of embeddings"):
        await embedder.embed(["a", "b"])
    await embedder.close()


async def test_an_answer_without_indexes_is_taken_in_its_order(server: Server) -> None:
    server.planned = [answer({"data": [{"embedding": [2, 0]}, {"embedding": [0, 3]}, {"embedding": [0, 0]}]})]
    embedder = opened(server)
    assert (await embedder.embed(["a", "b", "c"])).tolist() == [[1, 0], [0, 1], [0, 0]]
    await embedder.close()


async def test_other_dimensions_than_before_are_refused(server: Server) -> None:
    embedder = opened(server)
    await embedder.embed(["a"])
    server.planned = [answer({"data": [{"embedding": [1.0, 2.0]}]})]
    with pytest.raises(ModelMismatch, match="2 dimensions instead of 3"):
        await embedder.embed(["a"])
    declared = opened(server, dimensions=768)
    with pytest.raises(ModelMismatch, match="3 dimensions instead of 768"):
        await declared.embed(["a"])
    await embedder.close()
    await declared.close()


async def test_works_after_close(server: Server) -> None:
    embedder = opened(server)
    await embedder.embed(["a"])
    await embedder.close()
    await embedder.close()
    assert (await embedder.embed(["a"])).shape == (1, 3)
    await embedder.close()


async def test_the_key_is_shown_nowhere(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    embedder = opened(server)
    told = [repr(embedder), str(embedder)]
    with caplog.at_level(logging.DEBUG):
        for plan in ([status(401)], [status(500)] * 4, [answer(f"echo {KEY}".encode())], []):
            server.planned = list(plan)
            try:
                await embedder.embed(["text"])
            except ModelError as error:
                told += [repr(error), str(error), str(error.as_dict()), str(error.__cause__)]
    told.append(repr(embedder._client))
    assert len(told) > 8
    assert "/v1/embeddings" in caplog.text
    assert KEY not in "\n".join(told) + caplog.text
    await embedder.close()


@pytest.mark.parametrize("key", ["", "with space", "line\nbreak", "ключ", "tab\t", "nul\x00"])
def test_a_key_that_cannot_be_sent_is_refused_unshown(key: str) -> None:
    with pytest.raises(InvalidSetting, match="API key") as caught:
        HttpEmbedder("http://localhost/v1", "m", api_key=key)
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost/v1",
        "ftp://host/v1",
        "http://",
        "http://user:hidden@host/v1",
        "http://host/v1?key=hidden",
        "http://host:99999/v1",
        "http://[::1/v1",
        "http://host/v1#model",
    ],
)
def test_an_unusable_address_is_refused_unshown(url: str) -> None:
    with pytest.raises(InvalidSetting, match="not usable") as caught:
        HttpEmbedder(url, "m")
    assert "hidden" not in str(caught.value)
