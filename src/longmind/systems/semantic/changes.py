"""From what a statement does to a timeline to the writes that do it, all in one batch.

Whatever loses part of the time in which it held makes stale what was derived from it, at any remove. The last fact of a
timeline holds its key and counts its changes, so of two writers who read the same timeline only one gets through.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from longmind.store.base import AddLink, Put, Update, Write
from longmind.systems.scoped_store import ScopedStore, validated
from longmind.systems.semantic.models import FactBody
from longmind.systems.semantic.timeline import Cut, Painting, latest
from longmind.systems.semantic.timelines import Timeline
from longmind.types import Json, Link, Memory


@dataclass(slots=True)
class Changes:
    """Changes to one timeline, collected and then written together."""

    scoped: ScopedStore
    timeline: Timeline
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

    async def cut(self, painting: Painting[Memory], new: Memory) -> list[str]:
        """Take the painted interval away from other values. Says which facts were ended by it."""
        ended: list[str] = []
        for cut in painting.cuts:
            old = cut.span.what
            self.shrunk.append(old.id)
            if cut.tail:
                # What holds later keeps its record, and so its key, its id and the present.
                self.update(old, valid_from=painting.end)
                if not cut.head:
                    continue
                old = await self._head_of(cut, painting)
            else:
                self.update(old, state="superseded", valid_to=painting.start if cut.head else cut.span.start)
            self.supersede(old, new)
            ended.append(old.id)
        return ended

    async def _head_of(self, cut: Cut[Memory], painting: Painting[Memory]) -> Memory:
        """A record of its own for the earlier part of a fact that was cut in two."""
        whole = cut.span.what
        told = {"id": self.scoped.clock.new_id(), "version": 1, "key": None, "state": "superseded"}
        head = validated(Memory, {**dict(whole), **told, "valid_to": painting.start})
        self.put(head)
        for link in await self.scoped.store.all_links(self.scoped.scope, [whole.id]):
            if link.relation != "supersedes":
                self.links.append(link.model_copy(update={"source": head.id}))
        return head

    async def writes(self) -> list[Write]:
        """All that has to be written. ``stale`` tells afterwards what is marked.

        A record gets one update at most. The key is taken last, when the one that held it has let go.
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
        self.update(holder, key=self.timeline.slot, body=revised(holder))

    async def _mark_stale(self) -> None:
        """Mark what was derived, at any remove, from facts that hold for a shorter time than was thought."""
        own = {*self.updates, *self.puts, *self.shrunk}
        for record in await derived(self.scoped, self.shrunk):
            if record.id not in own and record.state == "active":
                self.update(record, state="stale")
                self.stale.append(record.id)


async def derived(scoped: ScopedStore, ids: Iterable[str]) -> list[Memory]:
    """Everything that was derived from these records, at any remove, nearest first."""
    frontier = list(dict.fromkeys(ids))
    seen = dict.fromkeys(frontier)
    found: list[str] = []
    while frontier:
        links = await scoped.store.all_links(scoped.scope, frontier, relation="derived_from", direction="in")
        frontier = [id for id in dict.fromkeys(link.source for link in links) if id not in seen]
        seen.update(dict.fromkeys(frontier))
        found += frontier
    return await scoped.store.get_all(scoped.scope, found)


def combined(one: float, other: float, ceiling: float) -> float:
    """How sure two independent pieces of evidence make together."""
    together = 1 - (1 - one) * (1 - other)
    return max(one, other, min(together, ceiling))


def compatible(one: Json, other: Json) -> bool:
    """Whether two sets of qualifiers can describe the same fact: what both mention, they agree on."""
    return all(other.get(key, value) == value for key, value in one.items())


def revised(record: Memory) -> Json:
    """The body of a fact with one more change counted, so that whoever expected it as it was must read again."""
    return {**record.body, "revision": record.body.get("revision", 0) + 1}


def body_of(record: Memory) -> FactBody:
    return FactBody.model_validate(record.body)
