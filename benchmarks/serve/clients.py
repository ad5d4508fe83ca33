"""Clients that put a server under load.

They speak HTTP/1.1 over plain streams: client libraries cost more than the server's own part of a request, and clients
and server share the cores of one machine.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4


@dataclass
class Answer:
    """A response of the server."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpConnection:
    """One connection to a server that stays open between requests; entered anew after it was lost."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> HttpConnection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
        """Send a JSON body and return the answer. Raises ``OSError`` or ``EOFError`` when the connection is lost."""
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(self._host, self._port)
            reader, writer = self._streams
            content = json.dumps(body).encode()
            lines = [f"POST {path} HTTP/1.1", f"Host: {self._host}:{self._port}", "Content-Type: application/json"]
            lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
            lines += [f"Content-Length: {len(content)}", "", ""]
            writer.write("\r\n".join(lines).encode() + content)
            answer = await _answer(reader)
        except BaseException:
            self.close()
            raise
        if answer.headers.get("connection") == "close":
            self.close()
        return answer


async def _answer(reader: asyncio.StreamReader) -> Answer:
    first, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest) if name}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Answer(int(first.split(" ", 2)[1]), headers, body)


@dataclass
class Load:
    """What clients did and saw."""

    recalls: list[float] = field(default_factory=list)
    """Seconds of each recall that was answered."""
    writes: int = 0
    errors: list[str] = field(default_factory=list)
    lost: int = 0
    """Requests without an answer, because the server or the connection was gone."""
    acknowledged: dict[str, list[str]] = field(default_factory=dict)
    """The ids of memories whose storing was acknowledged, by agent."""
    unavailable: list[float] = field(default_factory=list)
    """Seconds of each request that was answered 503, from when it was sent or from when the database was lost."""
    seconds: float = 0.0

    @property
    def requests(self) -> int:
        """How many requests were carried out."""
        return len(self.recalls) + self.writes


class Clients:
    """Clients that remember and recall at the same time, each on a connection of its own.

    A request that finds no server, or one that cannot reach its store, is repeated: a write with its Idempotency-Key.
    """

    def __init__(
        self, address: str, agents: list[str], questions: list[str], *, clients: int, write_every: int
    ) -> None:
        self._address = address
        self._agents = agents
        self._questions = questions
        self._clients = clients
        self._write_every = write_every
        """Every n-th request of a client remembers; 0 for none."""
        self.load = Load()
        self.database_lost_at = 0.0
        """When the database was killed, by ``time.perf_counter``: nobody could be told before."""
        self._stop = asyncio.Event()
        self._answered = asyncio.Event()

    async def until(self, reached: Callable[[Load], bool]) -> None:
        """Wait until what the clients saw is enough."""
        while not reached(self.load):
            self._answered.clear()
            await self._answered.wait()

    async def run(self, seconds: float | None = None) -> Load:
        """Ask for this long, or until ``stop``."""
        began = time.perf_counter()
        tasks = [asyncio.create_task(self._client(number)) for number in range(self._clients)]
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, self._stop.set)
        await asyncio.gather(*tasks)
        self.load.seconds = time.perf_counter() - began
        return self.load

    def stop(self) -> None:
        """Let every client finish its request and end."""
        self._stop.set()

    async def _client(self, number: int) -> None:
        async with HttpConnection(self._address) as connection:
            for turn in count(number):
                if self._stop.is_set():
                    return
                agent = self._agents[turn % len(self._agents)]
                if self._write_every and turn % self._write_every == 0:
                    await self._remember(connection, agent, self._questions[turn % len(self._questions)])
                else:
                    await self._recall(connection, agent, self._questions[turn % len(self._questions)])
                self._answered.set()

    async def _recall(self, connection: HttpConnection, agent: str, question: str) -> None:
        path = f"/v1/agents/{quote(agent, safe='')}/recall"
        began = time.perf_counter()
        answer = await self._until_answered(connection, path, {"query": question, "k": 10}, {})
        if answer is not None and answer.status == 200:
            self.load.recalls.append(time.perf_counter() - began)

    async def _remember(self, connection: HttpConnection, agent: str, text: str) -> None:
        path = f"/v1/agents/{quote(agent, safe='')}/memories"
        key = str(uuid4())
        body = {"content": f"{text} {key}"}  # no two texts are the same, else they could be one memory
        answer = await self._until_answered(connection, path, body, {"Idempotency-Key": key})
        if answer is not None and answer.status == 201:
            self.load.writes += 1
            self.load.acknowledged.setdefault(agent, []).append(json.loads(answer.body)["id"])

    async def _until_answered(
        self, connection: HttpConnection, path: str, body: Any, headers: Mapping[str, str]
    ) -> Answer | None:
        """Return the answer; None if the clients are stopped while there is none."""
        while True:
            began = time.perf_counter()
            try:
                answer = await connection.post(path, body, headers)
            except (OSError, EOFError):
                self.load.lost += 1
                wait = 0.05
            else:
                if answer.status != 503:
                    if answer.status >= 400:
                        self.load.errors.append(f"{answer.status} {answer.body[:300].decode(errors='replace')}")
                    return answer
                self.load.unavailable.append(time.perf_counter() - max(began, self.database_lost_at))
                if "retry-after" not in answer.headers:
                    self.load.errors.append("503 without Retry-After")
                wait = 0.2
            self._answered.set()
            if self._stop.is_set():
                return None
            await asyncio.sleep(wait)
