"""Rerankers: the scale of their answers, and a server that answers well or badly."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from longmind import Longmind
from longmind.errors import InvalidSetting, ModelError
from longmind.models.rerank_http import HttpReranker
from longmind.recall.rerank import LocalReranker, Reranker, shares


async def test_shares_run_from_0_to_1() -> None:
    reranker = LocalReranker(lambda query, texts: [float(len(t)) for t in texts], name="length")
    assert await shares(reranker, "q", ["a", "bbb", "bb"]) == [0.0, 1.0, 0.5]
    assert await shares(reranker, "q", ["a", "b"]) == [0.0, 0.0]
    assert await shares(reranker, "q", []) == []


async def test_a_store_is_opened_with_one() -> None:
    prefers = LocalReranker(lambda query, texts: [float("tea" in text) for text in texts])
    said = ["Coffee is what she drinks, coffee every morning.", "She drinks tea."]
    first = {}
    for name, reranker in (("without", None), ("with", prefers)):
        async with Longmind.open("memory:", embedder="none", reranker=reranker) as longmind:
            mem = longmind.agent("a")
            for text in said:
                await mem.remember(text)
            first[name] = (await mem.recall("what coffee does she drink every morning"))[0].memory.content
    assert first == {"without": said[0], "with": said[1]}


@pytest.mark.parametrize("answer", [[], [1.0], [float("nan"), 1.0]])
async def test_a_wrong_answer_is_an_error_that_names_the_reranker(answer: Sequence[float]) -> None:
    with pytest.raises(ModelError, match="odd"):
        await shares(LocalReranker(lambda query, texts: answer, name="odd"), "q", ["a", "b"])


class Handler(BaseHTTPRequestHandler):
    """Answers with what the server was told to answer."""

    def do_POST(self) -> None:
        server: Any = self.server
        server.seen.append(
            (self.path, dict(self.headers), json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        )
        status, payload = server.answer
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Silent."""


@pytest.fixture
def server() -> Iterator[Any]:
    made: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.seen, made.answer = [], (200, {})
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def address(server: Any) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}/v1"


async def test_a_server_is_asked_and_its_scores_are_put_in_order(server: Any) -> None:
    server.answer = (200, {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]})
    reranker = HttpReranker(address(server), "small", api_key="secret-key")
    assert isinstance(reranker, Reranker)
    assert await reranker.rerank("q", ["a", "b"]) == [0.1, 0.9]
    assert await reranker.rerank("q", []) == []
    path, headers, body = server.seen[0]
    assert (path, headers["Authorization"]) == ("/v1/rerank", "Bearer secret-key")
    assert body == {"model": "small", "query": "q", "documents": ["a", "b"], "top_n": 2}
    assert "secret" not in repr(reranker)
    await reranker.close()


@pytest.mark.parametrize(
    "answer",
    [
        (500, {}),
        (401, {"error": "secret-key"}),
        (200, b"not json"),
        (200, []),
        (200, {"results": [{"index": 0, "relevance_score": 1}]}),
        (200, {"results": [{"index": 0, "relevance_score": "high"}, {"index": 1, "relevance_score": 1}]}),
    ],
)
async def test_a_bad_answer_is_a_clear_error_without_the_key(server: Any, answer: tuple[int, Any]) -> None:
    server.answer = answer
    reranker = HttpReranker(address(server), "small", api_key="secret-key")
    with pytest.raises(ModelError) as caught:
        await reranker.rerank("q", ["a", "b"])
    assert "secret" not in str(caught.value)
    await reranker.close()


async def test_no_server_is_a_clear_error() -> None:
    reranker = HttpReranker("http://127.0.0.1:9/v1", "small", timeout=2.0)
    with pytest.raises(ModelError, match="no usable answer"):
        await reranker.rerank("q", ["a"])
    await reranker.close()


def test_an_address_with_a_password_is_refused() -> None:
    with pytest.raises(InvalidSetting):
        HttpReranker("http://user:pass@host/v1", "small")
