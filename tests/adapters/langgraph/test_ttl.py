"""Items that last for a time: compared with LangGraph's ``SqliteStore``, since ``InMemoryStore`` has no ``ttl``."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.base import TTLConfig
from langgraph.store.sqlite import SqliteStore

from longmind import InvalidInput, Longmind
from longmind.adapters.langgraph import LongmindStore
from longmind.sync import Longmind as BlockingLongmind
from longmind.testing import FakeClock

KEYS = st.sampled_from(["k", "l"])
SPACES = st.sampled_from([("a",), ("b",), ("b", "c")])
TTLS = st.sampled_from([1.5, 4.5, None])
"""In minutes. Time passes in whole minutes, so that no step falls on the end of an item."""
REFRESH = st.sampled_from([True, False, None])
STEPS = st.one_of(
    st.tuples(st.just("put"), SPACES, KEYS, TTLS),
    st.tuples(st.just("put by default"), SPACES, KEYS),
    st.tuples(st.just("get"), SPACES, KEYS, REFRESH),
    st.tuples(st.just("search"), SPACES, REFRESH),
    st.tuples(st.just("delete"), SPACES, KEYS),
    st.tuples(st.just("list")),
    st.tuples(st.just("wait"), st.integers(1, 3)),
)
CONFIGURED: list[TTLConfig] = [
    {"refresh_on_read": True, "default_ttl": 2.5},
    {"refresh_on_read": True},
    {"refresh_on_read": False, "default_ttl": 2.5},
]


class Reference:
    """A ``SqliteStore`` for which time can pass: what ends, ends so much earlier."""

    def __init__(self, ttl: TTLConfig) -> None:
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.store = SqliteStore(self._connection, ttl=ttl)
        self.store.setup()

    def wait(self, minutes: int) -> None:
        self._connection.execute(
            "UPDATE store SET expires_at = datetime(expires_at, ?) WHERE expires_at IS NOT NULL",
            (f"-{minutes} minutes",),
        )
        self.store.sweep_ttl()  # it returns what has expired until it is swept

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module")
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(scope="module")
def blocking(clock: FakeClock) -> Iterator[BlockingLongmind]:
    with BlockingLongmind.open("memory:", clock=clock) as longmind:
        yield longmind


_numbers = iter(range(10_000))


def result_of(store: Any, step: tuple[Any, ...], value: dict[str, Any], refreshes: bool) -> Any:
    """Take a step. The reference refreshes only where its configuration does so by default."""
    match step:
        case ("put", space, key, ttl):
            store.put(space, key, value, ttl=ttl)
        case ("put by default", space, key):
            store.put(space, key, value)
        case ("get", space, key, refresh):
            item = store.get(space, key, refresh_ttl=refresh and refreshes if refresh else refresh)
            return item and item.value
        case ("search", space, refresh):
            found = store.search(space, limit=50, refresh_ttl=refresh and refreshes if refresh else refresh)
            return {(item.namespace, item.key): item.value for item in found}
        case ("delete", space, key):
            store.delete(space, key)
        case ("list",):
            return sorted(store.list_namespaces())
    return None


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(CONFIGURED), st.lists(STEPS, min_size=3, max_size=20))
def test_random_operations_over_time_agree_with_the_reference(
    blocking: BlockingLongmind, clock: FakeClock, ttl: TTLConfig, steps: list[tuple[Any, ...]]
) -> None:
    reference = Reference(ttl)
    store = LongmindStore(blocking, agent=f"agent {next(_numbers)}", ttl=ttl)
    refreshes = ttl["refresh_on_read"]
    for number, step in enumerate(steps):
        if step[0] == "wait":
            reference.wait(step[1])
            clock.advance(timedelta(minutes=step[1]))
            continue
        wanted = result_of(reference.store, step, {"n": number}, refreshes)
        assert result_of(store, step, {"n": number}, refreshes) == wanted, (number, step)
    reference.close()


async def test_a_read_refreshes_by_default_and_not_when_it_says_so() -> None:
    clock = FakeClock()
    async with Longmind.open("memory:", clock=clock) as longmind:
        store = LongmindStore(longmind)
        for key in ("read", "searched", "peeked"):
            await store.aput((key,), key, {"text": f"The {key} heron."}, ttl=10)
        for _ in range(3):
            clock.advance(timedelta(minutes=6))
            assert await store.aget(("read",), "read") is not None
            assert [item.key for item in await store.asearch(("searched",), query="heron")] == ["searched"]
            await store.aget(("peeked",), "peeked", refresh_ttl=False)
        assert await store.aget(("peeked",), "peeked") is None
        assert await store.alist_namespaces() == [("read",), ("searched",)]


async def test_what_has_expired_is_neither_returned_nor_recalled_before_the_sweep() -> None:
    clock = FakeClock()
    async with Longmind.open("memory:", clock=clock) as longmind:
        store = LongmindStore(longmind, agent="a", ttl={"default_ttl": 10, "refresh_on_read": False})
        await store.aput(("m",), "k", {"text": "The heron nests behind the mill."})
        await store.aput(("m",), "lasting", {"text": "The mill is old."}, ttl=None)
        clock.advance(timedelta(minutes=11))
        assert await store.aget(("m",), "k") is None
        assert [item.key for item in await store.asearch(("m",), query="heron mill")] == ["lasting"]
        assert "heron" not in str([hit.memory.content for hit in await longmind.agent("a").recall("heron mill")])
        assert await store.asweep_ttl() == 1
        assert await store.asweep_ttl() == 0


async def test_a_refresh_writes_seldom() -> None:
    """Reading an item a thousand times within a hundredth of its time writes nothing."""
    clock = FakeClock()
    async with Longmind.open("memory:", clock=clock) as longmind:
        store = LongmindStore(longmind, agent="a")
        await store.aput(("m",), "k", {"n": 1}, ttl=100)
        version = (await longmind.agent("a").values.list()).items[0].version
        for _ in range(50):
            clock.advance(timedelta(seconds=1))
            await store.aget(("m",), "k")
        assert (await longmind.agent("a").values.list()).items[0].version == version


async def test_over_http(remote: Longmind) -> None:
    store = LongmindStore(remote, agent="with a ttl")
    await store.aput(("m",), "k", {"n": 1}, ttl=10)
    item = await store.aget(("m",), "k")
    assert item is not None
    (value,) = (await remote.agent("with a ttl").values.list()).items
    assert value.ttl == timedelta(minutes=10)
    assert await store.asweep_ttl() == 0


@pytest.mark.parametrize("ttl", [0, -1, 1e12, float("inf"), float("nan")])
async def test_a_ttl_that_is_no_time_is_refused(embedded: Longmind, ttl: float) -> None:
    with pytest.raises(InvalidInput):
        await LongmindStore(embedded).aput(("m",), "k", {"n": 1}, ttl=ttl)


def test_the_sweeper_sweeps_until_it_is_stopped() -> None:
    clock = FakeClock()
    with BlockingLongmind.open("memory:", clock=clock) as longmind:
        store = LongmindStore(longmind)
        swept = asyncio.Queue[int]()
        sweep, loop = store.sweep_ttl, asyncio.new_event_loop()

        async def run() -> None:
            def observed() -> int:
                count = sweep()
                loop.call_soon_threadsafe(swept.put_nowait, count)
                return count

            store._sweeper._sweep = observed
            store.put(("m",), "k", {"n": 1}, ttl=1)
            clock.advance(timedelta(minutes=2))
            running = store.start_ttl_sweeper(0.0001)
            assert store.start_ttl_sweeper() is running
            assert await swept.get() == 1
            assert await swept.get() == 0
            assert await asyncio.to_thread(store.stop_ttl_sweeper, 30)
            assert running.done()

        loop.run_until_complete(run())
        loop.close()
