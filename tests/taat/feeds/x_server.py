"""A loopback server that speaks as much of X's API v2 as the feed asks for, and misbehaves as it is told."""

import json
import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "AAAAsecretAAAA"
CUT, END, HALF, KEEP_ALIVE = "cut", "end", "half", "keep-alive"


def tweet(number: int, author: str = "1", text: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a post as X writes it."""
    return {
        "id": str(number),
        "text": text if text is not None else f"post {number}",
        "author_id": author,
        "created_at": "2026-03-02T15:04:00.000Z",
        "edit_history_tweet_ids": [str(number)],
        **more,
    }


@dataclass
class X:
    """What the server has, and what it will do."""

    address: str = ""
    users: dict[str, str] = field(default_factory=lambda: {"1": "Ann", "2": "bob"})
    timeline: list[dict[str, Any]] = field(default_factory=list)
    rules: list[dict[str, str]] = field(default_factory=list)
    failures: dict[str, deque[tuple[int, dict[str, str], bytes]]] = field(default_factory=dict)
    """For a path, the answers that come before a right one: status, headers, body."""
    connections: deque[list[Any]] = field(default_factory=deque)
    """What each connection of the stream brings; one after the last stays open and brings nothing."""
    page: int = 100
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    stopped: threading.Event = field(default_factory=threading.Event)

    def fail(self, path: str, status: int, body: bytes = b"{}", **headers: str) -> None:
        """Let the next request for a path fail."""
        answer = (status, {name.replace("_", "-"): value for name, value in headers.items()}, body)
        self.failures.setdefault(path, deque()).append(answer)


@contextmanager
def x_server() -> Iterator[X]:
    """Run the server."""
    x = X()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"x": x}))
    server.daemon_threads = True
    x.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield x
    finally:
        x.stopped.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    x: X
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        path = address.path
        if self._failed(path, query):
            return
        if path == "/2/users/by":
            names = query["usernames"].lower().split(",")
            users = [{"id": key, "username": name} for key, name in self.x.users.items() if name.lower() in names]
            self._answer(200, {"data": users})
        elif path.endswith("/rules"):
            self._answer(200, {"data": self.x.rules, "meta": {}})
        elif path == "/2/tweets/search/stream":
            self._stream()
        else:
            self._timeline(path.split("/")[3], query)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._failed("POST " + self.path, body):
            return
        gone = set(body.get("delete", {}).get("ids", ()))
        self.x.rules = [rule for rule in self.x.rules if rule["id"] not in gone]
        self.x.rules += [{"id": str(len(self.x.rules) + 100 + n), **rule} for n, rule in enumerate(body.get("add", ()))]
        self._answer(201, {"meta": {}})

    def _failed(self, path: str, query: dict[str, str]) -> bool:
        self.x.tokens.add(self.headers["Authorization"])
        self.x.requests.append((path, query))
        self.x.counts[path] += 1
        if not (waiting := self.x.failures.get(path)):
            return False
        status, headers, body = waiting.popleft()
        self._send(status, headers, body)
        return True

    def _timeline(self, author: str, query: dict[str, str]) -> None:
        since, skipped = int(query.get("since_id", 0)), int(query.get("pagination_token", 0))
        posts = [post for post in self.x.timeline if post["author_id"] == author and int(post["id"]) > since]
        posts.sort(key=lambda post: int(post["id"]), reverse=True)
        size = min(self.x.page, int(query["max_results"]))
        meta: dict[str, Any] = {"result_count": len(posts[skipped : skipped + size])}
        if len(posts) > skipped + size:
            meta["next_token"] = str(skipped + size)
        self._answer(200, {"data": posts[skipped : skipped + size], "meta": meta} if posts else {"meta": meta})

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        items = self.x.connections.popleft() if self.x.connections else []
        try:
            self._bring(items)
        except OSError:  # the feed was left; what is written to the timeline is written nevertheless
            for item in items:
                if callable(item):
                    item()
            self.close_connection = True

    def _bring(self, items: list[Any]) -> None:
        while items:
            item = items.pop(0)
            if item == KEEP_ALIVE:
                self._chunk(b"\r\n")
            elif item == HALF:
                self._chunk(b'{"data": {"id": "99')
            elif item == END:
                self._chunk(b"")
                return
            elif item == CUT:
                self.close_connection = True
                return
            elif isinstance(item, dict):
                self._chunk(
                    json.dumps({"data": item, "matching_rules": [{"id": "1", "tag": "taat"}]}).encode() + b"\r\n"
                )
            else:
                item()
        self._chunk(b"\r\n")
        self.x.stopped.wait()
        self.close_connection = True

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _answer(self, status: int, data: Any) -> None:
        self._send(status, {}, json.dumps(data).encode())

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
