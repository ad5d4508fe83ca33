"""The server under load: it is killed, and the PostgreSQL below it is. What was acknowledged is there afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.serve.clients import Clients
from benchmarks.serve.measure import lost_writes
from benchmarks.serve.server import served
from longmind import Longmind

AGENTS = ["assistant", "clerk"]
QUESTIONS = ["who drinks green tea", "where is the boat", "when does the train leave"]


def clients(address: str, count: int = 8) -> Clients:
    return Clients(address, AGENTS, QUESTIONS, clients=count, write_every=2)


async def until_more(load: Clients, count: int = 20) -> None:
    """Wait until this many requests more were carried out."""
    wanted = load.load.requests + count
    async with asyncio.timeout(120):
        await load.until(lambda seen: seen.requests >= wanted)


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return str(request.getfixturevalue("postgres_store_url"))


async def test_a_server_that_is_killed_loses_no_acknowledged_write(store_url: str, tmp_path: Path) -> None:
    loads = []
    for _ in range(3):
        with served(store_url, tmp_path / "log", "--no-consolidation") as server:
            load = clients(server.address)
            running = asyncio.create_task(load.run())
            await until_more(load)
            server.kill()
            load.stop()
            loads.append(await running)
    assert [error for load in loads for error in load.errors] == []
    assert sum(load.writes for load in loads) > 0
    assert await lost_writes(store_url, loads) == 0
    async with Longmind.open(store_url) as longmind:
        assert await longmind.store.backend.check() == []
        victim = next(iter(loads[0].acknowledged["assistant"]))
        await longmind.agent("assistant").forget(victim)
    assert await lost_writes(store_url, loads) == 1, "the comparison would notice a loss"


async def test_a_database_that_is_killed_is_told_and_everything_goes_on_when_it_is_back(
    start_postgres: Callable[[], Any], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    database = start_postgres()
    with served(database.url, tmp_path / "log", "--no-consolidation") as server:
        load = clients(server.address)
        running = asyncio.create_task(load.run())
        await until_more(load)
        await asyncio.to_thread(database.kill)
        async with asyncio.timeout(60):
            await load.until(lambda seen: len(seen.unavailable) >= 8)  # answered 503, with Retry-After
        await asyncio.to_thread(database.start)
        await until_more(load)
        load.stop()
        seen = await running
        assert server.stop() == 0
    record_property("seconds until 503, longest", max(seen.unavailable))
    assert seen.errors == []
    assert seen.lost == 0, "the server itself went on"
    assert await lost_writes(database.url, [seen]) == 0
