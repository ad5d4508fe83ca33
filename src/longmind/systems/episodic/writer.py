"""Writing episodes and their events.

The events of an episode are chained by ``next`` links in the order of their time. Every change of the chain also
updates the episode's record and expects its version, so of two writers that read the same chain one has to retry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Protocol

from longmind.clock import as_utc
from longmind.errors import Conflict, InvalidInput
from longmind.store.base import AddLink, Put, Receipt, RemoveLink, Update, Write
from longmind.systems.episodic.models import EPISODE, EVENT, Episode, EpisodeBody, EventBody, EventDraft, Outcome
from longmind.systems.episodic.reading import filters, just_after
from longmind.systems.scoped_store import ScopedStore, retry_on_conflict, validated
from longmind.types import TRUST, Filter, Link, Memory, Source


class JoinedWrites(Protocol):
    """Writes of another memory system that are made in the same batch as a change of an episode."""

    async def writes(self, record: Memory) -> Sequence[Write]:
        """Return the writes; ``record`` is the episode or the event that is stored. Called for each try."""
        ...

    def written(self, receipt: Receipt) -> None:
        """Take note that the batch was written."""
        ...


class EpisodeWriter:
    """Writes the episodes of a scope.

    ``begin``, ``add_event`` and ``end`` each make one durable change and retry on a conflict. The others build records
    and writes, for callers that store an episode together with something else in one batch.
    """

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    # -- changes -------------------------------------------------------------------------------------------------

    async def begin(
        self,
        body: EpisodeBody,
        *,
        start: datetime | None = None,
        links: Mapping[str, Sequence[str]] | None = None,
        reason: str = "episode begun",
        operation: str | None = None,
        joined: JoinedWrites | None = None,
        **fields: Any,
    ) -> Memory:
        """Begin an episode, now or at ``start``; within the parent that its body names, if any.

        ``links`` are the ids that the episode points to, by relation. ``operation`` makes a repeated call harmless.
        ``joined`` are writes for the same batch, for an episode without a parent.
        """
        episode = self.new_episode(body, start or self._scoped.now(), **fields)
        added = [
            AddLink(Link(source=episode.id, relation=relation, target=target))
            for relation, targets in (links or {}).items()
            for target in targets
        ]

        async def attempt() -> Memory:
            if body.parent is None:
                writes = [*begin_writes(episode), *added]
                also = () if joined is None else await joined.writes(episode)
                receipt = await self._scoped.write([*writes, *also], reason=reason, operation=operation, request=writes)
                if joined is not None:
                    joined.written(receipt)
                return receipt.memories[0]
            parent = await self._scoped.need(body.parent, EPISODE)
            writes = [*begin_writes(episode, parent), *added]
            return (await self._scoped.rewrite(writes, reason, operation=operation)).memories[0]

        alone = body.parent is None and joined is None
        return await (attempt() if alone else retry_on_conflict(attempt))

    async def add_event(
        self,
        episode: str,
        draft: EventDraft,
        *,
        derived: bool = False,
        links: Sequence[Link] = (),
        source: Source | None = None,
        first_try: bool = False,
        joined: JoinedWrites | None = None,
        reason: str = "event recorded",
    ) -> Memory:
        """Add an event to an episode. With a key it is added once: a repeated call returns the existing event.

        A ``derived`` event is erased with its episode. Its ``source`` is by default the agent, named as its actor.
        ``first_try`` says that the key cannot exist yet, which saves a look-up.
        """
        look = not first_try

        async def attempt() -> Memory:
            nonlocal look
            owner = await self._scoped.need(episode, EPISODE)
            key = draft_key(episode, draft)
            if look and key is not None and (known := await self._scoped.store.by_key(self._scoped.scope, key)):
                return known
            look = True
            event = self.new_event(owner, draft, source=source or draft.source)
            writes = await self.event_writes(owner, [event])
            if derived:
                writes.append(AddLink(Link(source=event.id, relation="derived_from", target=episode)))
            also = () if joined is None else await joined.writes(event)
            receipt = await self._scoped.rewrite([*writes, *map(AddLink, links), *also], reason)
            if joined is not None:
                joined.written(receipt)
            return receipt.memories[1]

        return await retry_on_conflict(attempt)

    async def end(
        self,
        episode: str,
        outcome: Outcome,
        *,
        at: datetime | None = None,
        note: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        force: bool = False,
        free_key: bool = False,
        joined: JoinedWrites | None = None,
        reason: str = "episode ended",
    ) -> Memory | None:
        """End an episode, now or ``at`` a moment, with its outcome; None if it had ended already.

        ``attributes`` are added to those it has. It cannot end before the episodes within it, except with ``force``.
        With ``free_key`` its key may be used again.
        """

        async def attempt() -> Memory | None:
            record = await self._scoped.need(episode, EPISODE)
            body = EpisodeBody.read(record)
            if body.end is not None:
                return None
            inner = None if force else await self._inner_end(record, body)
            earliest = max(filter(None, (record.occurred_at, body.covers, inner)))
            moment = as_utc(at) if at is not None else max(self._scoped.now(), earliest)
            if not force:
                check_end(record, body, moment, inner, await self._parent(body))
            changes: dict[str, Any] = {"end": moment, "outcome": outcome, "note": body.note if note is None else note}
            changes["attributes"] = {**body.attributes, **(attributes or {})}
            update = update_episode(record, validated(EpisodeBody, body.model_dump() | changes))
            if free_key:
                update.changes["key"] = None
            also = () if joined is None else await joined.writes(record)
            receipt = await self._scoped.rewrite([update, *also], reason)
            if joined is not None:
                joined.written(receipt)
            return receipt.memories[0]

        return await retry_on_conflict(attempt)

    async def find_event(self, episode: str, key: str) -> Memory | None:
        """Return the event of an episode that was added with a key."""
        return await self._scoped.store.by_key(self._scoped.scope, event_key(episode, key))

    # -- records and writes --------------------------------------------------------------------------------------

    def new_episode(self, body: EpisodeBody, start: datetime, **fields: Any) -> Memory:
        """Build the record of an episode, not stored yet."""
        payload, metadata = body.model_dump(mode="json"), body.filters() | fields.pop("metadata", {})
        return self._scoped.new(EPISODE, body.text(), body=payload, metadata=metadata, occurred_at=start, **fields)

    def new_event(
        self,
        episode: Memory,
        draft: EventDraft,
        *,
        source: Source | None = None,
        episode_body: EpisodeBody | None = None,
    ) -> Memory:
        """Build the record of an event, not stored yet; ``InvalidInput`` if it does not fit into the episode.

        It belongs to the user of the episode, or else to the user who records it. ``episode_body`` is the episode's
        body, if it was read already.
        """
        _check_event(episode, (episode_body or EpisodeBody.read(episode)).end, draft)
        body = EventBody(episode=episode.id, type=draft.type, seconds=draft.duration.total_seconds())
        stored = body.model_dump(mode="json") | {"data": draft.data}  # which the draft has checked
        author = source or Source(role="assistant", name=draft.actor)
        return self._scoped.new(
            EVENT,
            draft.what or draft.type,
            checked_body=stored,
            user=episode.user or self._scoped.scope.user,
            session=episode.id,
            key=draft_key(episode.id, draft),
            importance=draft.importance,
            valence=draft.valence,
            tags=draft.tags,
            metadata={"type": draft.type, "episode": episode.id},
            source=author,
            trust=TRUST[author.role],
            occurred_at=draft.at,
        )

    async def event_writes(self, episode: Memory, events: Sequence[Memory], *, stored: bool = True) -> list[Write]:
        """Build the writes that add events of one moment to an episode.

        An episode that is not ``stored`` is put by the caller, earlier in the same batch.
        """
        body = EpisodeBody.read(episode)
        first = events[0]
        before, after = (None, None) if not stored else await self._neighbours(episode, body, first)
        ends = [event.occurred_at + timedelta(seconds=event.body["seconds"]) for event in events]
        counted = body.model_copy(
            update={
                "recorded": body.recorded + len(events),
                "latest": max([first.occurred_at, *([body.latest] if body.latest else [])]),
                "covers": max([*ends, *([body.covers] if body.covers else [])]),
            }
        )
        writes: list[Write] = [update_episode(episode, counted)]
        writes += [Put(event, existing="fail") for event in events]
        writes += [AddLink(Link(source=event.id, relation="part_of", target=episode.id)) for event in events]
        if before is not None and after is not None:
            writes.append(RemoveLink(before, "next", after))
        chain = [before, *(event.id for event in events), after]
        for source, target in pairwise(chain):
            if source is not None and target is not None:
                writes.append(AddLink(Link(source=source, relation="next", target=target)))
        return writes

    # -- reading what a change depends on ------------------------------------------------------------------------

    async def _parent(self, body: EpisodeBody) -> Memory | None:
        return None if body.parent is None else await self._scoped.store.get(self._scoped.scope, body.parent)

    async def _inner_end(self, record: Memory, body: EpisodeBody) -> datetime | None:
        """Return the end of the last episode within this one; ``Conflict`` if one is still in progress."""
        if not body.children:
            return None
        latest: datetime | None = None
        async for memory in self._scoped.store.scan_all(self._scoped.scope, filters(EPISODE, parent=record.id)):
            child = Episode.of(memory)
            if child.end is None:
                raise Conflict(
                    f"The episode cannot end: “{child.title}” within it is still going on.",
                    hint="Finish that one first.",
                    id=record.id,
                    child=child.id,
                )
            latest = max(child.end, latest or child.end)
        return latest

    async def _neighbours(self, episode: Memory, body: EpisodeBody, event: Memory) -> tuple[str | None, str | None]:
        """Return the events that a new one belongs between: the last before it in time, and the one after that."""
        scoped = self._scoped
        last = await self.last_before(episode, event)
        before = None if last is None else last.id
        if body.latest is None or event.occurred_at > body.latest:
            return before, None
        if before is None:
            where = Filter(kinds=(EVENT,), sessions=(episode.id,), states=None)
            first = (await scoped.store.scan(scoped.scope, where, order="occurred", limit=1)).items
            return None, first[0].id if first else None
        links = await scoped.store.links(scoped.scope, [before], relation="next", direction="out")
        return before, links[0].target if links else None

    async def last_before(self, episode: Memory, event: Memory) -> Memory | None:
        """Return the latest event of the episode that is earlier; of those at the same moment, the one before by id."""
        until = just_after(event.occurred_at)
        where = Filter(kinds=(EVENT,), sessions=(episode.id,), states=None, until=until)
        cursor: str | None = None
        while True:
            page = await self._scoped.store.scan(
                self._scoped.scope,
                where,
                order="occurred",
                descending=True,
                limit=2 if cursor is None else 200,
                cursor=cursor,
            )
            for other in page.items:
                if (other.occurred_at, other.id) < (event.occurred_at, event.id):
                    return other
            cursor = page.cursor
            if cursor is None:
                return None


def begin_writes(episode: Memory, parent: Memory | None = None) -> list[Write]:
    """Build the writes that begin an episode; within a parent it must begin while that is in progress."""
    if parent is None:
        return [Put(episode, existing="fail")]
    body = EpisodeBody.read(parent)
    start = episode.occurred_at
    if start < parent.occurred_at:
        raise InvalidInput(
            f"The episode would begin at {_format(start)}, before its parent did at {_format(parent.occurred_at)}.",
            hint="Give a later start, or another parent.",
        )
    if body.end is not None and start > body.end:
        raise InvalidInput(
            f"The episode would begin at {_format(start)}, after its parent ended at {_format(body.end)}.",
            hint="Give a start within the parent, or begin it without one.",
        )
    counted = body.model_copy(update={"children": body.children + 1})
    link = Link(source=episode.id, relation="part_of", target=parent.id)
    return [Put(episode, existing="fail"), update_episode(parent, counted), AddLink(link)]


def update_episode(record: Memory, body: EpisodeBody, former: EpisodeBody | None = None) -> Update:
    """Build the write that gives an episode another body; ``former`` is the present one, if it was read already."""
    changes: dict[str, Any] = {"body": body.model_dump(mode="json"), "metadata": record.metadata | body.filters()}
    if body.text() != (former or EpisodeBody.read(record)).text():
        changes["content"] = body.text()
    return Update(record.id, changes, expected_version=record.version)


def check_end(record: Memory, body: EpisodeBody, end: datetime, inner: datetime | None, parent: Memory | None) -> None:
    """Raise ``InvalidInput`` unless an episode can end at a moment.

    It ends not before its start, its events and the episodes within it, and not after its parent.
    """
    if end < record.occurred_at:
        raise InvalidInput(
            f"The episode cannot end at {_format(end)}: it began at {_format(record.occurred_at)}.",
            hint="Give an end that is not before the start.",
            id=record.id,
        )
    if body.covers is not None and end < body.covers:
        raise InvalidInput(
            f"The episode cannot end at {_format(end)}: its events last until {_format(body.covers)}.",
            hint="Give an end that is not before that.",
            id=record.id,
        )
    if inner is not None and end < inner:
        raise InvalidInput(
            f"The episode cannot end at {_format(end)}: an episode within it ended at {_format(inner)}.",
            hint="Give an end that is not before that.",
            id=record.id,
        )
    parent_end = None if parent is None else EpisodeBody.read(parent).end
    if parent_end is not None and end > parent_end:
        raise InvalidInput(
            f"The episode cannot end at {_format(end)}: its parent ended at {_format(parent_end)}.",
            hint="Give an end within the parent.",
            id=record.id,
        )


def _check_event(episode: Memory, end: datetime | None, draft: EventDraft) -> None:
    """Raise ``InvalidInput`` unless an event lies within its episode, which ended at ``end`` or goes on."""
    start = episode.occurred_at
    if draft.at < start:
        raise InvalidInput(
            f"The event is at {_format(draft.at)}, before its episode began at {_format(start)}.",
            hint="Give `at` a moment within the episode.",
            episode=episode.id,
        )
    if end is not None and draft.at > end:
        raise InvalidInput(
            f"The event is at {_format(draft.at)}, after its episode ended at {_format(end)}.",
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
            else f"The event lasts until {_format(ends)}, but its episode ended at {_format(end)}.",
            hint="Give a shorter duration, or an earlier `at`.",
            episode=episode.id,
        )


def event_key(episode: str | None, key: str) -> str:
    """Return the key of an event's record, which is unique in its episode, or in all when there is none."""
    return f"event:{episode or ''}:{key}"


def draft_key(episode: str, draft: EventDraft) -> str | None:
    """Return the key that the record of an event gets in an episode."""
    return None if draft.key is None else event_key(episode if draft.unique == "episode" else None, draft.key)


def _format(moment: datetime) -> str:
    return moment.isoformat(sep=" ", timespec="auto" if moment.microsecond else "seconds")
