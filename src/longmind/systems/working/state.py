"""The state of working memory: read, changed, and written back in one batch.

Evicted items are written to episodic memory in the same batch. So an item is always in one of the two, and the limits
are never exceeded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal

from longmind.store.base import AddLink, Delete, Put, Receipt, RemoveLink, Update, Write
from longmind.systems import ownership
from longmind.systems.episodic import EVENT, EpisodeBody, EpisodeWriter, EventDraft, begin_writes
from longmind.systems.records import KeyedRecord
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.systems.working.models import (
    KIND,
    LOG,
    MAX_LEFT,
    SESSION_KIND,
    SESSION_STATE,
    STATE,
    Evicted,
    ItemBody,
    SlotBody,
    StateBody,
)
from longmind.types import Filter, Link, Memory, Source

Reason = Literal["evicted", "replaced", "released"]
_ITEM = "item"
"""The mark of a session's items, which its state does not have."""
Tokens = Callable[[str], int]
_LOG_BODY = EpisodeBody(
    title="Working memory", type="working memory", description="What left working memory.", standing=True
)


@dataclass(frozen=True, slots=True)
class _StateBatch:
    """A batch that stores a state: the body, the write of its record, and the events of what left."""

    body: StateBody
    write: Write | None
    logged: Mapping[str, str]

    @property
    def record_id(self) -> str:
        """The id of the record of the state; empty if there is none any more."""
        match self.write:
            case Put(memory=memory):
                return memory.id
            case Update(id=id):
                return id
            case _:
                return ""


@dataclass(slots=True)
class WorkingState:
    """The state as it was read, and the changes to be written to it."""

    scoped: ScopedStore
    session: str | None
    record: KeyedRecord[StateBody]
    body: StateBody
    items: dict[str, Memory]
    slots: list[SlotBody]
    now: datetime
    writes: list[Write] = field(default_factory=list)
    leaving: list[tuple[Memory, Reason]] = field(default_factory=list)
    notes: list[EventDraft] = field(default_factory=list)
    """Further events to record in episodic memory with the change."""
    stored: bool = False
    """Whether this is the state as it was last written, so that another change may begin with it."""
    _batch: _StateBatch | None = None
    """What ``batch`` returned, until it is written."""

    def find(self, key: str) -> Memory | None:
        """Return the item with a key, or None."""
        return next((item for item in self.items.values() if item.body.get("key") == key), None)

    def add(self, item: Memory) -> None:
        """Put a new item into its own slot. If its text is from a memory, it is linked as derived from that."""
        self.items[item.id] = item
        self.slots.append(SlotBody(members=(item.id,)))
        self.writes.append(Put(_stored(item)))
        if origin := item.body.get("origin"):
            self.writes.append(AddLink(Link(source=item.id, relation="derived_from", target=origin)))

    async def change(self, item: Memory, changes: dict[str, Any]) -> Memory:
        """Change an item. Its old text is kept in episodic memory, and the new text is not derived from the old one."""
        if changes["content"] != item.content:
            self.leaving.append((item, "replaced"))
            changes = changes | {"body": item.body | {"origin": None, "recorded": False}}
            came = await self.scoped.store.links(self.scoped.scope, [item.id], relation="derived_from", direction="out")
            self.writes += [RemoveLink(link.source, link.relation, link.target) for link in came]
        after = validated(Memory, item.model_dump() | changes)
        self.items[item.id] = after
        stored = _stored(after)
        self.writes.append(Update(item.id, changes | {"content": stored.content, "body": stored.body}))
        return after

    def replace(self, item: Memory, replacement: Memory) -> None:
        """Put an item into the slot of another one, which leaves."""
        self.leaving.append((self.items.pop(item.id), "replaced"))
        self.writes.append(Delete(item.id))
        self.add(replacement)
        self.slots.pop()
        swapped = [tuple(replacement.id if m == item.id else m for m in slot.members) for slot in self.slots]
        self.slots = [slot.model_copy(update={"members": m}) for slot, m in zip(self.slots, swapped, strict=True)]

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
        return self.written(await self.scoped.rewrite(await self.batch(), reason))

    async def batch(self) -> list[Write]:
        """Return the writes that store all changes, or none of them if the state changed since it was read.

        Call ``written`` after they were made.
        """
        kept = {item.body["key"]: item.body["origin"] for item, _ in self.leaving if item.body.get("recorded")}
        logged, event_writes = await self._log_events()
        left = dict(list(({**self.body.left, **kept}).items())[-MAX_LEFT:])
        body = self.body.model_copy(
            update={"slots": tuple(self.slots), "left": left, "revision": self.body.revision + 1}
        )
        own = self._state_writes(body)
        self._batch = _StateBatch(body, own[0] if own else None, logged)
        return [*own, *self.writes, *event_writes]

    def written(self, receipt: Receipt) -> tuple[Evicted, ...]:
        """Take over what the batch has stored, and return the evicted items."""
        batch, self._batch = self._batch, None
        assert batch is not None
        left_items = tuple(
            Evicted(key=item.body["key"], event=batch.logged.get(item.id) or item.body["origin"], reason=why)
            for item, why in self.leaving
        )
        record = {m.id: m for m in receipt.memories}.get(batch.record_id)
        self.stored = record is not None
        if record is not None:
            self.record.written(record)
        self.body, self.writes, self.leaving, self.notes = batch.body, [], [], []
        return left_items

    def _state_writes(self, body: StateBody) -> list[Write]:
        """Return the write of the state. A session that holds nothing more needs no record."""
        if self.session is None or not _is_empty(body):
            return [self.record.overwrite(body)]
        stored = self.record.memory
        return [] if stored is None else [Delete(stored.id, stored.version)]

    async def _log_events(self) -> tuple[Mapping[str, str], list[Write]]:
        """Return the events that keep the evicted items, by the item's id, and the writes that record them."""
        leaving = [(item, why) for item, why in self.leaving if not item.body.get("recorded")]
        if not leaving and not self.notes:
            return {}, []
        log = await ownership.find_own(self.scoped, LOG)
        first: list[Write] = []
        stored = log is not None
        writer = EpisodeWriter(self.scoped)
        if log is None:
            key = ownership.own_key(self.scoped.scope, LOG)
            log = writer.new_episode(_LOG_BODY, self.now, key=key)
            first += begin_writes(log)
        events = [_event(writer, log, item, why, self.now) for item, why in leaving]
        logged = {item.id: event.id for (item, _), event in zip(leaving, events, strict=True)}
        origins = {event.id: item.body.get("origin") for (item, _), event in zip(leaving, events, strict=True)}
        events += [writer.new_event(log, _not_before_log(log, note)) for note in self.notes]
        writes = first + await writer.event_writes(log, events, stored=stored)
        return logged, writes + await self._origin_links(origins)

    async def _origin_links(self, came: Mapping[str, str | None]) -> list[Write]:
        """Return links from events to the memories that their text is from, so that they are erased together."""
        origins = sorted({origin for origin in came.values() if origin})
        there = {m.id for m in await self.scoped.store.get_all(self.scoped.scope, origins)} if origins else set()
        return [
            AddLink(Link(source=event, relation="derived_from", target=origin))
            for event, origin in came.items()
            if origin in there
        ]


