"""Finding episodes: by type, time and text, around a moment, and what else happened then, on every backend."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from longmind.errors import InvalidInput
from longmind.store.base import Put
from longmind.systems.episodic import Episode, EpisodicMemory
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


async def told(episodic: EpisodicMemory, title: str, start: datetime, end: datetime | None, **more: str) -> Episode:
    """An episode from start to end."""
    made = await episodic.start(title, start=start, **more)
    return made if end is None else await episodic.finish(made.id, end=end)


async def test_episodes_are_listed_by_type_and_time_the_latest_first(episodic: EpisodicMemory) -> None:
    a = await told(episodic, "A", NOON, NOON + HOUR, type="task")
    b = await told(episodic, "B", NOON + HOUR, None, type="talk")
    c = await told(episodic, "C", NOON + 2 * HOUR, None, type="task")
    assert (await episodic.list()).items == (c, b, a)
    assert (await episodic.list(type="task")).items == (c, a)
    assert (await episodic.list(open=False)).items == (a,)
    assert (await episodic.list(since=NOON + HOUR, until=NOON + 2 * HOUR)).items == (b,)
    assert await episodic.recent(2) == (c, b)
    first = await episodic.list(limit=2)
    assert (await episodic.list(limit=2, cursor=first.cursor)).items == (a,)
    with pytest.raises(InvalidInput, match="ends before it begins"):
        await episodic.list(since=NOON, until=NOON - HOUR)


async def test_events_are_listed_by_type_actor_and_time(episodic: EpisodicMemory) -> None:
    one, two = await episodic.start("One"), await episodic.start("Two")
    a = await episodic.record(one.id, "a", type="step", actor="Ann", at=NOON + MINUTE)
    b = await episodic.record(two.id, "b", type="step", actor="Bob", at=NOON + 2 * MINUTE)
    c = await episodic.record(one.id, "c", type="check", actor="Bob", at=NOON + 3 * MINUTE)
    assert (await episodic.events()).items == (a, b, c)
    assert (await episodic.events(one.id)).items == (a, c)
    assert (await episodic.events(type="step")).items == (a, b)
    assert (await episodic.events(actor="Bob", descending=True)).items == (c, b)
    assert (await episodic.events(since=NOON + 2 * MINUTE, until=NOON + 3 * MINUTE)).items == (b,)


async def test_an_episode_is_found_by_its_words_and_by_those_of_its_events(episodic: EpisodicMemory) -> None:
    walk = await episodic.start("A walk along the harbour", type="leisure")
    bake = await episodic.start("Baking", description="Sourdough for Sunday")
    event = await episodic.record(bake.id, "The oven caught fire near the harbour window")
    await episodic.start("Reading a book")
    hits = await episodic.search("harbour")
    assert {hit.episode.id for hit in hits} == {walk.id, bake.id}
    by_event = next(hit for hit in hits if hit.episode.id == bake.id)
    assert by_event.events == (event,)
    assert [hit.episode.id for hit in await episodic.search("sourdough")] == [bake.id]
    assert [hit.episode.id for hit in await episodic.search("harbour", type="leisure")] == [walk.id]
    await episodic.finish(bake.id, "failed", note="Smoke everywhere")
    assert [hit.episode.id for hit in await episodic.search("smoke", outcome="failed")] == [bake.id]
    assert await episodic.search("smoke", outcome="succeeded") == ()
    with pytest.raises(InvalidInput, match="k must be"):
        await episodic.search("harbour", 0)


async def test_the_timeline_around_a_moment(episodic: EpisodicMemory) -> None:
    long = await told(episodic, "Long", NOON - 5 * HOUR, NOON + 5 * HOUR)
    over = await told(episodic, "Over", NOON - 5 * HOUR, NOON - HOUR)
    for minutes in (-90, -30, -10, 0, 10, 90):
        await episodic.record(long.id, str(minutes), at=NOON + minutes * MINUTE)
    line = await episodic.timeline(NOON)
    assert [e.what for e in line.before] == ["-30", "-10"]
    assert [e.what for e in line.after] == ["0", "10"]
    assert [e.id for e in line.ongoing] == [long.id]
    assert not line.truncated
    wide = await episodic.timeline(NOON, before=2 * HOUR, after=2 * HOUR, limit=2)
    assert [e.what for e in (*wide.before, *wide.after)] == ["-30", "-10", "0", "10"]
    assert wide.truncated
    assert over.id in {e.id for e in (await episodic.timeline(NOON - HOUR)).ongoing}
    edge = await episodic.timeline(datetime.max.replace(tzinfo=UTC), after=HOUR)
    assert edge.after == ()
    with pytest.raises(InvalidInput):
        await episodic.timeline(NOON, before=-HOUR)


async def test_what_else_happened_then(episodic: EpisodicMemory, scoped: ScopedStore, clock: FakeClock) -> None:
    meeting = await told(episodic, "Meeting", NOON, NOON + HOUR)
    inner = await episodic.start("Vote", parent=meeting.id, start=NOON)
    await episodic.finish(inner.id, end=NOON + MINUTE)
    own = await episodic.record(meeting.id, "own", at=NOON + MINUTE)
    rain = await told(episodic, "Rain", NOON - HOUR, NOON)
    await told(episodic, "Later", NOON + 2 * HOUR, None)
    drop = await episodic.record(rain.id, "the last drop", at=NOON)
    message = scoped.new("message", "Where are you all?", occurred_at=NOON + 5 * MINUTE)
    await scoped.write([Put(message)])
    seen = await episodic.meanwhile(meeting.id)
    assert (seen.start, seen.end) == (NOON, NOON + HOUR)
    assert [e.id for e in seen.episodes] == [rain.id]
    assert [e.id for e in seen.events] == [drop.id]
    assert [m.id for m in seen.memories] == [message.id]
    assert not seen.truncated
    span = await episodic.meanwhile(NOON, NOON + MINUTE)
    assert {e.id for e in span.episodes} == {meeting.id, inner.id, rain.id}
    assert {e.id for e in span.events} == {own.id, drop.id}
    with pytest.raises(InvalidInput, match="ends before it begins"):
        await episodic.meanwhile(NOON, NOON - HOUR)


async def test_events_and_episodes_that_another_writer_made_are_read_too(
    episodic: EpisodicMemory, scoped: ScopedStore
) -> None:
    event = scoped.new("event", "A step of a run", body={"run": "x", "seconds": 2.5}, occurred_at=NOON)
    episode = scoped.new("episode", "A summary made elsewhere\nwith more lines", occurred_at=NOON)
    await scoped.write([Put(event), Put(episode)])
    line = await episodic.timeline(NOON)
    assert [(e.what, e.episode, e.duration) for e in line.after] == [("A step of a run", None, timedelta(seconds=2.5))]
    assert [e.title for e in line.ongoing] == ["A summary made elsewhere"]
    await episodic.record(episode.id, "one more")
    assert (await episodic.finish(episode.id)).title == "A summary made elsewhere"
