"""Storing an experience: its episode, events and messages, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import pairwise

from longmind.errors import InvalidInput, OperationMismatch
from longmind.manager.models import Experience
from longmind.perceive.intake import InputDetails, build_memories
from longmind.perceive.turns import recognise_turns
from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems import ownership
from longmind.systems.episodic import (
    EPISODE,
    EVENT,
    EpisodeBody,
    EpisodeWriter,
    EventDraft,
    begin_writes,
    check_end,
)
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.types import Filter, Link, Memory, Message, Source

_FINGERPRINT = "experience"
_PART_OF = "part_of"


@dataclass(frozen=True, slots=True)
class StoredExperience:
    """An experience as it is stored."""

    episode: Memory
    events: tuple[Memory, ...]
    messages: tuple[Memory, ...]
    again: bool = False
    """Whether it was stored before, so that some of its facts may have been learnt already."""


async def find_experience(scoped: ScopedStore, key: str) -> Memory | None:
    """Return the episode of an experience that was stored with a key, or None."""
    return await ownership.find_own(scoped, f"experience:{key}")


async def write_experience(
    scoped: ScopedStore, experience: Experience, *, derived_from: Sequence[str] = ()
) -> StoredExperience:
    """Store an experience. If its key was stored before, return what is there."""
    fingerprint = sha256(experience.model_dump_json().encode()).hexdigest()

    async def write() -> StoredExperience:
        if experience.key is not None and (known := await find_experience(scoped, experience.key)) is not None:
            if known.metadata.get(_FINGERPRINT) != fingerprint:
                title = known.content.partition("\n")[0]
                raise OperationMismatch(
                    f"The key {experience.key!r} was used for another experience, {title!r}.",
                    hint="Give each experience a key of its own.",
                )
            return await _read(scoped, known)
        episode, events = _build_records(scoped, experience, fingerprint)
        messages, spoken = await _message_writes(scoped, experience, episode)
        parent = None if experience.parent is None else await scoped.need(experience.parent, EPISODE)
        body = EpisodeBody.read(episode)
        assert body.end is not None
        check_end(episode, body, body.end, None, parent)
        writes = [*begin_writes(episode, parent), *(Put(event) for event in events), *spoken]
        links = [Link(source=part.id, relation=_PART_OF, target=episode.id) for part in (*events, *messages)]
        links += [Link(source=event.id, relation="next", target=following.id) for event, following in pairwise(events)]
        links += [Link(source=episode.id, relation="derived_from", target=origin) for origin in derived_from]
        receipt = await scoped.rewrite([*writes, *(AddLink(link) for link in links)], "experience stored")
        now = {memory.id: memory for memory in receipt.memories}
        return StoredExperience(now[episode.id], tuple(events), tuple(now.get(m.id, m) for m in messages))

    return await retry_on_conflict(write)


def _build_records(scoped: ScopedStore, experience: Experience, fingerprint: str) -> tuple[Memory, list[Memory]]:
    """Return the record of the episode, and those of its events in order of time."""
    times = [event.at for event in experience.events if event.at is not None]
    start = experience.start or min([*times, *([experience.end] if experience.end else [])], default=scoped.now())
    drafts: list[EventDraft] = []
    for event in experience.events:
        at = event.at or (drafts[-1].at if drafts else start)
        drafts.append(validated(EventDraft, event.model_dump() | {"at": at}))
    covers = max((_end(draft) for draft in drafts), default=None)
    fields = {
        name: getattr(experience, name) for name in ("title", "type", "description", "outcome", "note", "attributes")
    }
    body = validated(
        EpisodeBody,
        fields
        | ({"parent": experience.parent} if experience.parent else {})
        | {
            "end": experience.end or max(filter(None, (start, covers))),
            "recorded": len(drafts),
            "latest": max((draft.at for draft in drafts), default=None),
            "covers": covers,
        },
    )
    key = None if experience.key is None else ownership.own_key(scoped.scope, f"experience:{experience.key}")
    writer = EpisodeWriter(scoped)
    episode = writer.new_episode(
        body,
        start,
        metadata={_FINGERPRINT: fingerprint},
        key=key,
        tags=experience.tags,
        importance=experience.importance,
        session=experience.session,
    )
    events = [writer.new_event(episode, draft) for draft in drafts]
    return episode, sorted(events, key=lambda event: (event.occurred_at, event.id))


def _end(event: EventDraft) -> datetime:
    try:
        return event.at + event.duration
    except OverflowError as error:
        raise InvalidInput("The event lasts beyond the year 9999.", hint="Give it a shorter duration.") from error


async def _message_writes(
    scoped: ScopedStore, experience: Experience, episode: Memory
) -> tuple[list[Memory], list[Write]]:
    """Return the messages and the writes that store them. Messages known before are only made active again."""
    messages = list(experience.messages)
    if experience.text.strip():
        by = experience.source or Source()
        messages.append(Message(content=experience.text, role=by.role, name=by.name))
    if not messages:
        return [], []
    details = InputDetails(experience.session or episode.id, experience.start, None, (), None, None)
    built = build_memories(messages, details, scoped.scope, scoped.clock)
    turns = await recognise_turns(scoped.store, scoped.scope, built, listed=bool(experience.messages))
    keys = tuple(turn.memory.key for turn in turns if turn.memory.key is not None)
    taken: dict[str | None, Memory] = {}
    async for there in scoped.store.scan_all(scoped.scope, Filter(keys=keys, states=None)):
        if there.user == scoped.scope.user:
            taken[there.key] = there
    known = [turn.known or taken.get(turn.memory.key) for turn in turns]
    writes: list[Write] = [Put(turn.memory) for turn, there in zip(turns, known, strict=True) if there is None]
    writes += [Update(m.id, {"state": "active"}) for m in known if m is not None and m.state == "archived"]
    return [there or turn.memory for turn, there in zip(turns, known, strict=True)], writes


async def _read(scoped: ScopedStore, episode: Memory) -> StoredExperience:
    where = Filter(kinds=(EVENT,), sessions=(episode.id,), states=None)
    events = [event async for event in scoped.store.scan_all(scoped.scope, where)]
    links = await scoped.store.all_links(scoped.scope, [episode.id], relation=_PART_OF, direction="in")
    there = await scoped.store.get_all(scoped.scope, [link.source for link in links])
    messages = sorted((m for m in there if m.kind not in (EPISODE, EVENT)), key=lambda m: (m.occurred_at, m.id))
    events.sort(key=lambda event: (event.occurred_at, event.id))
    return StoredExperience(episode, tuple(events), tuple(messages), again=True)
