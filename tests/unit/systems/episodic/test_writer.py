"""Writing episodes: links, events that are added once, ends, and rivals."""

import asyncio
from datetime import timedelta

import pytest

from longmind.errors import Conflict, InvalidInput, KeyTaken
from longmind.systems.episodic import EVENT, EpisodeBody, EpisodeWriter, EpisodicMemory, EventDraft
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock
from longmind.types import Filter, Link, Memory


@pytest.fixture
def writer(scoped: ScopedStore) -> EpisodeWriter:
    return EpisodeWriter(scoped)


def draft(scoped: ScopedStore, what: str, key: str | None = None) -> EventDraft:
    return EventDraft(what=what, at=scoped.now(), key=key)


async def events(scoped: ScopedStore) -> list[Memory]:
    return [memory async for memory in scoped.store.scan_all(scoped.scope, Filter(kinds=(EVENT,), states=None))]


async def linked(scoped: ScopedStore, id: str) -> set[tuple[str, str]]:
    return {(link.relation, link.target) for link in await scoped.store.links(scoped.scope, [id])}


async def test_an_episode_begins_with_its_links(scoped: ScopedStore, writer: EpisodeWriter) -> None:
    cause = await writer.begin(EpisodeBody(title="cause"))
    episode = await writer.begin(
        EpisodeBody(title="effect"), links={"about": [cause.id], "derived_from": [cause.id]}, key="effect"
    )
    assert await linked(scoped, episode.id) == {("about", cause.id), ("derived_from", cause.id)}
    with pytest.raises(KeyTaken):
        await writer.begin(EpisodeBody(title="another"), key="effect")


async def test_the_same_operation_again_begins_nothing_new(scoped: ScopedStore, writer: EpisodeWriter) -> None:
    id = scoped.clock.new_id()
    for _ in range(2):
        episode = await writer.begin(EpisodeBody(title="a task"), id=id, start=scoped.now(), operation=f"begin:{id}")
        assert episode.id == id


async def test_an_event_with_a_key_is_added_once(scoped: ScopedStore, writer: EpisodeWriter) -> None:
    episode = await writer.begin(EpisodeBody(title="a task"))
    event = draft(scoped, "called", "1")
    added = [await writer.add_event(episode.id, event, first_try=first) for first in (True, False)]
    assert added[0].id == added[1].id
    await asyncio.gather(*(writer.add_event(episode.id, draft(scoped, "called", "2")) for _ in range(5)))
    assert len(await events(scoped)) == 2
    body = EpisodeBody.read(await scoped.need(episode.id, "episode"))
    assert body.recorded == 2


async def test_a_key_that_is_there_is_found_also_when_nobody_looked(scoped: ScopedStore, writer: EpisodeWriter) -> None:
    episode = await writer.begin(EpisodeBody(title="a task"))
    first = await writer.add_event(episode.id, draft(scoped, "called", "1"))
    assert (await writer.add_event(episode.id, draft(scoped, "again", "1"), first_try=True)).id == first.id


async def test_an_event_that_was_added_is_returned_after_the_end(
    scoped: ScopedStore, writer: EpisodeWriter, clock: FakeClock
) -> None:
    episode = await writer.begin(EpisodeBody(title="a task"))
    first = await writer.add_event(episode.id, draft(scoped, "called", "1"))
    await writer.end(episode.id, "succeeded")
    clock.advance(60)
    late = draft(scoped, "called", "1")
    assert (await writer.add_event(episode.id, late)).id == first.id
    with pytest.raises(InvalidInput, match="after its episode ended"):
        await writer.add_event(episode.id, draft(scoped, "called", "2"))


async def test_rivals_chain_all_their_events(scoped: ScopedStore, writer: EpisodeWriter) -> None:
    episode = await writer.begin(EpisodeBody(title="busy"))
    await asyncio.gather(*(writer.add_event(episode.id, draft(scoped, f"event {n}")) for n in range(8)))
    ids = [event.id for event in await events(scoped)]
    nexts = await scoped.store.links(scoped.scope, ids, relation="next", direction="out")
    assert len(nexts) == 7
    assert len({link.source for link in nexts}) == len({link.target for link in nexts}) == 7


async def test_a_derived_event_points_to_its_episode_and_brings_links(
    scoped: ScopedStore, writer: EpisodeWriter
) -> None:
    episode = await writer.begin(EpisodeBody(title="a task"))
    other = await writer.begin(EpisodeBody(title="other"))
    also = Link(source=other.id, relation="about", target=episode.id)
    event = await writer.add_event(episode.id, draft(scoped, "called"), derived=True, links=[also])
    assert await linked(scoped, event.id) == {("part_of", episode.id), ("derived_from", episode.id)}
    assert await linked(scoped, other.id) == {("about", episode.id)}


async def test_an_episode_ends_once(scoped: ScopedStore, writer: EpisodeWriter) -> None:
    episode = await writer.begin(EpisodeBody(title="a task", attributes={"a": 1}), key="task")
    ends = await asyncio.gather(
        *(writer.end(episode.id, "failed", note="why", attributes={"b": 2}, free_key=True) for _ in range(3))
    )
    (ended,) = [record for record in ends if record is not None]
    body = EpisodeBody.read(ended)
    assert (body.outcome, body.note, dict(body.attributes)) == ("failed", "why", {"a": 1, "b": 2})
    assert ended.key is None
    await writer.begin(EpisodeBody(title="the key is free"), key="task")


async def test_an_episode_waits_for_those_within_it_unless_forced(
    scoped: ScopedStore, writer: EpisodeWriter, episodic: EpisodicMemory
) -> None:
    parent = await writer.begin(EpisodeBody(title="outer"))
    await writer.begin(EpisodeBody(title="inner", parent=parent.id))
    with pytest.raises(Conflict, match="“inner” within it is still going on"):
        await writer.end(parent.id, "succeeded")
    assert await writer.end(parent.id, "succeeded", force=True) is not None
    assert not (await episodic.get(parent.id)).open


async def test_an_episode_ends_no_earlier_than_its_events(
    scoped: ScopedStore, writer: EpisodeWriter, clock: FakeClock
) -> None:
    episode = await writer.begin(EpisodeBody(title="a task"))
    lasting = EventDraft(what="long", at=scoped.now(), duration=timedelta(minutes=5))
    await writer.add_event(episode.id, lasting)
    ended = await writer.end(episode.id, "succeeded")
    assert ended is not None
    assert EpisodeBody.read(ended).end == lasting.at + lasting.duration
