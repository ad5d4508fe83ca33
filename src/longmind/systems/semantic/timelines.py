"""Timelines: the facts about one subject and predicate over time, read and changed.

When the interval of a fact shrinks, everything derived from it, directly or indirectly, becomes stale. The last fact of
a timeline holds its key and counts its changes, so of two writers that read the same timeline one has to retry.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from longmind.store.base import AddLink, DescribedLinks, Put, Update, Write
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.systems.semantic.intervals import EVER, Cut, IntervalChange, is_current, latest
from longmind.systems.semantic.models import FactBody, Predicate
from longmind.systems.semantic.names import slot_key, value_digest
from longmind.systems.semantic.visibility import find_by_keys, tier
from longmind.types import Json, Link, Memory


@dataclass(frozen=True, slots=True)
class FactTimeline:
    """The current facts of one timeline, its key, and writes that fail if it changed since it was read."""

    slot: str
    facts: list[Memory]
    guard: list[Write]


class TimelineReader:
    """Reads the facts of a scope by the concepts they are about."""

    def __init__(self, scoped: ScopedStore) -> None:
        self._scoped = scoped

    async def read_timeline(self, like: FactBody, predicate: Predicate, user: str | None) -> FactTimeline:
        """Return the timeline that a fact belongs to, within one user's facts or the agent's own, oldest first.

        The fact that holds the key is read first. Every change of a timeline changes that fact, so a batch that expects
        its version fails if another writer changed the timeline meanwhile.
        """
        slot = slot_key(like.subject, predicate.name, like.identity if predicate.many else None)
        holders = [r for r in await find_by_keys(self._scoped, [slot]) if r.user == user]
        described = {"predicate": predicate.name}
        if predicate.many:
            described["value"] = value_digest(like.identity)
        facts = await self._described(like.subject, described)
        mine = [r for r in facts if r.user == user and is_current(r)]
        mine.sort(key=lambda r: (r.valid_from or EVER, r.id))
        return FactTimeline(slot, mine, [Update(r.id, {}, r.version) for r in holders])

    async def _described(self, subject: str, metadata: Mapping[str, str]) -> list[Memory]:
        """Return the facts about a concept whose link to it has these values, in any state."""
        store, scope = self._scoped.store, self._scoped.scope
        if isinstance(store.backend, DescribedLinks):
            links = await store.backend.links_described(scope, subject, relation="about", metadata=metadata)
        else:
            every = await store.all_links(scope, [subject], relation="about", direction="in")
            links = [link for link in every if all(link.metadata.get(key) == metadata[key] for key in metadata)]
        return _facts(await store.get_all(scope, [link.source for link in links]))

    async def facts_about(self, subjects: Sequence[str], predicate: str | None = None) -> list[Memory]:
        """Return all facts about these concepts, in any state, of one predicate or of all."""
        links = await self._scoped.store.all_links(self._scoped.scope, subjects, relation="about", direction="in")
        wanted = [e.source for e in links if predicate is None or e.metadata.get("predicate") == predicate]
        return _facts(await self._scoped.store.get_all(self._scoped.scope, wanted))

    async def facts_with_object(self, objects: Sequence[str], predicate: str) -> list[Memory]:
        """Return all facts of a predicate with one of these concepts as object, in any state."""
        links = await self._scoped.store.all_links(self._scoped.scope, objects, relation=predicate, direction="in")
        return _facts(await self._scoped.store.get_all(self._scoped.scope, [link.source for link in links]))

    async def facts_touching(self, concepts: Sequence[str]) -> list[Memory]:
        """Return all facts with one of these concepts as subject or object, in any state."""
        links = await self._scoped.store.all_links(self._scoped.scope, concepts, direction="in")
        return _facts(await self._scoped.store.get_all(self._scoped.scope, [link.source for link in links]))

    async def as_known_at(self, facts: Iterable[Memory], known_at: datetime | None) -> list[Memory]:
        """Return these facts as they were recorded at a moment, without those that were not known then."""
        if known_at is None:
            return list(facts)
        past = [await self._scoped.store.get_at(self._scoped.scope, fact.id, known_at) for fact in facts]
        return _facts(record for record in past if record is not None)

    def rank_answers(self, facts: Iterable[Memory], *, many: bool) -> list[Memory]:
        """Return the facts that answer a query, the nearest scope and the highest confidence first.

        If only one value can hold, the scope's own facts hide those of the whole agent, and these hide those of other
        users.
        """
        scope = self._scoped.scope
        ordered = sorted(facts, key=lambda r: (tier(scope, r.user), -float(r.body["confidence"]), r.recorded_at, r.id))
        if many or not ordered:
            return ordered
        first = tier(scope, ordered[0].user)
        return [record for record in ordered if tier(scope, record.user) == first]


def held_at(facts: Iterable[Memory], moment: datetime) -> list[Memory]:
    """Return the facts that held in the world at a moment, without quarantined ones."""
    return [
        r
        for r in facts
        if r.state != "quarantined"
        and is_current(r)
        and (r.valid_from is None or r.valid_from <= moment)
        and (r.valid_to is None or moment < r.valid_to)
    ]


def _facts(records: Iterable[Memory]) -> list[Memory]:
    return [record for record in records if record.kind == "fact"]


@dataclass(slots=True)
class TimelineChanges:
    """Changes to one timeline, collected and then written together."""

    scoped: ScopedStore
    timeline: FactTimeline
    puts: dict[str, Memory] = field(default_factory=dict)
    updates: dict[str, Json] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    shrunk: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)

    def put(self, record: Memory) -> None:
        self.puts[record.id] = record

    def update(self, record: Memory, **changes: Any) -> None:
        self.versions.setdefault(record.id, record.version)
        self.updates.setdefault(record.id, {}).update(changes)

    def supersede(self, old: Memory, by: Memory) -> None:
        self.links.append(Link(source=by.id, relation="supersedes", target=old.id))

    async def cut(self, change: IntervalChange[Memory], new: Memory) -> list[str]:
        """Remove the stated interval from facts with other values; return the ids of those it ended."""
        ended: list[str] = []
        for cut in change.cuts:
            old = cut.span.what
            self.shrunk.append(old.id)
            if cut.tail:
                # The later part keeps the record with its key and id, since it may be the current value.
                self.update(old, valid_from=change.end)
                if not cut.head:
                    continue
                old = await self._head_of(cut, change)
            else:
                self.update(old, state="superseded", valid_to=change.start if cut.head else cut.span.start)
            self.supersede(old, new)
            ended.append(old.id)
        return ended

    async def _head_of(self, cut: Cut[Memory], change: IntervalChange[Memory]) -> Memory:
        """Build a separate record for the earlier part of a fact that was cut in two."""
        whole = cut.span.what
        changes = {"id": self.scoped.clock.new_id(), "version": 1, "key": None, "state": "superseded"}
        head = validated(Memory, {**dict(whole), **changes, "valid_to": change.start})
        self.put(head)
        for link in await self.scoped.store.all_links(self.scoped.scope, [whole.id]):
            if link.relation != "supersedes":
                self.links.append(link.model_copy(update={"source": head.id}))
        return head

    async def writes(self) -> list[Write]:
        """Return all writes. Afterwards ``stale`` has the ids of what they mark stale.

        Each record is updated at most once. The record that takes the key is written last, after the previous holder
        released it.
        """
        await self._mark_stale()
        after = [r.model_copy(update=self.updates.get(r.id, {})) for r in self.timeline.facts]
        holder = latest([*after, *self.puts.values()])
        self._hand_key_to(holder)
        taking = None if holder is None else holder.id
        updates = [Update(id, changes, self.versions[id]) for id, changes in self.updates.items()]
        updates.sort(key=lambda update: update.id == taking)
        puts = [Put(record, existing="fail") for record in self.puts.values()]
        return [*self.timeline.guard, *updates, *puts, *map(AddLink, self.links)]

    def _hand_key_to(self, holder: Memory | None) -> None:
        for record in self.timeline.facts:
            if record.key is not None and (holder is None or record.id != holder.id):
                self.update(record, key=None)
        if holder is None:
            return
        if holder.id in self.puts:
            self.puts[holder.id] = holder.model_copy(update={"key": self.timeline.slot})
            return
        self.update(holder, key=self.timeline.slot, body=with_next_revision(holder))

    async def _mark_stale(self) -> None:
        """Mark as stale what was derived, directly or indirectly, from facts whose interval shrank."""
        own = {*self.updates, *self.puts, *self.shrunk}
        for record in await find_derived(self.scoped, self.shrunk):
            if record.id not in own and record.state == "active":
                self.update(record, state="stale")
                self.stale.append(record.id)


async def find_derived(scoped: ScopedStore, ids: Iterable[str]) -> list[Memory]:
    """Return everything that was derived from these records, directly or indirectly, nearest first."""
    frontier = list(dict.fromkeys(ids))
    seen = dict.fromkeys(frontier)
    ids_found: list[str] = []
    while frontier:
        links = await scoped.store.all_links(scoped.scope, frontier, relation="derived_from", direction="in")
        frontier = [id for id in dict.fromkeys(link.source for link in links) if id not in seen]
        seen.update(dict.fromkeys(frontier))
        ids_found += frontier
    return await scoped.store.get_all(scoped.scope, ids_found)


def combine_confidences(first: float, second: float, ceiling: float) -> float:
    """Return the confidence that two independent pieces of evidence give together."""
    together = 1 - (1 - first) * (1 - second)
    return max(first, second, min(together, ceiling))


def are_compatible(first: Json, second: Json) -> bool:
    """Whether two sets of qualifiers can describe the same fact: they agree on the keys they share."""
    return all(second.get(key, value) == value for key, value in first.items())


def with_next_revision(record: Memory) -> Json:
    """Return a fact's body with its revision incremented, so that concurrent writers that read it have to retry."""
    return {**record.body, "revision": record.body.get("revision", 0) + 1}


def body_of(record: Memory) -> FactBody:
    return FactBody.model_validate(record.body)
