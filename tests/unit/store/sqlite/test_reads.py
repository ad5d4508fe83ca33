"""Reading: beside writers, from threads, in one piece, and with an index for every question that needs one."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import get_args

import apsw
import pytest

from longmind.store.base import Put
from longmind.store.conformance.steps import AGENT, ALICE, NOON, apply, clock, feed, get, put
from longmind.store.sqlite import SqliteBackend, backend, reads
from longmind.store.sqlite.queries import QUERIES, of_slot
from longmind.testing import memory
from longmind.types import Filter, Order, Scope


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(reads, "CHUNK", 10)
    return 10


async def fill(store: SqliteBackend, count: int) -> list[str]:
    new = [memory(f"number {n}", scope=AGENT, clock=clock) for n in range(count)]
    await apply(store, *(Put(m) for m in new))
    return [m.id for m in new]


@pytest.mark.parametrize("large", [20_000, 0], ids=["inline", "in a thread"])
async def test_a_feed_is_one_reading_while_others_write(
    store: SqliteBackend, small_chunks: int, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    monkeypatch.setattr(backend, "LARGE", large)
    ids = await fill(store, 35)
    told, heads = [], set()
    async for chunk in store.feed(AGENT, 0):
        assert len(chunk.rows) <= small_chunks
        told += [row.id for row in chunk.rows]
        heads.add(chunk.head.seq)
        await put(store, "meanwhile")
    assert told == ids
    assert heads == {35}
    assert len((await feed(store)).rows) == 35 + 4


async def test_a_feed_left_early_lets_go(store: SqliteBackend, path: Path, small_chunks: int) -> None:
    await fill(store, 35)
    chunks = store.feed(AGENT, 0)
    await anext(chunks)
    await chunks.aclose()  # type: ignore[attr-defined]
    other = apsw.Connection(str(path))
    other.pragma("user_version")
    assert other.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE) == (0, 0), "no reader stands in the way"
    other.close()


async def test_a_feed_that_is_cancelled_in_its_thread_lets_go(
    store: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "LARGE", 0)
    await fill(store, 2_000)
    for _ in range(5):
        task = asyncio.ensure_future(feed(store))
        await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert len((await feed(store)).rows) == 2_000
    assert all(not connection.in_transaction for connection in store._readers._idle)


async def test_a_difference_in_chunks(store: SqliteBackend, small_chunks: int) -> None:
    await fill(store, 3)
    ids = await fill(store, 35)
    told = await feed(store, after=3)
    assert {row.id for row in told.rows} == set(ids)


@pytest.mark.parametrize("large", [20_000, 0], ids=["inline", "in a thread"])
async def test_whole_scope_questions(store: SqliteBackend, monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    monkeypatch.setattr(backend, "LARGE", large)
    ids = await fill(store, 12)
    assert await store.matching(AGENT, Filter()) == set(ids)
    assert (await store.stats(AGENT)).memories == 12
    assert [m.id for m in (await store.scan(AGENT, Filter(), limit=5)).items] == ids[:5]


async def test_threads_read_side_by_side(store: SqliteBackend) -> None:
    ids = await fill(store, 50)
    faults: list[BaseException] = []

    def read() -> None:
        try:
            for id_ in ids * 4:
                assert asyncio.run(get(store, id_)) is not None
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=read) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert faults == []
    assert len(store._readers._idle) <= 4


async def test_two_stores_on_one_file_see_each_other(store: SqliteBackend, path: Path) -> None:
    other = await SqliteBackend.open(path)
    for n in range(5):
        mine, theirs = await put(store, f"mine {n}"), await put(other, f"theirs {n}")
        assert await get(other, mine.id) == mine
        assert await get(store, theirs.id) == theirs
        assert await store.head(AGENT) == await other.head(AGENT)
    await other.close()


ONE = Filter(states=None)
USES = [
    (AGENT, ONE, "recorded", "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    (AGENT, ONE, "occurred", "memories_occurred (scope=?)"),
    (AGENT, Filter(kinds=("goal",)), "recorded", "memories_kind (scope=? AND kind=? AND rowid>? AND rowid<?)"),
    (AGENT, Filter(kinds=("goal", "plan")), "recorded", "memories_kind (scope=? AND kind=?"),
    (AGENT, Filter(sessions=("s",)), "occurred", "memories_session (scope=? AND session=?"),
    (AGENT, Filter(users=("alice",)), "recorded", "memories_user (scope=? AND user=?"),
    (AGENT, Filter(keys=("k",)), "recorded", "memories_key (scope=? AND key=?)"),
    (AGENT, Filter(ids=("x",)), "recorded", "memories_id (scope=? AND id=?"),
    (
        AGENT,
        Filter(since=NOON, until=NOON),
        "occurred",
        "memories_occurred (scope=? AND occurred_at>? AND occurred_at<?)",
    ),
    (ALICE, ONE, "recorded", "memories_user (scope=? AND user=?"),
]


def plan(connection: apsw.Connection, query: str, values: object) -> str:
    return "\n".join(str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values))


@pytest.mark.parametrize(("scope", "where", "order", "index"), USES)
async def test_scans_use_their_index(
    store: SqliteBackend, path: Path, scope: Scope, where: Filter, order: Order, index: str
) -> None:
    connection = apsw.Connection(str(path))
    query, values = reads.page_query(scope, 1, where, order, True, 10, None)
    assert index in plan(connection, query, values)
    connection.close()


async def test_no_question_reads_more_than_its_agent(store: SqliteBackend, path: Path) -> None:
    connection = apsw.Connection(str(path))
    names = ("begin", "end", "scope", "user", "ids", "id", "after", "limit", "relation", "memory_id", "operation")
    values = dict.fromkeys((*names, "at", "interaction", "own", "users", "everything", "old", "new", "reads"))
    slotted = ("feed_agent", "feed_user", "feed_rows", "count_vectors")
    queries = [of_slot(name, "a") for name in slotted]
    queries += [
        text for name, text in QUERIES.items() if ":begin" in text or (":scope" in text and name not in slotted)
    ]
    assert len(queries) > 15
    for query in queries:
        if "{vectors}" not in query:
            told = plan(connection, query, values)
            tables = [line for line in told.splitlines() if line.startswith("SCAN")]
            assert all("json_each" in line or line in ("SCAN l", "SCAN n", "SCAN r") for line in tables), told
    connection.close()


def test_every_order_is_known() -> None:
    for order in get_args(Order):
        assert reads.page_query(AGENT, 1, ONE, order, False, 10, None)[0]
