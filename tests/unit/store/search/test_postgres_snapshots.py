"""Snapshots of views in PostgreSQL: used when they fit, taken back by an erasure, and of one tenant each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import pytest
from tests.unit.store.search.test_snapshots import CLOCK, ROWS, SCOPE, SPACE, answers, feeds_read, fill, small

from longmind.store.postgres import PostgresBackend
from longmind.store.postgres.snapshots import PostgresSnapshots
from longmind.store.search.packed import CapturedView
from longmind.store.store import Store
from longmind.types import Scope

__all__ = ["small"]  # a fixture that is used by all


@asynccontextmanager
async def opened(url: str, *, stored: bool = True) -> AsyncIterator[Store]:
    """A store as another process would open it: with no view in memory."""
    backend = await PostgresBackend.open(url, clock=CLOCK)
    store = Store(backend, CLOCK, snapshots=backend.snapshots() if stored else None)
    await backend.declare_space(SPACE)
    try:
        yield store
    finally:
        await store.close()


def parts(url: str) -> list[tuple[str, int, bytes]]:
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT agent, part, content FROM longmind.view_snapshots ORDER BY agent, part")
        return [(agent, part, bytes(content)) for agent, part, content in rows]


async def test_a_new_process_begins_with_the_snapshot_and_answers_the_same(
    postgres_store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longmind.store.postgres.snapshots._PART", 1_000)
    async with opened(postgres_store_url) as store:
        memories = await fill(store)
        await store.view(SCOPE)
    assert len(parts(postgres_store_url)) > 2, "it has several parts"
    async with opened(postgres_store_url, stored=False) as store:
        expected = answers(await store.view(SCOPE))
    async with opened(postgres_store_url) as store:
        read = feeds_read(store, monkeypatch)
        assert answers(await store.view(SCOPE)) == expected
        assert read == [ROWS], "only what came after it is read"
        await store.delete(SCOPE, memories[3].id)
    async with opened(postgres_store_url, stored=False) as store:
        expected = answers(await store.view(SCOPE))
    async with opened(postgres_store_url) as store:
        assert answers(await store.view(SCOPE)) == expected


async def test_a_damaged_or_foreign_snapshot_is_not_used(
    postgres_store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(postgres_store_url) as store:
        await fill(store)
        expected = answers(await store.view(SCOPE))
    for change in (
        "UPDATE longmind.view_snapshots SET content = substr(content, 1, 100) WHERE part = 1",
        "DELETE FROM longmind.view_snapshots WHERE part = 1",
        "UPDATE longmind.view_snapshots SET content = 'x' WHERE part = 0",
    ):
        with psycopg.connect(postgres_store_url, autocommit=True) as connection:
            assert connection.execute(change.encode()).rowcount == 1
        async with opened(postgres_store_url) as store:
            read = feeds_read(store, monkeypatch)
            assert answers(await store.view(SCOPE)) == expected
            assert read[0] == 0, change


async def test_an_erasure_takes_the_snapshots_of_the_agent_back(postgres_store_url: str) -> None:
    async with opened(postgres_store_url) as store:
        memories = await fill(store)
        await store.view(SCOPE)
        await store._views.finish()
        assert any(memories[0].id.encode() in content for _, _, content in parts(postgres_store_url))
        await store.delete(SCOPE, memories[0].id, erase=True)
        assert parts(postgres_store_url) == []
        await store.view(SCOPE)
        await store._views.finish()
        kept = parts(postgres_store_url)
        assert kept
        assert not any(memories[0].id.encode() in content for _, _, content in kept)
        assert "Removed the stored search views." in (await store.scrub()).done
        assert parts(postgres_store_url) == []


async def test_a_snapshot_that_is_stored_after_an_erasure_is_not_kept(
    postgres_store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has copied the view, and stores it after the erasure."""
    write, copied, erased = PostgresSnapshots._write, asyncio.Event(), asyncio.Event()

    async def late(self: PostgresSnapshots, params: dict[str, object], captured: CapturedView, mark: str) -> bool:
        copied.set()
        await erased.wait()
        return await write(self, params, captured, mark)

    monkeypatch.setattr(PostgresSnapshots, "_write", late)
    async with opened(postgres_store_url) as other, opened(postgres_store_url) as store:
        memories = await fill(store)
        await other.view(SCOPE)
        await copied.wait()
        assert [part for _, part, _ in parts(postgres_store_url)] == [-1], "it is announced"
        await store.delete(SCOPE, memories[0].id, erase=True)
        erased.set()
        await other._views.finish()
        assert parts(postgres_store_url) == []


async def test_an_announcement_waits_for_an_erasure_under_way(postgres_store_url: str) -> None:
    async with opened(postgres_store_url) as store:
        await fill(store, 3)
        snapshots = store.backend.snapshots()  # type: ignore[attr-defined]
        with psycopg.connect(postgres_store_url) as erasing:
            lock = "SELECT pg_advisory_xact_lock(hashtextextended(%s || '/' || %s, 25))"
            erasing.execute(lock, (SCOPE.tenant, SCOPE.agent))
            beginning = asyncio.create_task(snapshots.begin(SCOPE))
            waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            while erasing.execute(waiting).fetchone() == (0,):  # noqa: ASYNC110  # another session waits
                await asyncio.sleep(0.01)
            assert not beginning.done()
            other = Scope(agent="another", all_users=True)
            await snapshots.begin(other)
        write = await beginning
        assert callable(write)
