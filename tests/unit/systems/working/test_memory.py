"""Working memory: what is in mind, what leaves, and how it comes back, on every backend."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from longmind.errors import InvalidInput, NotFound
from longmind.systems.episodic import EpisodicMemory
from longmind.systems.scoped_store import ScopedStore
from longmind.systems.working import WorkingMemory
from longmind.testing import FakeClock
from longmind.types import Source

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
WORDS = "apple bridge candle dragon engine forest guitar hammer island jungle kettle ladder".split()


async def keys(working: WorkingMemory) -> set[str]:
    return {item.key for item in await working.items()}


async def kept(scoped: ScopedStore) -> dict[str, list[str]]:
    """What episodic memory keeps of working memory: for each key the texts that left."""
    episodic = EpisodicMemory(scoped)
    found: dict[str, list[str]] = {}
    for episode in (await episodic.list(type="working memory")).items:
        for event in (await episodic.events(episode.id, limit=1000)).items:
            if "key" in event.data:
                found.setdefault(event.data["key"], []).append(event.what)
    return found


async def test_what_is_put_is_in_mind_with_its_score(working: WorkingMemory, clock: FakeClock) -> None:
    source = Source(role="user", name="Alice")
    placed = await working.put("home", "She lives in Lisbon", 0.8, source)
    assert placed.evicted == ()
    clock.advance(15 * MINUTE)
    (item,) = await working.items()
    assert (item.key, item.content, item.importance, item.source) == ("home", "She lives in Lisbon", 0.8, source)
    assert (item.trust, item.put_at) == (0.8, NOON)
    assert item.recency == pytest.approx(0.75)
    assert item.score == pytest.approx(0.7 * 0.8 + 0.3 * 0.75)
    assert item.attention == item.score
    clock.advance(2 * 60 * MINUTE)
    old = await working.item("home")
    assert old is not None
    assert (old.recency, old.score) == (0.0, pytest.approx(0.56))
    assert await working.item("other") is None


async def test_the_eighth_item_moves_the_least_to_episodic_memory(working: WorkingMemory, scoped: ScopedStore) -> None:
    for n, word in enumerate(WORDS[:7]):
        await working.put(word, word, 0.3 + n / 10)
    placed = await working.put("small", "zeppelin", 0.0)
    assert [(e.key, e.reason) for e in placed.evicted] == [("apple", "evicted")]
    assert await keys(working) == {*WORDS[1:7], "small"}, "what is put now stays, however unimportant"
    assert await kept(scoped) == {"apple": ["apple"]}
    event = await EpisodicMemory(scoped).event(placed.evicted[0].event)
    assert (event.type, event.what, event.importance) == ("evicted", "apple", 0.3)
    assert [hit.memory.id for hit in await scoped.search("apple", kinds=["event"])] == [event.id]


async def test_an_eviction_is_one_operation(working: WorkingMemory, scoped: ScopedStore) -> None:
    for word in WORDS[:7]:
        await working.put(word, word)
    last = (await scoped.store.stats(scoped.scope)).changes
    await working.put("new", "zeppelin")
    changes = await scoped.store.journal(scoped.scope, after=last, limit=1000)
    assert {"put", "delete", "update"} <= {change.action for change in changes}
    assert len({change.operation for change in changes}) == 1


async def test_what_left_can_be_fetched_back(working: WorkingMemory, scoped: ScopedStore) -> None:
    source = Source(role="tool", name="calendar")
    await working.put("first", "apple", 0.0, source)
    for word in WORDS[1:8]:
        await working.put(word, word, 0.5)
    assert "first" not in await keys(working)
    placed = await working.fetch("first")
    assert (placed.item.content, placed.item.importance, placed.item.source) == ("apple", 0.0, source)
    assert placed.item.trust == 0.5
    assert len(placed.evicted) == 1
    assert "first" in await keys(working)
    assert len(await working.items()) == 7
    assert await kept(scoped) == {"first": ["apple"], placed.evicted[0].key: [placed.evicted[0].key]}
    again = await working.fetch("first")
    assert (again.item.id, again.evicted) == (placed.item.id, ())
    with pytest.raises(NotFound, match="never held 'nothing'"):
        await working.fetch("nothing")


async def test_the_latest_text_comes_back(working: WorkingMemory, scoped: ScopedStore) -> None:
    await working.put("step", "one")
    replaced = await working.put("step", "two")
    assert [(e.key, e.reason) for e in replaced.evicted] == [("step", "replaced")]
    assert (await working.put("step", "two", 0.9)).evicted == ()
    await working.release("step")
    assert await working.items() == ()
    assert await kept(scoped) == {"step": ["one", "two"]}
    back = await working.fetch("step")
    assert (back.item.content, back.item.importance) == ("two", 0.9)
    with pytest.raises(NotFound, match="no 'gone'"):
        await working.release("gone")


async def test_erasing_an_event_erases_what_came_back_from_it(scoped_stores: Any, scoped: ScopedStore) -> None:
    mem = (await scoped_stores.longmind()).agent(scoped_stores.agent)
    working = WorkingMemory(scoped)
    await working.put("secret", "the number is 4711")
    await working.release("secret")
    event = (await working.fetch("secret")).item
    await working.release("secret")
    links = await scoped.store.links(scoped.scope, [event.id], direction="both")
    assert links == [], "the item is gone with its links"
    first = (await EpisodicMemory(scoped).events(type="released")).items[0]
    assert (await mem.forget(first.id, erase=True)).count == 2
    with pytest.raises(NotFound):
        await working.fetch("secret")


async def test_a_new_text_comes_from_no_event(working: WorkingMemory, scoped: ScopedStore) -> None:
    await working.put("plan", "old plan")
    await working.release("plan")
    item = (await working.fetch("plan")).item
    assert len(await scoped.store.links(scoped.scope, [item.id], relation="derived_from")) == 1
    await working.put("plan", "new plan")
    assert await scoped.store.links(scoped.scope, [item.id], relation="derived_from") == []


async def test_tokens_are_a_limit_too(scoped: ScopedStore) -> None:
    working = WorkingMemory(scoped, tokens=30, tokens_of=len)
    await working.put("a", "a" * 12, 0.9)
    await working.put("b", "b" * 12, 0.1)
    placed = await working.put("c", "c" * 10, 0.5)
    assert [e.key for e in placed.evicted] == ["b"]
    assert (await working.context("dict"))["tokens"] == 22
    whole = await working.put("d", "d" * 30, 0.0)
    assert {e.key for e in whole.evicted} == {"a", "c"}
    with pytest.raises(InvalidInput, match="room for 30"):
        await working.put("e", "e" * 31)
    assert await keys(working) == {"d"}
    grown = await working.put("d", "x" * 5)
    assert [e.reason for e in grown.evicted] == ["replaced"]


async def test_a_replacement_that_grows_pushes_others_out(scoped: ScopedStore) -> None:
    working = WorkingMemory(scoped, tokens=30, tokens_of=len)
    await working.put("a", "a" * 10, 0.9)
    await working.put("b", "b" * 10, 0.1)
    placed = await working.put("b", "B" * 25, 0.1)
    assert {(e.key, e.reason) for e in placed.evicted} == {("a", "evicted"), ("b", "replaced")}
    assert await kept(scoped) == {"b": ["b" * 10], "a": ["a" * 10]}


async def test_items_are_sorted_three_ways(working: WorkingMemory, clock: FakeClock) -> None:
    await working.put("old", "apple", 0.9)
    clock.advance(50 * MINUTE)
    await working.put("middle", "bridge", 0.2)
    clock.advance(5 * MINUTE)
    await working.put("new", "candle", 0.6)
    assert [i.key for i in await working.items("importance")] == ["old", "new", "middle"]
    assert [i.key for i in await working.items("recency")] == ["new", "middle", "old"]
    assert [i.key for i in await working.items("attention")] == ["new", "old", "middle"]
    with pytest.raises(InvalidInput, match="must be one of 'importance', 'recency', 'attention'"):
        await working.items("size")


async def test_the_focus_moves_attention_and_decides_what_leaves(working: WorkingMemory) -> None:
    await working.put("flight", "The flight leaves at nine", 0.3)
    await working.put("dinner", "Dinner with the neighbours", 0.6)
    assert [i.key for i in await working.items()] == ["dinner", "flight"]
    ranked = await working.focus("which flight do I take?")
    assert [i.key for i in ranked] == ["flight", "dinner"]
    assert ranked[0].relevance > ranked[1].relevance == 0.0
    assert ranked[0].attention == pytest.approx((ranked[0].score + ranked[0].relevance) / 2)
    for word in WORDS[:5]:
        await working.put(word, word, 0.5)
    placed = await working.put("last", "zeppelin", 0.5)
    assert "flight" not in {e.key for e in placed.evicted}
    assert (await working.focus(None))[0].key == "dinner"
    with pytest.raises(InvalidInput, match="focus"):
        await working.focus("x" * 3_000)


async def test_attending_returns_what_matters_and_makes_it_recent(working: WorkingMemory, clock: FakeClock) -> None:
    await working.put("flight", "The flight leaves at nine", 0.5)
    await working.put("dinner", "Dinner with the neighbours", 0.5)
    clock.advance(30 * MINUTE)
    (found,) = await working.attend("when is dinner?", 1)
    assert found.key == "dinner"
    assert [i.key for i in await working.items("recency")] == ["dinner", "flight"]
    dinner = await working.item("dinner")
    assert dinner is not None
    assert (dinner.recency, dinner.attended_at) == (1.0, NOON + 30 * MINUTE)
    await working.focus("flight")
    assert [i.key for i in await working.attend(n=5)] == ["flight", "dinner"]
    with pytest.raises(InvalidInput, match="n must be"):
        await working.attend("x", 0)


async def test_attention_goes_by_meaning_where_there_is_an_embedder(scoped_stores: Any) -> None:
    working = WorkingMemory(await scoped_stores.open(embedder="static"))
    await working.put("pet", "Her puppy is called Rex")
    await working.put("bill", "The invoice is due on Friday")
    assert [i.key for i in await working.attend("does she have a dog?", 1)] == ["pet"]
    assert [i.key for i in await working.attend("is there a payment to make?", 1)] == ["bill"]


async def test_what_does_not_fit_is_refused(working: WorkingMemory, scoped: ScopedStore) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        await working.put("a", "  ")
    with pytest.raises(InvalidInput, match="key"):
        await working.put("", "text")
    with pytest.raises(InvalidInput, match="importance"):
        await working.put("a", "text", 1.5)
    with pytest.raises(InvalidInput, match="name"):
        await working.put("a", "text", source="")
    for limits in ({"items": 0}, {"tokens": 0}):
        with pytest.raises(InvalidInput, match="Limits"):
            WorkingMemory(scoped, **limits)
    assert await working.items() == ()


async def test_everything_survives_a_restart(scoped_stores: Any, clock: FakeClock) -> None:
    working = WorkingMemory(await scoped_stores.open(), items=3)
    for word in WORDS[:4]:
        await working.put(word, word, 0.5)
    await working.focus("bridge")
    await working.begin_task("cross it", goal="be on the other side", variables={"feet": 2})
    await working.converse(topic="bridges", questions=("how long is it?",))
    before = await working.context("dict")
    after = WorkingMemory(await scoped_stores.restart())
    assert await after.context("dict") == before
    assert (await after.fetch(WORDS[0])).item.content == WORDS[0]
    assert len(await after.slots()) == 3, "the limits are remembered too"


async def test_less_room_lets_the_least_go(working: WorkingMemory, scoped: ScopedStore) -> None:
    for n, word in enumerate(WORDS[:5]):
        await working.put(word, word, n / 10)
    assert {e.key for e in await working.resize(items=2)} == set(WORDS[:3])
    assert await keys(working) == set(WORDS[3:5])
    assert await WorkingMemory(scoped).resize(items=7) == ()
    await WorkingMemory(scoped).put("more", "zeppelin")
    assert len(await working.items()) == 3


async def test_clearing_keeps_everything_in_episodic_memory(working: WorkingMemory, scoped: ScopedStore) -> None:
    for word in WORDS[:3]:
        await working.put(word, word)
    await working.set("n", 1)
    assert {e.key for e in await working.clear()} == set(WORDS[:3])
    assert await working.items() == ()
    assert set(await kept(scoped)) == set(WORDS[:3])
    assert await working.get("n") == 1
    assert await working.clear() == ()


async def test_a_forgotten_item_is_no_longer_in_mind(working: WorkingMemory, scoped: ScopedStore) -> None:
    item = (await working.put("a", "apple")).item
    await working.put("b", "bridge")
    await scoped.store.delete(scoped.scope, item.id)
    assert await keys(working) == {"b"}
    await working.put("a", "apple again")
    assert await keys(working) == {"a", "b"}


async def test_each_user_has_a_mind_of_their_own(scoped_stores: Any) -> None:
    scopes = [WorkingMemory(await scoped_stores.open(user=user)) for user in (None, "alice", "bob")]
    for number, working in enumerate(scopes):
        await working.put("who", f"number {number}")
        await working.set("n", number)
    for number, working in enumerate(scopes):
        assert [i.content for i in await working.items()] == [f"number {number}"]
        assert await working.get("n") == number
        await working.release("who")
        assert (await working.fetch("who")).item.content == f"number {number}"


async def test_writers_at_the_same_time_never_put_in_too_much(scoped_stores: Any) -> None:
    others = [await scoped_stores.open()]
    if scoped_stores.backend != "inmem":
        others.append(await scoped_stores.another())
    minds = [WorkingMemory(scoped, items=3) for scoped in others]
    await asyncio.gather(*(minds[n % len(minds)].put(word, word) for n, word in enumerate(WORDS)))
    scoped = others[0]
    assert len(await minds[0].slots()) == 3
    there, gone = await keys(minds[0]), await kept(scoped)
    assert there | set(gone) == set(WORDS)
    assert not there & set(gone)
    state = await scoped.store.by_key(scoped.scope, "working:state")
    assert state is not None
    sizes = [
        len(change.after["body"]["slots"])
        for change in await scoped.store.history(scoped.scope, state.id)
        if change.after is not None
    ]
    assert len(sizes) == len(WORDS)
    assert max(sizes) == 3
