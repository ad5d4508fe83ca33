"""Many writers at once, in one pool and in several: nothing is lost, nothing happens twice, numbers have no gap."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import numpy as np
import pytest

from longmind.clock import SystemClock
from longmind.errors import KeyTaken, ModelMismatch, VersionConflict
from longmind.store.base import AddLink, Batch, Delete, Put, Space, Touch, Update
from longmind.store.postgres import PostgresBackend
from longmind.testing import memory
from longmind.types import Filter, Link, Scope

SCOPE = Scope(agent="assistant")
ANY = Filter(states=None)
MakeBatch = Callable[..., Batch]


@pytest.fixture
async def backends(store_url: str) -> AsyncIterator[list[PostgresBackend]]:
    """Two pools on one store, as two processes would have."""
    opened = [await PostgresBackend.open(store_url, clock=SystemClock(), pool_size=5) for _ in range(2)]
    yield opened
    for backend in opened:
        await backend.close()


async def test_twenty_writers_of_one_agent_number_without_a_gap(
    backends: list[PostgresBackend], batch: MakeBatch
) -> None:
    async def write(number: int) -> None:
        backend = backends[number % 2]
        for turn in range(10):
            first, second = memory(f"{number} {turn}", scope=SCOPE), memory(scope=SCOPE)
            await backend.apply(batch(SCOPE, Put(first)))
            link = AddLink(Link(source=first.id, relation="next", target=second.id))
            await backend.apply(batch(SCOPE, Put(second), link))
            await backend.apply(batch(SCOPE, Update(first.id, {"importance": 0.9}), Delete(second.id)))

    await asyncio.gather(*(write(number) for number in range(20)))
    changes = [c for start in range(0, 1_400, 500) for c in await backends[0].journal(SCOPE, after=start, limit=500)]
    assert [c.seq for c in changes] == list(range(1, 1_201))
    assert (await backends[0].head(SCOPE)).seq == 1_200
    stats = await backends[1].stats(SCOPE)
    assert (stats.memories, stats.links) == (200, 0)
    assert await backends[0].check() == []


async def test_a_reader_never_sees_a_number_before_a_smaller_one(
    backends: list[PostgresBackend], batch: MakeBatch
) -> None:
    done = asyncio.Event()

    async def write(number: int) -> None:
        for _ in range(15):
            await backends[0].apply(batch(SCOPE, *(Put(memory(scope=SCOPE)) for _ in range(1 + number % 3))))

    async def follow() -> list[str]:
        told: list[str] = []
        after = 0
        while True:
            last_round = done.is_set()
            async for chunk in backends[1].feed(SCOPE, after):
                told += [row.id for row in chunk.rows if row.seq > after]
            after = chunk.head.seq
            if last_round:
                return told

    following = asyncio.create_task(follow())
    await asyncio.gather(*(write(number) for number in range(9)))
    done.set()
    told = await following
    assert len(told) == len(set(told)) == 270
    assert set(told) == await backends[0].matching(SCOPE, ANY)


async def test_writers_of_many_agents_do_not_disturb_each_other(
    backends: list[PostgresBackend], batch: MakeBatch
) -> None:
    scopes = [Scope(tenant=f"t{n % 3}", agent=f"a{n}", all_users=True) for n in range(20)]

    async def write(scope: Scope, backend: PostgresBackend) -> None:
        for _ in range(10):
            await backend.apply(batch(scope, Put(memory(scope=scope)), Put(memory(scope=scope))))

    await asyncio.gather(*(write(scope, backends[n % 2]) for n, scope in enumerate(scopes)))
    assert [(await backends[0].head(scope)).seq for scope in scopes] == [20] * 20
    assert await backends[0].scopes() == sorted(scopes, key=lambda s: (s.tenant, s.agent))


async def test_one_key_is_given_once(backends: list[PostgresBackend], batch: MakeBatch) -> None:
    puts = [Put(memory(f"attempt {n}", scope=SCOPE, key="only"), existing="return") for n in range(20)]
    receipts = await asyncio.gather(*(backends[n % 2].apply(batch(SCOPE, put)) for n, put in enumerate(puts)))
    assert sum(receipt.created[0] for receipt in receipts) == 1
    assert len({receipt.memories[0].id for receipt in receipts}) == 1
    assert (await backends[0].head(SCOPE)).seq == 1
    with pytest.raises(KeyTaken):
        await backends[0].apply(batch(SCOPE, Put(memory(scope=SCOPE, key="only"), existing="fail")))


async def test_one_operation_happens_once(backends: list[PostgresBackend], batch: MakeBatch) -> None:
    async def send(number: int) -> bool:
        same = batch(SCOPE, Put(memory("the same", scope=SCOPE)), operation="once", idempotent=True)
        return (await backends[number % 2].apply(same)).replayed

    assert sorted(await asyncio.gather(*(send(n) for n in range(12)))) == [False] + [True] * 11
    assert (await backends[0].stats(SCOPE)).memories == 1


async def test_one_version_is_updated_once(backends: list[PostgresBackend], batch: MakeBatch) -> None:
    kept = memory(scope=SCOPE)
    await backends[0].apply(batch(SCOPE, Put(kept)))
    writes = [Update(kept.id, {"content": f"by {n}"}, expected_version=1) for n in range(10)]
    outcomes = await asyncio.gather(
        *(backends[n % 2].apply(batch(SCOPE, write)) for n, write in enumerate(writes)), return_exceptions=True
    )
    assert sum(isinstance(outcome, VersionConflict) for outcome in outcomes) == 9


async def test_no_read_is_left_uncounted_beside_updates(backends: list[PostgresBackend], batch: MakeBatch) -> None:
    kept = [memory(scope=SCOPE) for _ in range(3)]
    await backends[0].apply(batch(SCOPE, *map(Put, kept)))
    ids = [m.id for m in kept]

    async def touch(number: int) -> None:
        order = ids if number % 2 else ids[::-1]
        for _ in range(10):
            await backends[number % 2].apply(batch(SCOPE, Touch(tuple(order), SystemClock().now(), 0.5)))

    async def update(number: int) -> None:
        for turn in range(10):
            changes = [Update(id, {"content": f"{number} {turn}"}) for id in ids]
            await backends[number % 2].apply(batch(SCOPE, *changes, Touch(tuple(ids), SystemClock().now())))

    await asyncio.gather(*map(touch, range(5)), *map(update, range(5)))
    for found in await backends[0].get(SCOPE, ids):
        assert (found.version, found.access_count, found.interaction) == (51, 100, 25.0)


async def test_no_vector_is_lost_when_the_space_changes_under_the_writers(
    backends: list[PostgresBackend], batch: MakeBatch
) -> None:
    """Every put is made in the space that was active then, or refused; none is left without a vector."""
    old, new = Space("old", 4), Space("new", 6)
    first, second = backends
    await first.declare_space(old)
    changed = asyncio.Event()

    async def write(number: int) -> None:
        while not changed.is_set():
            try:
                await first.apply(batch(SCOPE, Put(memory(scope=SCOPE), np.full(4, 0.5, np.float32))))
            except ModelMismatch:
                return
            await asyncio.sleep(0.01 + 0.01 * number)

    async def change() -> None:
        await second.begin_space(new)
        while not changed.is_set():
            rows = [(s, i, c, np.full(6, 0.4, np.float32)) for s, i, c in await second.missing_vectors(new, 100)]
            await second.put_vectors(new, rows)
            try:
                await second.activate_space(new)
                changed.set()
            except ModelMismatch:
                await asyncio.sleep(0)

    writers = [asyncio.create_task(write(number)) for number in range(4)]
    await asyncio.sleep(0.1)
    await change()
    await asyncio.gather(*writers)
    stats = await first.stats(SCOPE)
    assert stats.memories == stats.vectors >= 1
    assert await first.space() == new
    assert (await first.head(SCOPE)).epoch == 2
    assert await second.check() == []
