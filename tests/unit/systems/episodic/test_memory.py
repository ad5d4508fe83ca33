"""Episodes and events: writing them, the rules they keep, and reading them back, on every backend."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from longmind.errors import Conflict, InvalidInput, NotFound
from longmind.systems.episodic import EpisodicMemory
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


async def chain_of(scoped: ScopedStore, ids: list[str]) -> list[str]:
    """The ids in the order in which the ``next`` links lead through them."""
    links = await scoped.store.links(scoped.scope, ids, relation="next", direction="out")
    following = {link.source: link.target for link in links}
    assert len(following) == len(links), "an event has two that come next"
    first = [id for id in ids if id not in following.values()]
    assert len(first) == 1, f"the chain has {len(first)} beginnings"
    told = first
    while told[-1] in following:
        told.append(following[told[-1]])
    return told


async def test_an_episode_is_begun_filled_and_ended(
    episodic: EpisodicMemory, scoped: ScopedStore, clock: FakeClock
) -> None:
    begun = await episodic.start("Plan the trip", type="task", tags=["travel"], attributes={"budget": 900})
    assert begun.open
    assert begun.start == NOON
    clock.advance(60)
    event = await episodic.record(
        begun.id, "Searched for flights", type="search", actor="planner", data={"tool": "web"}, duration=MINUTE
    )
    clock.advance(600)
    ended = await episodic.finish(begun.id, "succeeded", note="Booked for May.")
    assert ended.end == NOON + timedelta(seconds=660)
    assert ended.duration == timedelta(seconds=660)
    assert (ended.outcome, ended.note, ended.events) == ("succeeded", "Booked for May.", 1)
    assert ended.attributes == {"budget": 900}
    assert await episodic.get(begun.id) == ended
    assert await episodic.event(event.id) == event
    assert (event.actor, event.data, event.end) == ("planner", {"tool": "web"}, NOON + 2 * MINUTE)
    assert (await episodic.events(begun.id)).items == (event,)
    links = await scoped.store.links(scoped.scope, [event.id], direction="out")
    assert [(link.relation, link.target) for link in links] == [("part_of", begun.id)]


async def test_events_are_chained_in_the_order_of_their_time_however_late_they_come(
    episodic: EpisodicMemory, scoped: ScopedStore
) -> None:
    episode = await episodic.start("A day")
    for minutes in (10, 30, 20, 20, 5, 40, 0):
        await episodic.record(episode.id, f"at {minutes}", at=NOON + minutes * MINUTE)
    events = (await episodic.events(episode.id)).items
    assert [e.what for e in events] == ["at 0", "at 5", "at 10", "at 20", "at 20", "at 30", "at 40"]
    assert await chain_of(scoped, [e.id for e in events]) == [e.id for e in events]


async def test_many_writers_of_one_episode_make_one_chain(episodic: EpisodicMemory, scoped: ScopedStore) -> None:
    episode = await episodic.start("Together")
    await asyncio.gather(*(episodic.record(episode.id, f"event {n}", at=NOON + n * MINUTE) for n in range(12)))
    events = (await episodic.events(episode.id)).items
    assert [e.what for e in events] == [f"event {n}" for n in range(12)]
    assert await chain_of(scoped, [e.id for e in events]) == [e.id for e in events]
    assert (await episodic.get(episode.id)).events == 12


async def test_an_event_must_lie_within_its_episode(episodic: EpisodicMemory) -> None:
    episode = await episodic.start("A meeting")
    with pytest.raises(InvalidInput, match="before its episode began"):
        await episodic.record(episode.id, at=NOON - MINUTE)
    await episodic.finish(episode.id, end=NOON + 60 * MINUTE)
    with pytest.raises(InvalidInput, match="after its episode ended"):
        await episodic.record(episode.id, at=NOON + 61 * MINUTE)
    with pytest.raises(InvalidInput, match="longer than its episode"):
        await episodic.record(episode.id, at=NOON, duration=61 * MINUTE)
    with pytest.raises(InvalidInput, match="lasts until"):
        await episodic.record(episode.id, at=NOON + 30 * MINUTE, duration=31 * MINUTE)
    with pytest.raises(InvalidInput, match="duration"):
        await episodic.record(episode.id, at=NOON, duration=-MINUTE)
    late = await episodic.record(episode.id, "remembered later", at=NOON + 30 * MINUTE, duration=30 * MINUTE)
    assert (await episodic.events(episode.id)).items == (late,)


async def test_an_episode_cannot_end_before_it_began_or_before_its_events(episodic: EpisodicMemory) -> None:
    episode = await episodic.start("A walk")
    with pytest.raises(InvalidInput, match="it began at"):
        await episodic.finish(episode.id, end=NOON - MINUTE)
    await episodic.record(episode.id, at=NOON + MINUTE, duration=9 * MINUTE)
    with pytest.raises(InvalidInput, match="its events last until"):
        await episodic.finish(episode.id, end=NOON + 5 * MINUTE)
    assert (await episodic.get(episode.id)).open
    assert (await episodic.finish(episode.id)).end == NOON + 10 * MINUTE


async def test_an_episode_ends_once_and_can_be_judged_again(episodic: EpisodicMemory) -> None:
    episode = await episodic.start("A try")
    await episodic.finish(episode.id)
    with pytest.raises(Conflict, match="ended already"):
        await episodic.finish(episode.id, "failed")
    judged = await episodic.judge(episode.id, "failed", note="The door was locked.")
    assert (judged.outcome, judged.note, judged.end) == ("failed", "The door was locked.", NOON)
    assert (await episodic.list(outcome="failed")).items == (judged,)
    with pytest.raises(InvalidInput, match="outcome"):
        await episodic.judge(episode.id, "splendid")


async def test_what_is_unknown_is_not_found(episodic: EpisodicMemory, scoped: ScopedStore) -> None:
    missing = scoped.clock.new_id()
    event = await episodic.record((await episodic.start("One")).id, "An event is no episode")
    for call in (
        episodic.get(missing),
        episodic.get("nonsense"),
        episodic.get(event.id),
        episodic.event(missing),
        episodic.record(missing, "lost"),
        episodic.finish(missing),
        episodic.judge(missing, "failed"),
        episodic.events(missing),
        episodic.narrate(missing),
        episodic.meanwhile(missing),
        episodic.start("Inner", parent=missing),
    ):
        with pytest.raises(NotFound):
            await call
    with pytest.raises(NotFound):
        async for _ in episodic.replay(missing):
            pass


async def test_what_cannot_be_an_episode_is_refused(episodic: EpisodicMemory) -> None:
    with pytest.raises(InvalidInput, match="title"):
        await episodic.start("  ")
    with pytest.raises(InvalidInput, match="attributes"):
        await episodic.start("One", attributes={"x": object()})
    with pytest.raises(InvalidInput, match="type"):
        await episodic.start("One", type="")
    episode = await episodic.start("One")
    with pytest.raises(InvalidInput, match="importance"):
        await episodic.record(episode.id, importance=1.5)
    assert (await episodic.list()).items == (episode,)


async def test_an_event_with_a_key_is_recorded_once(episodic: EpisodicMemory) -> None:
    episode, other = await episodic.start("One"), await episodic.start("Two")
    made = await asyncio.gather(*(episodic.record(episode.id, "paid", key="payment 7") for _ in range(5)))
    assert len({event.id for event in made}) == 1
    assert (await episodic.get(episode.id)).events == 1
    assert (await episodic.record(other.id, "paid", key="payment 7")).id != made[0].id


async def test_episodes_within_episodes(episodic: EpisodicMemory, clock: FakeClock) -> None:
    outer = await episodic.start("The trip", start=NOON)
    with pytest.raises(InvalidInput, match="before its parent"):
        await episodic.start("Too early", parent=outer.id, start=NOON - MINUTE)
    clock.advance(MINUTE)
    inner = await episodic.start("The flight", parent=outer.id)
    assert (await episodic.list(parent=outer.id)).items == (inner,)
    with pytest.raises(Conflict, match=r"The flight.*still going on"):
        await episodic.finish(outer.id)
    clock.advance(MINUTE)
    await episodic.finish(inner.id, "succeeded")
    with pytest.raises(InvalidInput, match="an episode within it ended at"):
        await episodic.finish(outer.id, end=NOON + MINUTE)
    ended = await episodic.finish(outer.id, "succeeded")
    clock.advance(MINUTE)
    with pytest.raises(InvalidInput, match="after its parent ended"):
        await episodic.start("Too late", parent=outer.id)
    late = await episodic.start("Found out later", parent=outer.id, start=NOON)
    with pytest.raises(InvalidInput, match="its parent ended"):
        await episodic.finish(late.id)
    assert (await episodic.finish(late.id, end=ended.end)).end == ended.end


async def test_an_episode_lasts_as_long_as_those_within_it(episodic: EpisodicMemory) -> None:
    outer = await episodic.start("The trip")
    inner = await episodic.start("The flight", parent=outer.id)
    await episodic.finish(inner.id, end=NOON + MINUTE)
    assert (await episodic.finish(outer.id)).end == NOON + MINUTE


async def test_a_block_is_an_episode(episodic: EpisodicMemory, clock: FakeClock) -> None:
    async with episodic.episode("Cook", type="task") as outer:
        await outer.record("Boiled water", type="step")
        clock.advance(MINUTE)
        async with episodic.episode("Chop", parent=outer.id) as inner:
            inner.conclude("unknown", "The knife was blunt.")
    ended = await episodic.get(outer.id)
    assert (ended.outcome, ended.events, ended.end) == ("succeeded", 1, NOON + MINUTE)
    chopped = await episodic.get(inner.id)
    assert (chopped.outcome, chopped.note, chopped.parent) == ("unknown", "The knife was blunt.", outer.id)


async def test_an_exception_marks_the_episode_as_failed_and_goes_on(episodic: EpisodicMemory) -> None:
    with pytest.raises(ZeroDivisionError):
        async with episodic.episode("Divide") as running:
            _ = 1 / 0
    failed = await episodic.get(running.id)
    assert (failed.outcome, failed.note, failed.open) == ("failed", "ZeroDivisionError: division by zero", False)


async def test_a_cancelled_block_is_a_failed_episode(episodic: EpisodicMemory) -> None:
    inside = asyncio.Event()
    ids: list[str] = []

    async def work() -> None:
        async with episodic.episode("Wait") as running:
            ids.append(running.id)
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ((await episodic.get(ids[0])).outcome, (await episodic.get(ids[0])).open) == ("failed", False)


async def test_the_error_of_the_block_is_not_hidden_by_one_of_the_store(
    episodic: EpisodicMemory, scoped: ScopedStore
) -> None:
    async def work() -> None:
        async with episodic.episode("Vanish") as running:
            await scoped.store.delete(scoped.scope, running.id)
            _ = 1 / 0

    with pytest.raises(ZeroDivisionError) as caught:
        await work()
    assert "could not be marked as failed" in "".join(caught.value.__notes__)


async def test_a_block_may_end_its_episode_itself(episodic: EpisodicMemory) -> None:
    async with episodic.episode("Early") as running:
        await episodic.finish(running.id, "failed")
    assert (await episodic.get(running.id)).outcome == "failed"


async def test_forgetting_an_event_leaves_the_episode_usable(episodic: EpisodicMemory, scoped: ScopedStore) -> None:
    episode = await episodic.start("A day")
    events = [await episodic.record(episode.id, f"event {n}", at=NOON + n * MINUTE) for n in range(3)]
    await scoped.store.delete(scoped.scope, events[1].id)
    await scoped.store.delete(scoped.scope, events[2].id)
    last = await episodic.record(episode.id, "after", at=NOON + 3 * MINUTE)
    assert [e.id for e in (await episodic.events(episode.id)).items] == [events[0].id, last.id]
    assert await chain_of(scoped, [events[0].id, last.id]) == [events[0].id, last.id]


async def test_everything_is_there_after_a_restart(scoped_stores: Any, clock: FakeClock) -> None:
    scoped = await scoped_stores.open()
    episode = await EpisodicMemory(scoped).start("Before")
    event = await EpisodicMemory(scoped).record(episode.id, "Said goodbye")
    again = EpisodicMemory(await scoped_stores.restart())
    assert (await again.events(episode.id)).items == (event,)
    clock.advance(MINUTE)
    assert (await again.finish(episode.id, "succeeded")).events == 1


async def test_the_episodes_of_another_user_stay_apart(scoped_stores: Any) -> None:
    alice, bob = await scoped_stores.open(user="alice"), await scoped_stores.open(user="bob")
    hers = await EpisodicMemory(alice).start("Hers")
    with pytest.raises(NotFound):
        await EpisodicMemory(bob).record(hers.id, "not his")
    shared = await EpisodicMemory(await scoped_stores.open()).start("Everybody's")
    await EpisodicMemory(alice).record(shared.id, "a secret of hers")
    assert (await EpisodicMemory(bob).events(shared.id)).items == ()
    assert len((await EpisodicMemory(alice).events(shared.id)).items) == 1
    assert len((await EpisodicMemory(bob).list()).items) == 1
