"""The feed that search is built from."""

from __future__ import annotations

import random

import pytest

from longmind.store.base import AddLink, Backend, Delete, Feed, IndexRow, Put, Touch, Update, Write
from longmind.store.conformance.steps import (
    AGENT,
    ALICE,
    BOB,
    NOON,
    apply,
    feed,
    float16_bytes,
    link,
    put,
    unit_vector,
    update,
    with_space,
)
from longmind.testing import memory
from longmind.text.index_terms import index_terms
from longmind.types import Link, Memory, Scope

MANY = 6_000
"""More rows than one chunk holds."""


class Feeds:
    """From 0 a feed tells every memory there is, in the order of their puts, and no ids that are gone. From n it tells
    each memory that was put, updated, deleted or erased after n: its row if it exists, else its id. A feed at n with
    the feed after n on top of it is the feed of now. There is always at least one chunk, and the chunks together are
    one reading."""

    async def test_a_row_tells_what_search_needs(self, backend: Backend) -> None:
        await with_space(backend)
        vector = unit_vector(0.3, -0.2, 0.9, 0.1)
        new = await put(
            backend,
            "The harbour of Lisbon.",
            scope=ALICE,
            session="s",
            kind="fact",
            state="stale",
            importance=0.3,
            trust=0.7,
            valid_from=NOON,
            tags=("sea",),
            vector=vector,
        )
        (row,) = (await feed(backend)).rows
        assert row.occurred_at == pytest.approx(new.occurred_at.timestamp(), abs=1e-5)
        assert row.recorded_at == pytest.approx(new.recorded_at.timestamp(), abs=1e-5)
        assert row.valid_from == pytest.approx(NOON.timestamp(), abs=1e-5)
        row.occurred_at = row.recorded_at = row.valid_from = 0.0
        assert row == IndexRow(
            id=new.id,
            seq=1,
            user="alice",
            session="s",
            kind="fact",
            state="stale",
            importance=0.3,
            trust=0.7,
            occurred_at=0.0,
            recorded_at=0.0,
            valid_from=0.0,
            valid_to=None,
            expires_at=None,
            terms=index_terms(new),
            vector=float16_bytes(vector),
        )

    async def test_an_empty_feed_has_one_chunk(self, backend: Backend) -> None:
        for after in (0, 7):
            chunks = [chunk async for chunk in backend.feed(AGENT, after)]
            assert [(chunk.head, chunk.rows, chunk.gone) for chunk in chunks] == [((0, 0), [], [])]

    async def test_every_state_is_told(self, backend: Backend) -> None:
        kept = [await put(backend, state=state) for state in ("active", "archived", "quarantined")]
        assert [row.id for row in (await feed(backend)).rows] == [m.id for m in kept]

    async def test_from_the_start_in_the_order_of_puts(self, backend: Backend) -> None:
        made = [memory(scope=AGENT) for _ in range(20)]
        random.Random(3).shuffle(made)
        for new in made:
            await apply(backend, Put(new))
        await apply(backend, Delete(made[4].id))
        await update(backend, made[2].id, content="new")
        told = await feed(backend)
        assert [row.id for row in told.rows] == [m.id for m in made if m is not made[4]]
        assert (told.gone, told.head.seq) == ([], 22)

    async def test_what_changed_since(self, backend: Backend) -> None:
        kept, changed, gone = [await put(backend, text) for text in ("kept", "changed", "gone")]
        await update(backend, changed.id, content="one")
        await update(backend, changed.id, content="two")
        await apply(backend, Delete(gone.id))
        late = await put(backend, "late")
        fleeting = await put(backend, "fleeting")
        await apply(backend, Delete(fleeting.id, erase=True))
        told = await feed(backend, after=3)
        assert {row.id: row.seq for row in told.rows} == {changed.id: 2, late.id: 7}
        assert {*told.gone} == {gone.id, fleeting.id}
        assert (await feed(backend, after=9)).rows == []
        assert kept.id in {row.id for row in (await feed(backend, after=0)).rows}

    async def test_links_and_touches_are_not_told(self, backend: Backend) -> None:
        new = await put(backend)
        await link(backend, new, "x", new)
        await apply(backend, Touch((new.id,), NOON))
        told = await feed(backend, after=1)
        assert (told.rows, told.gone, told.head.seq) == ([], [], 2)

    @pytest.mark.parametrize("scope", [AGENT, ALICE, BOB], ids=["agent", "alice", "bob"])
    async def test_differences_add_up(self, backend: Backend, scope: Scope) -> None:
        await with_space(backend)
        dice = random.Random(11)
        readings: list[Feed] = []
        alive: list[Memory] = []
        for _ in range(12):
            readings.append(await feed(backend, scope))
            for _ in range(3):
                await apply(backend, _random_write(dice, alive))
        now = await feed(backend, scope)
        for reading in readings:
            if reading.head.seq == 0:
                continue
            rows = {row.id: row for row in reading.rows}
            news = await feed(backend, scope, reading.head.seq)
            assert news.head == now.head
            for id in news.gone:
                rows.pop(id, None)
            rows.update({row.id: row for row in news.rows})
            assert rows == {row.id: row for row in now.rows}

    async def test_a_long_feed_is_one_reading(self, backend: Backend) -> None:
        made = [memory(f"{n}", scope=AGENT) for n in range(MANY)]
        await apply(backend, *(Put(m) for m in made))
        chunks: list[Feed] = []
        async for chunk in backend.feed(AGENT, 0):
            chunks.append(chunk)
            if len(chunks) == 1:
                await apply(backend, Delete(made[-1].id), Put(memory("late", scope=AGENT)))
                await update(backend, made[-2].id, content="changed")
        rows = [row for chunk in chunks for row in chunk.rows]
        assert {chunk.head.seq for chunk in chunks} == {MANY}
        assert [row.id for row in rows] == [m.id for m in made]
        assert rows[-2].terms == index_terms(made[-2])
        assert len(chunks) > 1, "a chunk holds about 5,000 rows"
        told = await feed(backend, after=MANY)
        assert ([row.seq for row in told.rows], told.gone) == ([MANY - 1, MANY + 2], [made[-1].id])

    async def test_a_feed_may_be_left_early(self, backend: Backend) -> None:
        await put(backend)
        reading = backend.feed(AGENT, 0)
        await anext(reading)
        close = getattr(reading, "aclose", None)
        if close is not None:
            await close()
        await put(backend)
        assert len((await feed(backend)).rows) == 2


def _random_write(dice: random.Random, alive: list[Memory]) -> Write:
    """A put, update, link or delete; ``alive`` is kept up to date."""
    vector = unit_vector(*(dice.uniform(-1, 1) for _ in range(4)))
    choice = dice.randrange(6) if alive else 0
    if choice <= 1:
        new = memory(f"{dice.random()}", scope=dice.choice((AGENT, ALICE, BOB)))
        alive.append(new)
        return Put(new, vector if dice.random() < 0.7 else None)
    one = dice.choice(alive)
    if choice == 2:
        return Update(one.id, {"content": f"{dice.random()}"}, vector=dice.choice((None, vector)))
    if choice == 3:
        return Update(one.id, {"importance": dice.random(), "state": dice.choice(("active", "archived"))})
    if choice == 4:
        return AddLink(Link(source=one.id, relation="x", target=dice.choice(alive).id, weight=dice.random()))
    alive.remove(one)
    return Delete(one.id, erase=dice.random() < 0.5)
