"""kill -9 of the writer and of the server, while writing. What was acknowledged is there afterwards.

The writer runs in a process of its own: this file, run as a script. It prints a line for each acknowledged batch.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from longmind.clock import SystemClock
from longmind.errors import StoreUnavailable
from longmind.store.base import AddLink, Batch, Put, Update
from longmind.store.postgres import PostgresBackend
from longmind.types import Link, Memory, Scope

SCOPE = Scope(agent="writer")
CLIENT_KILLS = 5
SERVER_KILLS = 5
WRITERS = 4
clock = SystemClock()


# -- the writer, in a process of its own -----------------------------------------------------------------------------


def _memory(content: str) -> Memory:
    now = clock.now()
    return Memory(
        id=clock.new_id(), tenant=SCOPE.tenant, agent=SCOPE.agent, content=content, occurred_at=now, recorded_at=now
    )


def _batch(*writes: Any) -> Batch:
    return Batch(SCOPE, clock.new_id(), clock.now(), writes)


async def _write(backend: PostgresBackend, number: int) -> None:
    """Put single memories, chains of linked ones, and new versions of one record, until killed."""
    counter = _memory("0")
    await backend.apply(_batch(Put(counter)))
    turn = 0
    while True:
        turn += 1
        one, two, three = (_memory(f"{number} {turn} {n}") for n in range(3))
        link = Link(source=one.id, relation="next", target=two.id)
        try:
            await backend.apply(_batch(Put(three)))
            _acknowledge(ids=[three.id])
            await backend.apply(_batch(Put(one), Put(two), AddLink(link)))
            _acknowledge(ids=[one.id, two.id], link=[one.id, two.id])
            receipt = await backend.apply(_batch(Update(counter.id, {"content": str(turn)})))
            _acknowledge(ids=[], counter=counter.id, version=receipt.memories[0].version)
        except StoreUnavailable:
            await asyncio.sleep(0.05)  # the server is down; what was not acknowledged may or may not be there


def _acknowledge(**told: Any) -> None:
    os.write(1, json.dumps(told).encode() + b"\n")


async def _run(url: str) -> None:
    backend = await PostgresBackend.open(url, clock=clock, pool_size=WRITERS, timeout=20)
    await asyncio.gather(*(_write(backend, number) for number in range(WRITERS)))


# -- the tests -------------------------------------------------------------------------------------------------------


class Acknowledged:
    """What writers said was stored, read from the files their lines went to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[Path] = []

    @contextmanager
    def writer(self, url: str) -> Iterator[subprocess.Popen[bytes]]:
        """A writer at work; killed at the end if it was not before."""
        self._files.append(self._folder / f"acknowledged-{len(self._files)}")
        with self._files[-1].open("wb") as lines:
            process = subprocess.Popen([sys.executable, __file__, url], stdout=lines)
            try:
                yield process
            finally:
                process.kill()
                process.wait()

    def wait_for_more(self, process: subprocess.Popen[bytes], count: int = 30) -> None:
        """Wait until the newest writer has acknowledged this many batches more."""
        wanted = len(self._lines(self._files[-1])) + count
        deadline = time.monotonic() + 60
        while len(self._lines(self._files[-1])) < wanted:
            assert process.poll() is None, "the writer ended by itself"
            assert time.monotonic() < deadline, "the writer does not go on"
            time.sleep(0.01)

    def all(self) -> list[dict[str, Any]]:
        return [line for file in self._files for line in self._lines(file)]

    @staticmethod
    def _lines(file: Path) -> list[dict[str, Any]]:
        whole, _, _ = file.read_bytes().rpartition(b"\n")
        return [json.loads(line) for line in whole.splitlines()]


@pytest.fixture
def acknowledged(tmp_path: Path) -> Acknowledged:
    return Acknowledged(tmp_path)


def verify(url: str, acknowledged: Acknowledged) -> int:
    """Compare what was acknowledged with what is there; how many memories were compared."""

    async def compare() -> int:
        lines = acknowledged.all()
        ids = [id for line in lines for id in line["ids"]]
        links = {tuple(line["link"]) for line in lines if "link" in line}
        versions: dict[str, int] = {}
        for line in lines:
            if "counter" in line:
                versions[line["counter"]] = max(line["version"], versions.get(line["counter"], 0))
        backend = await PostgresBackend.open(url, clock=clock)
        try:
            found = {m.id for m in await backend.get(SCOPE, ids)}
            assert [id for id in ids if id not in found] == [], "acknowledged memories are lost"
            stored = await backend.links(SCOPE, ids, relation="next", direction="out", limit=10**9)
            assert links <= {(link.source, link.target) for link in stored}
            counters = {m.id: m.version for m in await backend.get(SCOPE, list(versions))}
            assert {id: v for id, v in versions.items() if counters.get(id, 0) < v} == {}
            assert await backend.check() == []
        finally:
            await backend.close()
        return len(ids)

    return asyncio.run(compare())


@pytest.fixture(scope="module")
def server(start_postgres: Callable[[], Any]) -> Any:
    """A server of our own, with fsync as it is by default: on."""
    return start_postgres()


def test_the_writer_may_be_killed_at_any_moment(server: Any, acknowledged: Acknowledged) -> None:
    chance = random.Random(1)
    for _ in range(CLIENT_KILLS):
        with acknowledged.writer(server.url) as process:
            acknowledged.wait_for_more(process)
            time.sleep(chance.random() / 10)
            process.kill()
    assert verify(server.url, acknowledged) >= 30 * CLIENT_KILLS


def test_the_server_may_be_killed_at_any_moment(server: Any, acknowledged: Acknowledged) -> None:
    """The same writer goes on after each restart."""
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SHOW fsync").fetchone() == ("on",)
    chance = random.Random(2)
    with acknowledged.writer(server.url) as process:
        for _ in range(SERVER_KILLS):
            acknowledged.wait_for_more(process)
            time.sleep(chance.random() / 10)
            server.kill()
            server.start()
            verify(server.url, acknowledged)
        acknowledged.wait_for_more(process)
    assert verify(server.url, acknowledged) >= 30 * SERVER_KILLS


def test_the_comparison_notices_a_loss(server: Any, acknowledged: Acknowledged) -> None:
    """Proof that the tests above can fail: one acknowledged memory is taken away."""
    with acknowledged.writer(server.url) as process:
        acknowledged.wait_for_more(process, 5)
    assert verify(server.url, acknowledged) >= 1
    victim = next(id for line in acknowledged.all() for id in line["ids"])
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("DELETE FROM longmind.memories WHERE id = %s", [victim])
    with pytest.raises(AssertionError, match="lost"):
        verify(server.url, acknowledged)


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1]))
