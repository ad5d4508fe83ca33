"""Writing episodes: the rules an episode and its events keep, and the batches that keep them.

The events of an episode are chained by ``next`` links in the order of their time. Every change of the chain changes the
episode's record too and expects its version, so of two writers that read the same end of the chain one reads again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from longmind.errors import InvalidInput
from longmind.store.base import AddLink, Put, RemoveLink, Update, Write
from longmind.systems.episodic.models import EPISODE, EVENT, EpisodeBody, EventBody, EventDraft
from longmind.systems.scoped_store import ScopedStore
from longmind.types import TRUST, Filter, Link, Memory, Source

# -- episodes ----------------------------------------------------------------------------------------------------


def episode_record(scoped: ScopedStore, body: EpisodeBody, start: datetime, **fields: Any) -> Memory:
    """A new episode, not stored yet."""
    told = body.model_dump(mode="json")
    return scoped.new(EPISODE, body.text(), body=told, metadata=body.filters(), occurred_at=start, **fields)


def changed(record: Memory, body: EpisodeBody) -> Update:
    """The write that gives an episode another body."""
    changes: dict[str, Any] = {"body": body.model_dump(mode="json"), "metadata": record.metadata | body.filters()}
    if body.text() != EpisodeBody.read(record).text():
        changes["content"] = body.text()
    return Update(record.id, changes, expected_version=record.version)


def within(parent: Memory) -> Callable[[Memory], list[Write]]:
    """The writes that begin an episode inside another; it must begin while the other goes on."""

    def writes(child: Memory) -> list[Write]:
        body = EpisodeBody.read(parent)
        start = child.occurred_at
        if start < parent.occurred_at:
            raise InvalidInput(
                f"The episode would begin at {_told(start)}, before its parent did at {_told(parent.occurred_at)}.",
                hint="Give a later start, or another parent.",
            )
        if body.end is not None and start > body.end:
            raise InvalidInput(
                f"The episode would begin at {_told(start)}, after its parent ended at {_told(body.end)}.",
                hint="Give a start within the parent, or begin it without one.",
            )
        more = body.model_copy(update={"children": body.children + 1})
        return [changed(parent, more), Put(child), AddLink(Link(source=child.id, relation="part_of", target=parent.id))]

    return writes


def check_end(record: Memory, body: EpisodeBody, end: datetime, inner: datetime | None, parent: Memory | None) -> None:
    """Whether an episode can end at a moment: after its start, its events and its parts, and not after its parent."""
    if end < record.occurred_at:
        raise InvalidInput(
            f"The episode cannot end at {_told(end)}: it began at {_told(record.occurred_at)}.",
            hint="Give an end that is not before the start.",
            id=record.id,
        )
    if body.covers is not None and end < body.covers:
        raise InvalidInput(
            f"The episode cannot end at {_told(end)}: its events last until {_told(body.covers)}.",
            hint="Give an end that is not before that.",
            id=record.id,
        )
    if inner is not None and end < inner:
        raise InvalidInput(
            f"The episode cannot end at {_told(end)}: an episode within it ended at {_told(inner)}.",
            hint="Give an end that is not before that.",
            id=record.id,
        )
    parent_end = None if parent is None else EpisodeBody.read(parent).end
    if parent_end is not None and end > parent_end:
        raise InvalidInput(
            f"The episode cannot end at {_told(end)}: its parent ended at {_told(parent_end)}.",
            hint="Give an end within the parent.",
            id=record.id,
        )


# -- events ------------------------------------------------------------------------------------------------------


def event_record(scoped: ScopedStore, episode: Memory, draft: EventDraft, *, source: Source | None = None) -> Memory:
    """A new event of an episode, not stored yet; ``InvalidInput`` if the episode has no room for it.

    It is private to whom the episode belongs to, or else to the user who records it.
    """
    check_event(episode, draft)
    body = EventBody(episode=episode.id, type=draft.type, seconds=draft.duration.total_seconds(), data=draft.data)
    said_by = source or Source(role="assistant", name=draft.actor)
    return scoped.new(
        EVENT,
        draft.what or draft.type,
        body=body.model_dump(mode="json"),
        user=episode.user or scoped.scope.user,
        session=episode.id,
        key=None if draft.key is None else event_key(episode.id, draft.key),
        importance=draft.importance,
        valence=draft.valence,
        tags=draft.tags,
        metadata={"type": draft.type, "episode": episode.id},
        source=said_by,
        trust=TRUST[said_by.role],
        occurred_at=draft.at,
    )


def event_key(episode: str, key: str) -> str:
    return f"event:{episode}:{key}"


def check_event(episode: Memory, draft: EventDraft) -> None:
    """Whether an event fits into its episode."""
    start, end = episode.occurred_at, EpisodeBody.read(episode).end
    if draft.at < start:
        raise InvalidInput(
            f"The event is at {_told(draft.at)}, before its episode began at {_told(start)}.",
            hint="Give `at` a moment within the episode.",
            episode=episode.id,
        )
    if end is not None and draft.at > end:
        raise InvalidInput(
            f"The event is at {_told(draft.at)}, after its episode ended at {_told(end)}.",
            hint="Give `at` a moment within the episode, or start another episode.",
            episode=episode.id,
        )
    try:
        ends = draft.at + draft.duration
    except OverflowError as error:
        raise InvalidInput("The event lasts beyond the year 9999.", hint="Give it a shorter duration.") from error
    if end is not None and ends > end:
        longer = draft.duration > end - start
        raise InvalidInput(
            f"The event lasts {draft.duration}, longer than its episode ({end - start})."
            if longer
            else f"The event lasts until {_told(ends)}, but its episode ended at {_told(end)}.",
            hint="Give a shorter duration, or an earlier `at`.",
            episode=episode.id,
        )


async def recording(
    scoped: ScopedStore, episode: Memory, events: Sequence[Memory], *, stored: bool = True
) -> list[Write]:
    """The writes that add events, all at one moment, to an episode that is stored or, if not, is put by the caller."""
    body = EpisodeBody.read(episode)
    first = events[0]
    before, after = (None, None) if not stored else await _place(scoped, episode, body, first)
    ends = [e.occurred_at + timedelta(seconds=e.body["seconds"]) for e in events]
    more = body.model_copy(
        update={
            "recorded": body.recorded + len(events),
            "latest": max([first.occurred_at, *([body.latest] if body.latest else [])]),
            "covers": max([*ends, *([body.covers] if body.covers else [])]),
        }
    )
    writes: list[Write] = [changed(episode, more)]
    writes += [Put(event, existing="fail") for event in events]
    writes += [AddLink(Link(source=event.id, relation="part_of", target=episode.id)) for event in events]
    if before is not None and after is not None:
        writes.append(RemoveLink(before, "next", after))
    chain = [before, *(event.id for event in events), after]
    for source, target in pairwise(chain):
        if source is not None and target is not None:
            writes.append(AddLink(Link(source=source, relation="next", target=target)))
    return writes


async def _place(
    scoped: ScopedStore, episode: Memory, body: EpisodeBody, event: Memory
) -> tuple[str | None, str | None]:
    """Between which two events a new one belongs: the last before it in time, and the one that came after that."""
    before = await _last_before(scoped, episode, event)
    if body.latest is None or event.occurred_at > body.latest:
        return before, None
    if before is None:
        where = Filter(kinds=(EVENT,), sessions=(episode.id,), states=None)
        first = (await scoped.store.scan(scoped.scope, where, order="occurred", limit=1)).items
        return None, first[0].id if first else None
    links = await scoped.store.links(scoped.scope, [before], relation="next", direction="out")
    return before, links[0].target if links else None


async def _last_before(scoped: ScopedStore, episode: Memory, event: Memory) -> str | None:
    """The latest event of the episode that is earlier; of those at the same moment, the one before it by id."""
    until = just_after(event.occurred_at)
    where = Filter(kinds=(EVENT,), sessions=(episode.id,), states=None, until=until)
    cursor: str | None = None
    while True:
        page = await scoped.store.scan(
            scoped.scope, where, order="occurred", descending=True, limit=2 if cursor is None else 200, cursor=cursor
        )
        for found in page.items:
            if (found.occurred_at, found.id) < (event.occurred_at, event.id):
                return found.id
        cursor = page.cursor
        if cursor is None:
            return None


def just_after(moment: datetime) -> datetime | None:
    """The next moment there is, for a range that includes its end; None where time ends."""
    try:
        return moment + timedelta(microseconds=1)
    except OverflowError:
        return None


def _told(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="auto" if moment.microsecond else "seconds")
