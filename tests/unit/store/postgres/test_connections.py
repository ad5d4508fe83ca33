"""Connections that break: before, during and after a commit, with a proxy between us and the server that cuts them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import psycopg
import pytest

from longmind.clock import SystemClock
from longmind.errors import StoreUnavailable
from longmind.store.base import AddLink, Batch, Put, Touch, Update
from longmind.store.postgres import PostgresBackend
from longmind.testing import memory
from longmind.types import Link, Scope

SCOPE = Scope(agent="assistant")
MakeBatch = Callable[..., Batch]


class Proxy:
    """Stands between client and server, and cuts the connection at a message of the client's that it is told of."""

    def __init__(self, url: str) -> None:
        self._parts = psycopg.conninfo.conninfo_to_dict(url)
        self._marker: bytes | None = None
        self._deliver = self._refuse = self._refuse_after = False
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.cuts = 0
        self.was_cut = asyncio.Event()

    def cut_at(self, marker: bytes, *, deliver: bool, refuse_after: bool = False) -> None:
        """Cut when the client sends this, delivered to the server first (its answer is lost) or not at all."""
        self._marker, self._deliver, self._refuse_after = marker, deliver, refuse_after

    async def start(self) -> str:
        """Listen, and tell the URL to connect to."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        given = {**self._parts, "host": "127.0.0.1", "port": port, "sslmode": "disable", "gssencmode": "disable"}
        return psycopg.conninfo.make_conninfo("", **given)

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if not self._refuse:
                await self._relay(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # either side went away: that is what this proxy is for
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = str(self._parts.get("host") or "localhost"), int(self._parts.get("port") or 5432)
        if host.startswith("/"):
            upstream, downstream = await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        else:
            upstream, downstream = await asyncio.open_connection(host, port)
        answers = asyncio.create_task(_pump(upstream, writer))
        try:
            while data := await reader.read(65_536):
                if self._marker is not None and self._marker in data:
                    await self._cut(data, downstream, answers)
                    return
                downstream.write(data)
                await downstream.drain()
        finally:
            answers.cancel()
            downstream.close()

    async def _cut(self, data: bytes, downstream: asyncio.StreamWriter, answers: asyncio.Task[None]) -> None:
        self._marker = None
        self._refuse = self._refuse_after
        self.cuts += 1
        self.was_cut.set()
        answers.cancel()
        if self._deliver:
            downstream.write(data)
            await downstream.drain()
            await asyncio.sleep(0.3)  # the server finishes; nobody hears of it


async def _pump(upstream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await upstream.read(65_536):
            writer.write(data)
            await writer.drain()


@pytest.fixture
async def proxy(store_url: str) -> AsyncIterator[Proxy]:
    proxy = Proxy(store_url)
    yield proxy
    await proxy.stop()


@pytest.fixture
async def behind(proxy: Proxy) -> AsyncIterator[PostgresBackend]:
    """A backend that reaches the server through the proxy."""
    backend = await PostgresBackend.open(await proxy.start(), clock=SystemClock(), timeout=3)
    yield backend
    await backend.close()


def terminate_all(url: str) -> int:
    """End every connection of a store at the server."""
    with psycopg.connect(url, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'longmind'"
        ).fetchall()
    return len(ended)


async def test_every_call_survives_terminated_connections(
    backend: PostgresBackend, store_url: str, batch: MakeBatch
) -> None:
    kept = memory(scope=SCOPE)
    await backend.apply(batch(SCOPE, Put(kept)))

    async def whole_feed() -> list[Any]:
        return [row.id async for chunk in backend.feed(SCOPE, 0) for row in chunk.rows]

    calls: list[tuple[Callable[[], Any], Any]] = [
        (lambda: backend.get(SCOPE, [kept.id]), [kept]),
        (whole_feed, [kept.id]),
        (lambda: backend.matching(SCOPE, _any()), {kept.id}),
        (lambda: backend.check(), []),
    ]
    for call, expected in calls:
        await asyncio.gather(*(backend.head(SCOPE) for _ in range(5)))  # several connections to lose
        assert terminate_all(store_url) >= 1
        assert await call() == expected
    for content in ("one", "two"):
        assert terminate_all(store_url) >= 1
        await backend.apply(batch(SCOPE, Update(kept.id, {"content": content})))
    assert terminate_all(store_url) >= 1
    await backend.apply(batch(SCOPE, Put(memory(scope=SCOPE))))
    assert (await backend.head(SCOPE)).seq == 4


def _any() -> Any:
    from longmind.types import Filter

    return Filter(states=None)


async def test_a_feed_that_breaks_half_way_says_so(backend: PostgresBackend, store_url: str, batch: MakeBatch) -> None:
    for _ in range(6):
        await backend.apply(batch(SCOPE, *(Put(memory(scope=SCOPE)) for _ in range(1_000))))
    feed = backend.feed(SCOPE, 0)
    first = await anext(feed)
    assert len(first.rows) == 5_000
    terminate_all(store_url)
    with pytest.raises(StoreUnavailable):
        await anext(feed)
    assert (await backend.head(SCOPE)).seq == 6_000


async def test_a_feed_that_is_left_half_way_gives_its_connection_back(store_url: str, batch: MakeBatch) -> None:
    backend = await PostgresBackend.open(store_url, clock=SystemClock(), pool_size=1, timeout=5)
    for _ in range(6):
        await backend.apply(batch(SCOPE, *(Put(memory(scope=SCOPE)) for _ in range(1_000))))
    feed: Any = backend.feed(SCOPE, 0)
    await anext(feed)
    await feed.aclose()
    assert (await backend.head(SCOPE)).seq == 6_000
    await backend.close()


@pytest.mark.parametrize("deliver", [True, False], ids=["answer lost", "request lost"])
async def test_a_put_whose_connection_breaks_happens_once(
    proxy: Proxy, behind: PostgresBackend, batch: MakeBatch, deliver: bool
) -> None:
    kept = memory("the marked content", scope=SCOPE, key="k")
    proxy.cut_at(b"the marked content", deliver=deliver)
    receipt = await behind.apply(batch(SCOPE, Put(kept), operation="op"))
    assert proxy.cuts == 1
    assert (receipt.memories, receipt.created) == ((kept,), (True,))
    assert [(c.seq, c.action, c.operation) for c in await behind.journal(SCOPE)] == [(1, "put", "op")]
    assert await behind.check() == []


@pytest.mark.parametrize("deliver", [True, False], ids=["answer lost", "request lost"])
@pytest.mark.parametrize("idempotent", [True, False])
async def test_a_commit_whose_connection_breaks_happens_once(
    proxy: Proxy, behind: PostgresBackend, batch: MakeBatch, deliver: bool, idempotent: bool
) -> None:
    a, b = memory("a", scope=SCOPE), memory("b", scope=SCOPE)
    await behind.apply(batch(SCOPE, Put(a), Put(b), operation="op"))
    writes = [Update(a.id, {"content": "changed"}), AddLink(Link(source=a.id, relation="next", target=b.id))]
    proxy.cut_at(b"COMMIT", deliver=deliver)
    receipt = await behind.apply(batch(SCOPE, *writes, operation="op", idempotent=idempotent))
    assert proxy.cuts == 1
    assert [m.content for m in receipt.memories] == ["changed"]
    assert receipt.replayed is (idempotent and deliver)
    assert receipt.created == (not receipt.replayed,)
    assert receipt.memories[0].version == 2
    assert [c.action for c in await behind.journal(SCOPE)] == ["put", "put", "update", "link"]
    assert await behind.get(SCOPE, [a.id]) == list(receipt.memories)


async def test_a_commit_lost_among_others_is_recognised_by_its_own_line(
    proxy: Proxy, behind: PostgresBackend, backend: PostgresBackend, batch: MakeBatch
) -> None:
    """Another batch of the same operation takes the number the lost one would have had."""
    a = memory("a", scope=SCOPE)
    await backend.apply(batch(SCOPE, Put(a), operation="op"))
    proxy.cut_at(b"COMMIT", deliver=False)
    other = memory("other", scope=SCOPE)
    lost = asyncio.create_task(behind.apply(batch(SCOPE, Update(a.id, {"content": "mine"}), operation="op")))
    await proxy.was_cut.wait()
    await backend.apply(batch(SCOPE, Put(other), operation="op"))
    receipt = await lost
    assert receipt.memories[0].content == "mine"
    assert sorted(c.action for c in await backend.journal(SCOPE)) == ["put", "put", "update"]


async def test_reads_that_are_counted_survive_too(proxy: Proxy, behind: PostgresBackend, batch: MakeBatch) -> None:
    a = memory(scope=SCOPE)
    await behind.apply(batch(SCOPE, Put(a)))
    proxy.cut_at(b"COMMIT", deliver=False)
    now = SystemClock().now()
    await behind.apply(batch(SCOPE, Touch((a.id,), now), Touch((a.id,), now)))
    assert proxy.cuts == 1
    assert (await behind.get(SCOPE, [a.id]))[0].access_count == 2


@pytest.mark.parametrize("marker", [b"the marked content", b"COMMIT"], ids=["put", "update"])
async def test_when_nobody_can_be_asked_the_outcome_is_called_unknown(
    proxy: Proxy, behind: PostgresBackend, batch: MakeBatch, marker: bytes
) -> None:
    a = memory(scope=SCOPE)
    await behind.apply(batch(SCOPE, Put(a)))
    proxy.cut_at(marker, deliver=True, refuse_after=True)
    write = Put(memory("the marked content", scope=SCOPE)) if marker != b"COMMIT" else Update(a.id, {"content": "new"})
    with pytest.raises(StoreUnavailable, match="not known whether") as caught:
        await behind.apply(batch(SCOPE, write))
    assert caught.value.details["outcome"] == "unknown"


async def test_a_pool_that_is_used_up_says_so(store_url: str) -> None:
    backend = await PostgresBackend.open(store_url, clock=SystemClock(), pool_size=1, timeout=2, busy_timeout=0)
    async with backend._database.connection():
        with pytest.raises(StoreUnavailable, match="no free connection"):
            await backend.head(SCOPE)
    assert (await backend.head(SCOPE)).seq == 0
    await backend.close()


async def test_a_busy_pool_is_waited_for_while_the_server_answers(store_url: str) -> None:
    backend = await PostgresBackend.open(store_url, clock=SystemClock(), pool_size=1, timeout=0.4)
    async with backend._database.connection():
        waiting = asyncio.gather(*(backend.head(SCOPE) for _ in range(3)))
        await asyncio.sleep(1)
        assert not waiting.done()
    assert [head.seq for head in await waiting] == [0, 0, 0]
    await backend.close()


async def test_a_server_that_is_gone_is_not_waited_for(start_postgres: Any) -> None:
    server = start_postgres()
    backend = await PostgresBackend.open(server.url, clock=SystemClock(), pool_size=1, timeout=1, busy_timeout=600)
    try:
        async with backend._database.connection():  # taken, so that only a connection of its own tells
            await asyncio.to_thread(server.kill)
            backend._database._answered -= 60
            async with asyncio.timeout(60):  # a watchdog
                with pytest.raises(StoreUnavailable, match="no free connection"):
                    await backend.head(SCOPE)
    finally:
        await backend.close()


async def test_a_cancelled_call_leaves_the_pool_usable(store_url: str, batch: MakeBatch) -> None:
    backend = await PostgresBackend.open(store_url, clock=SystemClock(), pool_size=1, timeout=10)
    with psycopg.connect(store_url) as other:
        other.execute("LOCK TABLE longmind.memories IN ACCESS EXCLUSIVE MODE")
        task = asyncio.create_task(backend.apply(batch(SCOPE, Put(memory(scope=SCOPE)))))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (await backend.stats(SCOPE)).memories == 0
    await backend.apply(batch(SCOPE, Put(memory(scope=SCOPE))))
    assert (await backend.head(SCOPE)).seq == 1
    await backend.close()


async def test_an_acknowledged_commit_is_on_disk_whatever_the_role_says(store_url: str) -> None:
    with psycopg.connect(store_url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f'ALTER DATABASE "{name}" SET synchronous_commit = off'.encode())
    backend = await PostgresBackend.open(store_url, clock=SystemClock())
    async with backend._database.connection() as connected:
        row = await (await connected.execute("SHOW synchronous_commit")).fetchone()
    assert row == ("on",)
    await backend.close()


async def test_a_server_that_was_killed_is_told_within_the_time_to_connect(start_postgres: Any) -> None:
    server = start_postgres()
    backend = await PostgresBackend.open(server.url, clock=SystemClock())
    try:
        await asyncio.to_thread(server.kill)
        async with asyncio.timeout(20):  # a watchdog: five seconds by default, thirty before
            with pytest.raises(StoreUnavailable):
                await backend.get(SCOPE, [memory().id])
            with pytest.raises(StoreUnavailable):
                await PostgresBackend.open(server.url, clock=SystemClock())
    finally:
        await backend.close()
        await asyncio.to_thread(server.start)
