"""The writing thread: group commit, failures that stay with their batch, and what a caller is told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from longmind.errors import Conflict, InvalidInput, NotFound, StoreFull, StoreUnavailable
from longmind.store.base import Delete, Put, Update
from longmind.store.conformance.steps import AGENT, SMALL, UNKNOWN_ID, apply, clock, feed, get, put, unit_vector
from longmind.store.sqlite import SqliteBackend
from longmind.testing import memory
from longmind.types import Filter, Memory


@pytest.fixture
def holder(store: SqliteBackend, path: Path) -> Iterator[apsw.Connection]:
    """Another program with the file open."""
    connection = apsw.Connection(str(path))
    yield connection
    connection.close()


@contextlib.asynccontextmanager
async def held(holder: apsw.Connection):
    """While the file is locked by somebody else; what is written meanwhile gathers in the queue."""
    holder.execute("BEGIN IMMEDIATE")
    try:
        yield
        await asyncio.sleep(0.05)
    finally:
        holder.execute("ROLLBACK")


def new(content: str = "x", **fields: object) -> Memory:
    return memory(content, scope=AGENT, clock=clock, **fields)


async def test_waiting_batches_share_a_commit(store: SqliteBackend, holder: apsw.Connection) -> None:
    commits: list[int] = []
    store._writer.connection.set_commit_hook(lambda: bool(commits.append(1)))
    async with held(holder):
        tasks = [asyncio.ensure_future(put(store, str(n))) for n in range(50)]
        await asyncio.sleep(0.05)
    kept = await asyncio.gather(*tasks)
    assert len(commits) <= 2, "one for the batch that was first, one for all that came meanwhile"
    assert {row.id for row in (await feed(store)).rows} == {m.id for m in kept}
    assert sorted(row.seq for row in (await feed(store)).rows) == list(range(1, 51))


async def test_a_batch_that_fails_takes_nothing_of_the_others_with_it(
    store: SqliteBackend, holder: apsw.Connection
) -> None:
    first = await put(store, "first")
    async with held(holder):
        jobs = [
            put(store, "a"),
            apply(store, Put(new("lost")), Update(UNKNOWN_ID, {"content": "y"})),
            put(store, "b"),
            apply(store, Put(new("lost too")), Put(first)),
            apply(store, Delete(first.id)),
            put(store, "c", metadata={"n": 2**62}),
        ]
        waiting = asyncio.gather(*jobs, return_exceptions=True)
        await asyncio.sleep(0.05)
    told = await waiting
    assert [type(t) for t in told if isinstance(t, Exception)] == [NotFound, Conflict]
    contents = {m.content for m in (await store.scan(AGENT, Filter())).items}
    assert contents == {"a", "b", "c"}
    assert await store.check() == []


async def test_a_new_agent_made_by_a_failed_batch_is_not_there(store: SqliteBackend, holder: apsw.Connection) -> None:
    async with held(holder):
        failing = apply(store, Put(new()), Delete(UNKNOWN_ID))
        waiting = asyncio.gather(failing, put(store, "kept"), return_exceptions=True)
        await asyncio.sleep(0.05)
    failed, kept = await waiting
    assert isinstance(failed, NotFound)
    assert isinstance(kept, Memory)
    assert (await store.head(AGENT)).seq == 1
    assert await store.check() == []


async def test_a_caller_that_gives_up_does_not_stop_the_writing(store: SqliteBackend, holder: apsw.Connection) -> None:
    async with held(holder):
        impatient = asyncio.ensure_future(put(store, "given up"))
        await asyncio.sleep(0.02)
        impatient.cancel()
        patient = asyncio.ensure_future(put(store, "waited for"))
    with pytest.raises(asyncio.CancelledError):
        await impatient
    await patient
    assert {m.content for m in (await store.scan(AGENT, Filter())).items} == {"given up", "waited for"}


async def test_a_full_disk_refuses_what_does_not_fit_and_keeps_the_rest(
    store: SqliteBackend, holder: apsw.Connection
) -> None:
    kept = await put(store, "there before")
    connection = store._writer.connection
    connection.pragma("max_page_count", connection.pragma("page_count") + 20)
    with pytest.raises(StoreFull, match="Free space"):
        await put(store, "too much " * 50_000)
    async with held(holder):
        jobs = [put(store, "fits"), put(store, "too much " * 50_000), put(store, "fits too")]
        waiting = asyncio.gather(*jobs, return_exceptions=True)
        await asyncio.sleep(0.05)
    told = await waiting
    assert [type(t) for t in told] == [Memory, StoreFull, Memory]
    connection.pragma("max_page_count", 1_000_000)
    await put(store, "too much " * 50_000)
    assert await get(store, kept.id) == kept
    assert (await store.head(AGENT)).seq == 4
    assert await store.check() == []


async def test_locked_for_too_long(path: Path) -> None:
    store = await SqliteBackend.open(path, busy_timeout_s=0.1)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    told = await asyncio.gather(*(put(store) for _ in range(3)), return_exceptions=True)
    assert [type(t) for t in told] == [StoreUnavailable] * 3
    other.execute("ROLLBACK")
    await put(store)
    other.close()
    await store.close()


async def test_text_that_no_column_holds(store: SqliteBackend) -> None:
    with pytest.raises(InvalidInput, match="lone surrogate"):
        await apply(store, Put(new()), actor="\ud800")
    assert await feed(store) == await feed(store)
    assert (await store.head(AGENT)).seq == 0


async def test_after_closing_everything_is_refused(path: Path) -> None:
    store = await SqliteBackend.open(path)
    waiting = [asyncio.ensure_future(put(store, str(n))) for n in range(20)]
    await asyncio.sleep(0)
    await store.close()
    await store.close()
    assert len(await asyncio.gather(*waiting)) == 20, "what was under way is finished"
    for refused in (put(store), store.get(AGENT, [UNKNOWN_ID]), store.head(AGENT), feed(store), store.check()):
        with pytest.raises(StoreUnavailable, match="closed"):
            await refused
    assert not path.with_name("memory.db-wal").exists()


def test_one_store_serves_several_event_loops(path: Path) -> None:
    store = asyncio.run(SqliteBackend.open(path))
    kept = [asyncio.run(put(store, str(n))) for n in range(3)]
    assert asyncio.run(store.get(AGENT, [m.id for m in kept])) == kept
    asyncio.run(store.close())


async def test_a_space_declared_in_a_failing_group_is_read_again(store: SqliteBackend, holder: apsw.Connection) -> None:
    async with held(holder):
        declared = asyncio.ensure_future(store.declare_space(SMALL))
        failing = apply(store, Put(new()), Delete(UNKNOWN_ID))
        late = put(store, "with a vector", vector=unit_vector(1, 2, 3, 4))
        waiting = asyncio.gather(declared, failing, late, return_exceptions=True)
        await asyncio.sleep(0.05)
    _, failed, kept = await waiting
    assert isinstance(failed, NotFound)
    assert isinstance(kept, Memory)
    assert (await store.stats(AGENT)).vectors == 1


@pytest.mark.parametrize("place", [0, 1, 130, 299])
async def test_a_key_that_is_taken_anywhere_in_a_long_run(store: SqliteBackend, place: int) -> None:
    """A run is written many to a statement as if all were new; the one that is not must leave no gap and no trace."""
    held = await put(store, "held", key="k")
    run = [new(str(n), key="k" if n == place else f"k{n}") for n in range(300)]
    receipt = await apply(store, *[Put(m) for m in run])
    assert receipt.created.count(False) == 1
    assert receipt.memories[place] == held
    rows = (await feed(store)).rows
    assert sorted(row.seq for row in rows) == list(range(1, 301))
    assert {row.id for row in rows} == {held.id, *(m.id for n, m in enumerate(run) if n != place)}
    assert len(await store.journal(AGENT, limit=1_000)) == 300
    assert await store.check() == []


async def test_an_id_that_exists_refuses_a_long_run_whole(store: SqliteBackend) -> None:
    first = await put(store, "first")
    with pytest.raises(Conflict, match="id exists"):
        await apply(store, *[Put(new(str(n))) for n in range(200)], Put(first), Put(new("last")))
    assert [row.id for row in (await feed(store)).rows] == [first.id]
    assert (await put(store, "next", key="k")).key == "k"
    assert [row.seq for row in (await feed(store)).rows] == [1, 2]
