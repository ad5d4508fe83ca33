"""Writing to several episodes in one transaction: all of a batch is stored, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from longmind.errors import Conflict, InvalidInput
from longmind.store.base import MAX_PAGE, AddLink, Put, RemoveLink, Update, Write
from longmind.systems.episodic.models import EPISODE, EVENT, Episode, EpisodeBody, EpisodeEntry, Event, EventDraft
from longmind.systems.episodic.reading import just_after
from longmind.systems.episodic.writer import EpisodeWriter, check_end, draft_key, event_key, update_episode
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.types import Filter, Link, Memory

_KEY = "episode:"


async def record_all(
    scoped: ScopedStore, writer: EpisodeWriter, entries: Sequence[EpisodeEntry], reason: str
) -> tuple[Episode, ...]:
    """Store a batch and return its episodes as they are afterwards. An event whose key is known is left out."""
    if len({entry.key for entry in entries}) != len(entries):
        raise InvalidInput("An episode is twice in the batch.", hint="Give one entry with all its events.")

    async def attempt() -> tuple[Episode, ...]:
        known = await _by_keys(scoped, [_KEY + entry.key for entry in entries])
        owners = {entry.key: known.get(_KEY + entry.key) for entry in entries}
        present = await _known_events(scoped, entries, owners)
        writes: list[Write] = []
        ids: list[str] = []
        for entry in entries:
            id, added = await _entry_writes(scoped, writer, entry, owners[entry.key], present)
            writes += added
            ids.append(id)
        records = {owner.id: owner for owner in owners.values() if owner is not None}
        if writes:
            receipt = await scoped.rewrite(writes, reason)
            records |= {memory.id: memory for memory in receipt.memories}
        return tuple(Episode.of(records[id]) for id in ids)

    return await retry_on_conflict(attempt)


async def find(scoped: ScopedStore, key: str) -> Episode | None:
    """Return the episode with a key."""
    record = (await _by_keys(scoped, [_KEY + key])).get(_KEY + key)
    return None if record is None else Episode.of(record)


async def find_events(scoped: ScopedStore, episode: str | None, keys: Sequence[str]) -> dict[str, Event]:
    """Return the events of an episode with these keys, by key; without one, those whose key is unique in all."""
    asked = {event_key(episode, key): key for key in keys}
    return {asked[key]: Event.of(record) for key, record in (await _by_keys(scoped, list(asked))).items()}


async def _by_keys(scoped: ScopedStore, keys: Sequence[str]) -> dict[str, Memory]:
    """Return the records that hold these keys; the user's own before those that belong to no user."""
    records: dict[str, Memory] = {}
    for first in range(0, len(keys), MAX_PAGE // 2):
        where = Filter(keys=tuple(keys[first : first + MAX_PAGE // 2]), states=None, expired=None)
        async for memory in scoped.store.scan_all(scoped.scope, where):
            if memory.key is not None and (memory.key not in records or memory.user == scoped.scope.user):
                records[memory.key] = memory
    return records


async def _known_events(
    scoped: ScopedStore, entries: Sequence[EpisodeEntry], owners: dict[str, Memory | None]
) -> set[str]:
    """Return the keys of the batch's events that are stored already."""
    keys = [
        event_key(None if event.unique == "agent" else owner.id if owner else None, event.key)
        for entry in entries
        for owner in (owners[entry.key],)
        for event in entry.events
        if event.key is not None and (owner is not None or event.unique == "agent")
    ]
    return set(await _by_keys(scoped, keys)) if keys else set()


async def _entry_writes(
    scoped: ScopedStore, writer: EpisodeWriter, entry: EpisodeEntry, owner: Memory | None, present: set[str]
) -> tuple[str, list[Write]]:
    """Return the id of an entry's episode and the writes that the entry needs."""
    drafts = _new_drafts(entry, owner, present)
    start = min([entry.start, *(draft.at for draft in drafts)])
    if owner is None:
        body = validated(EpisodeBody, {"title": entry.title, "type": entry.type, "description": entry.description})
        owner = writer.new_episode(body, start, tags=entry.tags, importance=entry.importance, key=_KEY + entry.key)
        events = [writer.new_event(owner, draft, source=draft.source, episode_body=body) for draft in drafts]
        changed = _changed_body(owner, body, entry, events)
        record = owner.model_copy(
            update={
                "body": changed.model_dump(mode="json"),
                "metadata": owner.metadata | changed.filters(),
                "content": changed.text(),
            }
        )
        writes: list[Write] = [Put(record, existing="fail")]
        return record.id, writes + _chained(record.id, _ordered(events))
    if owner.kind != EPISODE:
        raise Conflict(f"What has the key {entry.key!r} is no episode.", id=owner.id)
    moved = owner.model_copy(update={"occurred_at": min(start, owner.occurred_at)})
    body = EpisodeBody.read(owner)
    events = [writer.new_event(moved, draft, source=draft.source, episode_body=body) for draft in drafts]
    changed = _changed_body(moved, body, entry, events)
    update = update_episode(owner, changed, body)
    if moved.occurred_at != owner.occurred_at:
        update = Update(update.id, {**update.changes, "occurred_at": moved.occurred_at}, owner.version)
    elif changed == body:
        return owner.id, []
    ordered = _ordered(events)
    stored, following = await _chain(scoped, writer, owner, body.latest, ordered) if ordered else ([], None)
    return owner.id, [update, *_chained(owner.id, ordered, stored, following)]


def _new_drafts(entry: EpisodeEntry, owner: Memory | None, present: set[str]) -> list[EventDraft]:
    """Return the events that are not stored yet, each key once. Those returned count as present from then on."""
    drafts: list[EventDraft] = []
    for draft in entry.events:
        # an episode that is not stored has no id yet, and its key takes that place
        key = draft_key(owner.id if owner is not None else _KEY + entry.key, draft)
        if key in present:
            continue
        if key is not None:
            present.add(key)
        drafts.append(draft)
    return drafts


def _changed_body(owner: Memory, body: EpisodeBody, entry: EpisodeEntry, events: Sequence[Memory]) -> EpisodeBody:
    """Return the body that an episode has with an entry, whose fields were checked when it was built."""
    ends = [event.occurred_at + timedelta(seconds=event.body["seconds"]) for event in events]
    changes: dict[str, Any] = {
        "recorded": body.recorded + len(events),
        "latest": max((event.occurred_at for event in events), default=body.latest),
        "covers": max([*ends, *([body.covers] if body.covers else [])], default=None),
        "attributes": {**body.attributes, **entry.attributes},
    }
    if body.latest is not None and changes["latest"] is not None:
        changes["latest"] = max(changes["latest"], body.latest)
    if entry.end is not None and body.end is None:
        changes |= {"end": entry.end, "outcome": entry.outcome, "note": entry.note or body.note}
    changed = body.model_copy(update=changes)
    if changed.end is not None and body.end is None:
        check_end(owner, changed, changed.end, None, None)
    return changed


def _ordered(events: Sequence[Memory]) -> list[Memory]:
    return sorted(events, key=_place)


def _place(event: Memory) -> tuple[datetime, str]:
    return event.occurred_at, event.id


async def _chain(
    scoped: ScopedStore, writer: EpisodeWriter, owner: Memory, latest: datetime | None, events: Sequence[Memory]
) -> tuple[list[Memory], str | None]:
    """Return the stored events among which new ones come, and the id of the one that follows them all.

    These are the last one before the first new event, and those up to the last new event. ``latest`` is the moment of
    the episode's last event.
    """
    if latest is None:
        return [], None
    first, last = events[0], events[-1]
    previous = await writer.last_before(owner, first)
    stored = [] if previous is None else [previous]
    if first.occurred_at > latest:
        return stored, None
    where = Filter(kinds=(EVENT,), sessions=(owner.id,), states=None, since=first.occurred_at)
    within = where.model_copy(update={"until": just_after(last.occurred_at)})
    among = [memory async for memory in scoped.store.scan_all(scoped.scope, within, order="occurred")]
    stored += [memory for memory in _ordered(among) if _place(memory) > _place(first)]
    if stored:
        links = await scoped.store.links(scoped.scope, [stored[-1].id], relation="next", direction="out")
        return stored, links[0].target if links else None
    later = (await scoped.store.scan(scoped.scope, where, order="occurred", limit=1)).items
    return [], later[0].id if later else None


def _chained(
    episode: str, events: Sequence[Memory], stored: Sequence[Memory] = (), following: str | None = None
) -> list[Write]:
    """Build the writes that put events among those that are stored, in the order of time."""
    end = [] if following is None else [following]
    before = list(pairwise([*(memory.id for memory in stored), *end]))
    after = list(pairwise([*(memory.id for memory in _ordered([*stored, *events])), *end]))
    kept = set(before) & set(after)
    writes: list[Write] = [Put(event, existing="fail") for event in events]
    writes += [AddLink(Link(source=event.id, relation="part_of", target=episode)) for event in events]
    writes += [RemoveLink(source, "next", target) for source, target in before if (source, target) not in kept]
    writes += [
        AddLink(Link(source=source, relation="next", target=target))
        for source, target in after
        if (source, target) not in kept
    ]
    return writes