async def read(scoped: ScopedStore, session: str | None = None) -> WorkingState:
    """Read the state of a user, or of one session, without items that were forgotten meanwhile."""
    record = _record(scoped, session)
    while True:
        body = await record.read()
        ids = [id for slot in body.slots for id in slot.members]
        items = {m.id: _with_text(m) for m in await scoped.store.get_all(scoped.scope, ids)} if ids else {}
        if len(items) < len(ids) and not await record.is_current():
            continue  # another writer changed it between the two reads
        slots = [SlotBody(members=tuple(m for m in s.members if m in items), label=s.label) for s in body.slots]
        kept = [slot for slot in slots if slot.members]
        return WorkingState(scoped, session, record, body, items, kept, scoped.now())


def _record(scoped: ScopedStore, session: str | None) -> KeyedRecord[StateBody]:
    fields: dict[str, Any] = {"source": Source(role="assistant")}
    if session is None:
        return KeyedRecord.of_user(scoped, STATE, StateBody(), kind=KIND, fields=fields)
    key = f"{SESSION_STATE}:{sha256(session.encode()).hexdigest()[:32]}"
    return KeyedRecord.of_user(scoped, key, StateBody(), kind=SESSION_KIND, fields=fields | {"session": session})


async def session_items(scoped: ScopedStore) -> list[Memory]:
    """Return the items of all sessions of the user."""
    where = ownership.mine(scoped.scope, metadata={_ITEM: True}, kinds=(SESSION_KIND,))
    return [_with_text(memory) async for memory in scoped.store.scan_all(scoped.scope, where)]


async def last_event(state: WorkingState, key: str) -> Memory | None:
    """Return the latest event that keeps an item with this key, or None."""
    scoped = state.scoped
    if (recorded := state.body.left.get(key)) is not None:
        return await scoped.store.get(scoped.scope, recorded)
    log = await ownership.find_own(scoped, LOG)
    if log is None:
        return None
    where = Filter(kinds=(EVENT,), sessions=(log.id,), metadata={"key": key}, states=None)
    page = await scoped.store.scan(scoped.scope, where, descending=True, limit=1)
    return page.items[0] if page.items else None


def new_item(
    state: WorkingState, key: str, content: str, origin: str | None = None, *, recorded: bool = False, **fields: Any
) -> Memory:
    """Build an item, not stored yet. ``recorded``: its text is in episodic memory already, in its origin."""
    scoped, session = state.scoped, state.session
    body = validated(ItemBody, {"key": key, "origin": origin, "recorded": recorded}).model_dump(mode="json")
    if session is None:
        return scoped.new(KIND, content, body=body, metadata={"key": key}, **fields)
    metadata = ownership.marks(scoped.scope, key=key, **{_ITEM: True})
    return scoped.new(SESSION_KIND, content, body=body, metadata=metadata, session=session, **fields)


def _stored(item: Memory) -> Memory:
    """Return an item as it is stored. The text of a session's item is in its body, where no search reads it."""
    if item.kind != SESSION_KIND:
        return item
    return item.model_copy(update={"content": "", "body": item.body | {"text": item.content}})


def _with_text(item: Memory) -> Memory:
    """Return a stored item with its text as the content."""
    if item.kind != SESSION_KIND:
        return item
    body = ItemBody.model_validate(item.body)
    return item.model_copy(update={"content": body.text or "", "body": item.body | {"text": None}})


def _is_empty(body: StateBody) -> bool:
    return body.model_copy(update={"left": {}, "revision": 0}) == StateBody()


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
