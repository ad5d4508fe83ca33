"""The state of working memory: read, changed, and written back in one batch.

Evicted items are written to episodic memory in the same batch. So an item is always in one of the two, and the limits
are never exceeded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from longmind.store.base import AddLink, Delete, Put, RemoveLink, Update, Write
from longmind.systems import ownership
from longmind.systems.episodic import EVENT, EpisodeBody, EpisodeWriter, EventDraft, begin_writes
from longmind.systems.records import KeyedRecord
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.systems.working.models import KIND, LOG, STATE, Evicted, ItemBody, SlotBody, StateBody
from longmind.types import Filter, Link, Memory, Source

Reason = Literal["evicted", "replaced", "released"]
Tokens = Callable[[str], int]
_LOG_BODY = EpisodeBody(
    title="Working memory", type="working memory", description="What left working memory.", standing=True
)


@dataclass(slots=True)
class WorkingState:
    """The state as it was read, and the changes to be written to it."""

    scoped: ScopedStore
    record: KeyedRecord[StateBody]
    body: StateBody
    items: dict[str, Memory]
    slots: list[SlotBody]
    now: datetime
    writes: list[Write] = field(default_factory=list)
    leaving: list[tuple[Memory, Reason]] = field(default_factory=list)
    notes: list[EventDraft] = field(default_factory=list)
    """Further events to record in episodic memory with the change."""

    def find(self, key: str) -> Memory | None:
        """Return the item with a key, or None."""
        return next((item for item in self.items.values() if item.body.get("key") == key), None)

    def add(self, item: Memory) -> None:
        """Put a new item into its own slot. If it was fetched from an event, it is linked as derived from it."""
        self.items[item.id] = item
        self.slots.append(SlotBody(members=(item.id,)))
        self.writes.append(Put(item))
        if origin := item.body.get("origin"):
            self.writes.append(AddLink(Link(source=item.id, relation="derived_from", target=origin)))

    async def change(self, item: Memory, changes: dict[str, Any]) -> Memory:
        """Change an item. Its old text is logged, and the new text is no longer linked to an event."""
        if changes["content"] != item.content:
            self.leaving.append((item, "replaced"))
            changes = changes | {"body": item.body | {"origin": None}}
            came = await self.scoped.store.links(self.scoped.scope, [item.id], relation="derived_from", direction="out")
            self.writes += [RemoveLink(link.source, link.relation, link.target) for link in came]
        after = validated(Memory, item.model_dump() | changes)
        self.items[item.id] = after
        self.writes.append(Update(item.id, changes))
        return after

    def remove(self, ids: Sequence[str], reason: Reason) -> None:
        """Evict items, and remove the slots that become empty."""
        for id in ids:
            item = self.items.pop(id)
            self.leaving.append((item, reason))
            self.writes.append(Delete(id))
        left = [
            slot.model_copy(update={"members": tuple(m for m in slot.members if m not in ids)}) for slot in self.slots
        ]
        self.slots = [s if len(s.members) > 1 else SlotBody(members=s.members) for s in left if s.members]

    def texts(self, slot: SlotBody) -> list[str]:
        return [self.items[id].content for id in slot.members]

    async def write(self, reason: str) -> tuple[Evicted, ...]:
        """Write all changes, or none if the state changed since it was read; return the evicted items."""
        events, logged = await self._log_events()
        body = self.body.model_copy(update={"slots": tuple(self.slots), "revision": self.body.revision + 1})
        state = self.record.overwrite(body)
        await self.scoped.rewrite([state, *self.writes, *logged], reason)
        return tuple(
            Evicted(key=item.body["key"], event=event.id, reason=why)
            for (item, why), event in zip(self.leaving, events, strict=False)
        )

    async def _log_events(self) -> tuple[list[Memory], list[Write]]:
        """Return the events that keep the evicted items, and the writes that record them."""
        if not self.leaving and not self.notes:
            return [], []
        log = await ownership.find_own(self.scoped, LOG)
        first: list[Write] = []
        stored = log is not None
        writer = EpisodeWriter(self.scoped)
        if log is None:
            key = ownership.own_key(self.scoped.scope, LOG)
            log = writer.new_episode(_LOG_BODY, self.now, key=key)
            first += begin_writes(log)
        events = [_event(writer, log, item, why, self.now) for item, why in self.leaving]
        events += [writer.new_event(log, _not_before_log(log, note)) for note in self.notes]
        writes = first + await writer.event_writes(log, events, stored=stored)
        return events, writes + await self._origin_links(events)

    async def _origin_links(self, events: Sequence[Memory]) -> list[Write]:
        """Return links from evicted items to the events they were fetched from, so that they are erased together."""
        came = {e.id: i.body.get("origin") for (i, _), e in zip(self.leaving, events, strict=False)}
        origins = sorted({origin for origin in came.values() if origin})
        there = {m.id for m in await self.scoped.store.get_all(self.scoped.scope, origins)} if origins else set()
        return [
            AddLink(Link(source=event, relation="derived_from", target=origin))
            for event, origin in came.items()
            if origin in there
        ]


async def read(scoped: ScopedStore) -> WorkingState:
    """Read the state, without items that were forgotten meanwhile."""
    record = KeyedRecord.of_user(scoped, STATE, StateBody(), kind=KIND, fields={"source": Source(role="assistant")})
    while True:
        body = await record.read()
        ids = [id for slot in body.slots for id in slot.members]
        items = {m.id: m for m in await scoped.store.get_all(scoped.scope, ids)} if ids else {}
        if len(items) < len(ids) and not await record.is_current():
            continue  # another writer changed it between the two reads
        slots = [SlotBody(members=tuple(m for m in s.members if m in items), label=s.label) for s in body.slots]
        return WorkingState(scoped, record, body, items, [slot for slot in slots if slot.members], scoped.now())


async def last_event(scoped: ScopedStore, key: str) -> Memory | None:
    """Return the latest event that keeps an item with this key, or None."""
    log = await ownership.find_own(scoped, LOG)
    if log is None:
        return None
    where = Filter(kinds=(EVENT,), sessions=(log.id,), metadata={"key": key}, states=None)
    page = await scoped.store.scan(scoped.scope, where, descending=True, limit=1)
    return page.items[0] if page.items else None


def new_item(scoped: ScopedStore, key: str, content: str, origin: str | None = None, **fields: Any) -> Memory:
    body = validated(ItemBody, {"key": key, "origin": origin})
    return scoped.new(KIND, content, body=body.model_dump(mode="json"), metadata={"key": key}, **fields)


def _event(writer: EpisodeWriter, log: Memory, item: Memory, why: Reason, now: datetime) -> Memory:
    """Build the event that keeps an item, so that it can be fetched back."""
    draft = EventDraft(
        what=item.content,
        type=why,
        at=now,
        data={"key": item.body["key"], "put_at": item.occurred_at.isoformat()},
        importance=item.importance,
        tags=item.tags,
    )
    event = writer.new_event(log, _not_before_log(log, draft), source=item.source)
    return event.model_copy(update={"metadata": event.metadata | {"key": item.body["key"]}, "trust": item.trust})


def _not_before_log(log: Memory, draft: EventDraft) -> EventDraft:
    """Move an event to the start of the log if it is earlier, because the clock of another process may be behind."""
    return draft if draft.at >= log.occurred_at else draft.model_copy(update={"at": log.occurred_at})
