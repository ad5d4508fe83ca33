"""Working memory under random use: never more in it than fits, and nothing that was put is ever lost."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.property.conftest import Host, few

from longmind.errors import NotFound
from longmind.store.base import MAX_PAGE
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.working import WorkingMemory
from longmind.testing import FakeClock
from longmind.types import Filter

KEYS = st.sampled_from(["plan", "home", "food", "tax", "a b", "ключ"])
TEXTS = st.lists(
    st.sampled_from(["Lisbon", "the tram", "fish in Lisbon", "Ana", "with Ana", "tax", "数", "x" * 40]),
    min_size=1,
    max_size=3,
).map(" ".join)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, TEXTS, st.sampled_from([0.0, 0.2, 0.5, 1.0])),
        st.tuples(st.just("put"), KEYS, TEXTS, st.sampled_from([0.0, 0.2, 0.5, 1.0])),
        st.tuples(st.just("fetch"), KEYS),
        st.tuples(st.just("release"), KEYS),
        st.tuples(st.just("focus"), TEXTS),
        st.tuples(st.just("attend"), TEXTS),
        st.tuples(st.just("resize"), st.integers(1, 4)),
        st.tuples(st.just("chunk")),
        st.tuples(st.just("clear")),
        st.tuples(st.just("wait"), st.sampled_from([-30, 60, 4000])),
    ),
    max_size=25,
)


async def take(working: WorkingMemory, clock: FakeClock, step: tuple[Any, ...]) -> None:
    match step:
        case ("put", key, text, importance):
            await working.put(key, text, importance)
        case ("fetch" | "release" as verb, key):
            try:
                await getattr(working, verb)(key)
            except NotFound:
                assert verb == "fetch" or await working.item(key) is None
        case ("focus" | "attend" as verb, text):
            await getattr(working, verb)(text)
        case ("resize", items):
            await working.resize(items=items)
        case ("wait", seconds):
            clock.advance(seconds)
        case (verb,):
            await getattr(working, verb)()


async def kept(scoped: ScopedStore) -> set[tuple[str, str]]:
    """Every key and text that episodic memory keeps."""
    where = Filter(kinds=("event",))
    page = await scoped.store.scan(scoped.scope, where, limit=MAX_PAGE)
    assert page.cursor is None
    return {(m.body["data"]["key"], m.content) for m in page.items}


async def check(working: WorkingMemory, scoped: ScopedStore, put: set[tuple[str, str]]) -> None:
    data = await working.context("dict")
    items = await working.items()
    assert len(data["slots"]) <= data["limits"]["items"]
    assert sum(item.tokens for item in items) == data["tokens"] <= data["limits"]["tokens"]
    assert len({item.key for item in items}) == len(items) == sum(len(slot["items"]) for slot in data["slots"])
    assert put <= {(item.key, item.content) for item in items} | await kept(scoped), "an item was lost"


@few(12)
@given(steps=STEPS, slots=st.integers(1, 4), tokens=st.sampled_from([40, 60, 2000]))
def test_what_is_in_mind_always_fits_and_nothing_is_lost(
    host: Host, steps: list[tuple[Any, ...]], slots: int, tokens: int
) -> None:
    scoped = host.scoped()

    async def example() -> None:
        working = WorkingMemory(scoped, items=slots, tokens=tokens)
        put: set[tuple[str, str]] = set()
        for step in steps:
            await take(working, host.clock, step)
            if step[0] == "put":
                put.add((step[1], step[2]))
                assert (await working.item(step[1])).content == step[2], "what is put now is in mind"
            await check(working, scoped, put)

    host.runner.run(example())


@few(8)
@given(
    puts=st.lists(st.tuples(KEYS, TEXTS), min_size=2, max_size=10),
    slots=st.integers(1, 3),
)
def test_writers_at_the_same_time_fit_and_lose_nothing_too(host: Host, puts: list[tuple[str, str]], slots: int) -> None:
    scoped = host.scoped()

    async def example() -> None:
        minds = [WorkingMemory(scoped, items=slots) for _ in range(2)]
        await asyncio.gather(*(minds[n % 2].put(key, text) for n, (key, text) in enumerate(puts)))
        await check(minds[0], scoped, set(puts))
        state = await scoped.store.by_key(scoped.scope, "working:state")
        assert state is not None
        history = await scoped.store.history(scoped.scope, state.id)
        assert all(len(change.after["body"]["slots"]) <= slots for change in history if change.after)

    host.runner.run(example())
