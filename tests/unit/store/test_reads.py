"""Reads of any size: every id and every link, in one order, however many batches they take."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from longmind.store import reads
from longmind.store.base import AddLink, Put
from longmind.store.inmem import InmemBackend
from longmind.store.store import Store
from longmind.testing import FakeClock, memory
from longmind.types import Direction, Link, Scope

SCOPE = Scope(agent="assistant")


@pytest.fixture
async def store() -> Store:
    return Store(InmemBackend(), FakeClock())


async def stored(store: Store, count: int) -> list[str]:
    memories = [memory(f"note {n}", scope=SCOPE) for n in range(count)]
    await store.apply(SCOPE, [Put(record) for record in memories])
    return [record.id for record in memories]


async def test_get_all_keeps_the_order_and_returns_each_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = await stored(store, 7)
    monkeypatch.setattr(reads, "MAX_PAGE", 3)
    wanted = [ids[5], ids[0], store.clock.new_id(), ids[6], ids[5], ids[2], ids[0]]
    assert [record.id for record in await store.get_all(SCOPE, wanted)] == [ids[5], ids[0], ids[6], ids[2]]
    assert await store.get_all(SCOPE, []) == []


@pytest.mark.parametrize("direction", ["out", "in", "both"])
@pytest.mark.parametrize("size", [2, 3, 1_000])
async def test_all_links_are_those_of_one_read_in_its_order(
    store: Store, direction: Direction, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await stored(store, 7)
    links = [
        Link(source=ids[n], relation=relation, target=ids[(n + step) % 7], weight=((n + step) % 3) / 3)
        for relation, step in (("next", 1), ("about", 3))
        for n in range(7)
    ]
    await store.apply(SCOPE, [AddLink(link) for link in links])
    monkeypatch.setattr(reads, "MAX_PAGE", size)

    async def both(asked: Sequence[str], relation: str | None) -> tuple[list[Link], list[Link]]:
        once = await store.links(SCOPE, asked, relation=relation, direction=direction, limit=1_000)
        return once, await store.all_links(SCOPE, asked, relation=relation, direction=direction)

    for relation, count in ((None, 14), ("next", 7)):
        once, all_links = await both(ids, relation)
        assert len(once) == count
        assert all_links == once
    once, all_links = await both([ids[0], ids[4], ids[0]], None)
    assert all_links == once != []
    assert await store.all_links(SCOPE, [], direction=direction) == []


async def test_all_links_has_no_limit(store: Store) -> None:
    ids = await stored(store, 1_200)
    await store.apply(SCOPE, [AddLink(Link(source=id, relation="part_of", target=ids[0])) for id in ids[1:]])
    assert len(await store.links(SCOPE, [ids[0]], direction="in")) == 1_000
    assert len(await store.all_links(SCOPE, [ids[0]], direction="in")) == 1_199
