"""Writing to several episodes at once: all or nothing, each event once, in the order of time, on every backend."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from longmind.errors import InvalidInput
from longmind.systems.episodic import EpisodeEntry, EpisodicMemory, EventDraft
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Source

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def entry(key: str, *minutes: int, **fields: object) -> EpisodeEntry:
    events = tuple(EventDraft(what=f"minute {n}", at=NOON + n * MINUTE, key=f"e{n}") for n in minutes)
    return EpisodeEntry.model_validate(
        {"key": key, "title": f"day of {key}", "start": NOON, "events": events, **fields}
    )


async def whats(episodic: EpisodicMemory, key: str) -> list[str]:
    episode = await episodic.find(key)
    assert episode is not None
    return [event.what for event in (await episodic.events(episode.id, limit=100)).items]


async def chain(episodic: EpisodicMemory, scoped: ScopedStore, key: str) -> list[str]:
    """The events' texts in the order in which the ``next`` links lead through them."""
    episode = await episodic.find(key)
    assert episode is not None
    events = {event.id: event.what for event in (await episodic.events(episode.id, limit=100)).items}
    links = await scoped.store.links(scoped.scope, list(events), relation="next", direction="out")
    following = {link.source: link.target for link in links}
    assert len(following) == len(links) == len(events) - 1
    (at,) = [id for id in events if id not in following.values()]
    order = [at]
    while at in following:
        at = following[at]
        order.append(at)
    return [events[id] for id in order]


async def test_a_batch_begins_episodes_and_adds_to_them(episodic: EpisodicMemory, scoped: ScopedStore) -> None:
    first = await episodic.record_all([entry("a", 1, 2, attributes={"n": 1}), entry("b", 3, type="day")])
    assert [(episode.title, episode.events, episode.type) for episode in first] == [
        ("day of a", 2, "episode"),
        ("day of b", 1, "day"),
    ]
    (again,) = await episodic.record_all([entry("a", 4, attributes={"m": 2})])
    assert (again.id, again.events, again.attributes) == (first[0].id, 3, {"n": 1, "m": 2})
    assert await whats(episodic, "a") == ["minute 1", "minute 2", "minute 4"]
    assert await chain(episodic, scoped, "a") == ["minute 1", "minute 2", "minute 4"]
    assert await episodic.find("c") is None


async def test_a_repeated_batch_changes_nothing(episodic: EpisodicMemory) -> None:
    (before,) = await episodic.record_all([entry("a", 1, 2)])
    (after,) = await episodic.record_all([entry("a", 1, 2)])
    assert before == after
    (more,) = await episodic.record_all([entry("a", 2, 3, 3)])
    assert more.events == 3
    found = await episodic.find_event(more.id, "e3")
    assert found is not None
    assert found.what == "minute 3"
    assert await episodic.find_event(more.id, "e9") is None
    several = await episodic.find_events(more.id, ["e1", "e9", "e3"])
    assert {key: event.what for key, event in several.items()} == {"e1": "minute 1", "e3": "minute 3"}


async def test_an_event_can_be_unique_in_all_episodes(episodic: EpisodicMemory) -> None:
    def posted(minute: int) -> EventDraft:
        return EventDraft(what=f"minute {minute}", at=NOON + minute * MINUTE, key="post", unique="agent")

    first, second = entry("a", events=(posted(1), posted(2))), entry("b", events=(posted(3),))
    both = await episodic.record_all([first, second])
    assert [episode.events for episode in both] == [1, 0]
    (again,) = await episodic.record_all([entry("c", 4, events=(posted(4),))])
    assert again.events == 0
    found = await episodic.find_unique_events(["post", "other"])
    assert {key: event.what for key, event in found.items()} == {"post": "minute 1"}
    assert await episodic.find_events(both[0].id, ["post"]) == {}


async def test_events_come_in_the_order_of_time_whatever_the_order_of_the_batches(
    episodic: EpisodicMemory, scoped: ScopedStore
) -> None:
    minutes = list(range(24))
    chance = random.Random(5)
    chance.shuffle(minutes)
    while minutes:
        size = chance.randint(1, 5)
        await episodic.record_all([entry("a", *minutes[:size])])
        minutes = minutes[size:]
    expected = [f"minute {n}" for n in range(24)]
    assert await whats(episodic, "a") == expected
    assert await chain(episodic, scoped, "a") == expected


async def test_an_event_before_the_start_moves_the_start(episodic: EpisodicMemory) -> None:
    await episodic.record_all([entry("a", 1)])
    (moved,) = await episodic.record_all([entry("a", -5)])
    assert moved.start == NOON - 5 * MINUTE


async def test_nothing_of_a_batch_is_stored_when_a_part_is_refused(episodic: EpisodicMemory) -> None:
    await episodic.record_all([entry("ended", 1, end=NOON + 2 * MINUTE, outcome="succeeded", note="well")])
    with pytest.raises(InvalidInput, match="after its episode ended"):
        await episodic.record_all([entry("a", 1), entry("ended", 3)])
    assert await episodic.find("a") is None
    ended = await episodic.find("ended")
    assert ended is not None
    assert (ended.outcome, ended.note, ended.events) == ("succeeded", "well", 1)
    with pytest.raises(InvalidInput, match="twice in the batch"):
        await episodic.record_all([entry("a", 1), entry("a", 2)])
    with pytest.raises(InvalidInput, match="events last until"):
        await episodic.record_all([entry("b", 5, end=NOON)])


async def test_an_event_tells_its_source_and_is_trusted_accordingly(
    episodic: EpisodicMemory, scoped: ScopedStore
) -> None:
    source = Source(role="document", name="ann", uri="file:posts.jsonl")
    draft = EventDraft(what="Bought", at=NOON, key="p", source=source, tags=("signal:1",))
    (episode,) = await episodic.record_all([EpisodeEntry(key="a", title="a", start=NOON, events=(draft,))])
    (event,) = (await episodic.events(tags=["signal:1"])).items
    record = await scoped.store.get(scoped.scope, event.id)
    assert record is not None
    assert (record.source, record.trust, event.actor) == (source, 0.4, "ann")
    assert not (await episodic.events(episode.id, tags=["signal:2"])).items
