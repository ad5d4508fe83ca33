"""Episodes under random use: events in order, and everything within the interval it belongs to."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.property.conftest import Host, few

from longmind.errors import Conflict, InvalidInput
from longmind.systems.episodic import Episode, EpisodicMemory, Event
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

MINUTES = st.integers(-2, 12)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("start"), MINUTES, st.none() | st.integers(0, 3)),
        st.tuples(st.just("record"), st.integers(0, 3), MINUTES, st.integers(0, 8)),
        st.tuples(st.just("record"), st.integers(0, 3), MINUTES, st.integers(0, 8)),
        st.tuples(st.just("record"), st.integers(0, 3), MINUTES, st.just(0)),
        st.tuples(st.just("finish"), st.integers(0, 3), st.none() | MINUTES),
        st.tuples(st.just("wait"), st.integers(0, 5)),
    ),
    max_size=25,
)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


async def take(episodic: EpisodicMemory, clock: FakeClock, ids: list[str], step: tuple[Any, ...]) -> str | None:
    """Do one step if the rules allow it; tells the id of an event that was recorded."""
    try:
        match step:
            case ("start", minutes, parent):
                above = ids[parent] if parent is not None and parent < len(ids) else None
                ids.append((await episodic.start(f"Episode {len(ids)}", start=at(minutes), parent=above)).id)
            case ("record", which, minutes, length) if which < len(ids):
                lasting = timedelta(minutes=length)
                return (await episodic.record(ids[which], "something", at=at(minutes), duration=lasting)).id
            case ("finish", which, minutes) if which < len(ids):
                await episodic.finish(ids[which], end=None if minutes is None else at(minutes))
            case ("wait", minutes):
                clock.advance(timedelta(minutes=minutes))
    except (InvalidInput, Conflict):
        return None  # what was refused must have changed nothing, which the checks at the end find out
    return None


def check_intervals(episodes: dict[str, Episode], events: dict[str, list[Event]]) -> None:
    for episode in episodes.values():
        assert episode.end is None or episode.end >= episode.start
        for event in events[episode.id]:
            assert episode.start <= event.at <= event.end
            assert episode.end is None or event.end <= episode.end
        if episode.parent is not None:
            above = episodes[episode.parent]
            assert above.start <= episode.start
            assert above.end is None or episode.start <= above.end
            assert above.end is None or episode.end is None or episode.end <= above.end


async def check_order(scoped: ScopedStore, events: list[Event]) -> None:
    """The events are in the order of their time, and the chain of ``next`` leads through all of them in that order."""
    ids = [event.id for event in events]
    assert ids == [e.id for e in sorted(events, key=lambda e: (e.at, e.id))]
    links = await scoped.store.links(scoped.scope, ids, relation="next", direction="out") if ids else []
    assert sorted((link.source, link.target) for link in links) == sorted(itertools.pairwise(ids))


@few(15)
@given(steps=STEPS)
def test_events_are_in_order_and_within_their_episodes(host: Host, steps: list[tuple[Any, ...]]) -> None:
    scoped = host.scoped()
    host.clock.set(NOON)

    async def example() -> None:
        episodic = EpisodicMemory(scoped)
        ids: list[str] = []
        recorded: set[str] = set()
        for step in steps:
            if (made := await take(episodic, host.clock, ids, step)) is not None:
                recorded.add(made)
        episodes = {id: await episodic.get(id) for id in ids}
        events = {id: list((await episodic.events(id, limit=1000)).items) for id in ids}
        assert {event.id for own in events.values() for event in own} == recorded
        check_intervals(episodes, events)
        for id, own in events.items():
            assert episodes[id].events == len(own)
            await check_order(scoped, own)
            assert [one.event async for one in episodic.replay(id)] == own

    host.runner.run(example())


@few(8)
@given(minutes=st.lists(st.integers(0, 6), min_size=2, max_size=9))
def test_recorders_at_the_same_time_make_one_chain(host: Host, minutes: list[int]) -> None:
    scoped = host.scoped()
    host.clock.set(NOON)

    async def example() -> None:
        episodic = EpisodicMemory(scoped)
        episode = await episodic.start("Together")
        made = await asyncio.gather(*(episodic.record(episode.id, str(m), at=at(m)) for m in minutes))
        events = list((await episodic.events(episode.id)).items)
        assert {e.id for e in events} == {e.id for e in made}
        await check_order(scoped, events)

    host.runner.run(example())


@few(10)
@given(
    spans=st.lists(st.tuples(st.integers(0, 10), st.none() | st.integers(0, 5)), max_size=6),
    window=st.tuples(st.integers(-1, 12), st.integers(0, 4)),
)
def test_what_went_on_in_a_time_is_what_overlaps_it(
    host: Host, spans: list[tuple[int, int | None]], window: tuple[int, int]
) -> None:
    scoped = host.scoped()
    host.clock.set(NOON)

    async def example() -> None:
        episodic = EpisodicMemory(scoped)
        start, end = at(window[0]), at(window[0] + window[1])
        expected = set()
        for begin, length in spans:
            episode = await episodic.start("Some time", start=at(begin))
            if length is not None:
                await episodic.finish(episode.id, end=at(begin + length))
            if at(begin) <= end and (length is None or at(begin + length) >= start):
                expected.add(episode.id)
        assert {e.id for e in (await episodic.meanwhile(start, end)).episodes} == expected

    host.runner.run(example())
