"""A draft: a backend on which a stage proposes its changes before any of them is written.

Reads go through to the real store and are kept; writes stay in the draft and are seen by later reads. So the memory
systems work exactly as they would on the store. ``store.plan`` decides what a batch does, as for real backends. At the
end ``writes`` returns everything that has to change as one batch. Each record that was changed, or whose state a
decision rested on, is expected to be as it was read: if another writer was faster the batch fails as a whole, and the
stage is tried again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from longmind.clock import Clock
from longmind.errors import InvalidInput
from longmind.pacing import Pace
from longmind.store.base import (
    AddLink,
    Backend,
    Batch,
    Delete,
    Feed,
    Head,
    Put,
    Receipt,
    RemoveLink,
    Space,
    Touch,
    Update,
    Write,
)
from longmind.store.plan import Required, Snapshot, StoredLink, StoredMemory, WritePlan, plan_batch, required
from longmind.store.reads import LinkKey, all_links, link_key, scan_all
from longmind.systems.unvalidated import copy_unvalidated
from longmind.types import (
    Change,
    Direction,
    Filter,
    Link,
    Memory,
    Order,
    Page,
    Scope,
    Stats,
    construct_unvalidated,
)

if TYPE_CHECKING:
    from longmind.store.base import Vector

_KEYS_AT_ONCE = 500
_ID_LENGTH = 36
_PLANNED_INLINE = 200
"""Writes of a batch that are planned on the event loop; more are in a thread."""
_SUPPORTED = ("keys", "kinds", "states", "ids", "sessions", "users", "tags_any", "until")
"""The fields of a filter that a draft can be scanned by, beside metadata and expiry."""
_NOTHING_KNOWN: Mapping[str, Memory] = MappingProxyType({})
_UNSUPPORTED = tuple(sorted(set(Filter.model_fields) - {*_SUPPORTED, "metadata", "expired", "expired_at"}))


class Draft:
    """A ``Backend`` over another one that keeps its writes to itself.

    It scans by a few fields only, counts no reads, and returns links in no particular order. Its journal and feed are
    those of the real store.
    """

    def __init__(self, base: Backend, scope: Scope, known: Mapping[str, Memory] = _NOTHING_KNOWN) -> None:
        """Begin a draft. ``known`` are records by id that were just read, which need not be read again."""
        self._base = base
        self._scope = scope
        self._known = known
        self.read: dict[str, Memory] = {}
        """Records of the real store, as they were when they were first read."""
        self.now: dict[str, Memory | None] = {}
        """Records as they are in the draft; None: not there, or removed."""
        self._holders: dict[str, set[str]] = {}
        self._looked: set[str] = set()
        self._edges: dict[tuple[str, bool], dict[LinkKey, Link]] = {}
        """Links of a record by (its id, whether they leave it), complete once they are here."""
        self._described: dict[tuple[str, str, str, str], dict[LinkKey, Link]] = {}
        """The same links that reach a record, by (its id, relation, a key of the link's metadata, the value)."""
        self.links_read: dict[LinkKey, Link] = {}
        self.links_now: dict[LinkKey, Link | None] = {}
        self._touched: dict[tuple[str, bool], dict[LinkKey, Link | None]] = {}
        """The changed links, by (id, whether they leave it)."""
        self._guarded: dict[str, None] = {}
        """The records that an update named: they must be as they were read, even if nothing changes."""
        self._erased: set[str] = set()
        self._vectors: dict[str, Vector] = {}
        self._steps = 0
        self.generated: set[str] = set()
        """The ids that were generated for this draft; the real store cannot hold them."""
        self._by_kind: dict[str, dict[str, None]] = {}
        self._scanned: set[tuple[object, ...]] = set()
        self._pace = Pace()

    # -- reading -------------------------------------------------------------------------------------------------

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        await self._pace.pause()
        wanted = list(dict.fromkeys(ids))
        unread = [id for id in wanted if id not in self.now and id not in self.generated]
        missing: list[str] = []
        for id in unread:
            if (memory := self._known.get(id)) is not None:
                self._keep(memory)
            else:
                missing.append(id)
        if missing:
            for memory in await self._base.get(self._scope, missing):
                self._keep(memory)
            for id in missing:
                self.now.setdefault(id, None)
        return self._seen(scope, (self.now.get(id) for id in wanted))

    def has(self, id: str) -> bool:
        """Whether a record can be had without reading the real store, as far as it is known not to be missing there."""
        return id in self.now or id in self._known

    def _seen(self, scope: Scope, memories: Iterable[Memory | None]) -> list[Memory]:
        """Return those of these memories that a scope sees. All are of one agent, so only the user decides."""
        if (scope.tenant, scope.agent) != (self._scope.tenant, self._scope.agent):
            return []
        if scope.all_users:
            return [memory for memory in memories if memory is not None]
        user = scope.user
        return [memory for memory in memories if memory is not None and (memory.user is None or memory.user == user)]

    async def know_keys(self, keys: Iterable[str]) -> None:
        """Read the records that hold these keys, in few queries; keys that were looked up before are not read again."""
        wanted = [key for key in dict.fromkeys(keys) if key not in self._looked and not self._is_new(key)]
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            part = tuple(wanted[start : start + _KEYS_AT_ONCE])
            async for memory in scan_all(self._base, self._scope, Filter(keys=part, states=None)):
                self._keep(memory)
            self._looked.update(part)

    def _is_new(self, key: str) -> bool:
        """Whether a key contains an id that was generated here, so that nothing in the real store can hold it."""
        return key.partition(":")[2][:_ID_LENGTH] in self.generated

    def holders(self, key: str) -> list[str]:
        """Return the ids of the records that hold a key, of those read so far."""
        return sorted(self._holders.get(key, ()))

    async def know_links(self, ids: Iterable[str], *, leaving: bool) -> None:
        """Read all links that leave, or reach, these records, unless they were read before."""
        wanted = [id for id in dict.fromkeys(ids) if (id, leaving) not in self._edges]
        self._edges.update({(id, leaving): {} for id in wanted})
        stored = [id for id in wanted if id not in self.generated]
        direction: Direction = "out" if leaving else "in"
        for link in await all_links(self._base, self._scope, stored, direction=direction):
            self.links_read.setdefault(link_key(link), link)
            self._set_edge(link_key(link), link, leaving)
        for id in wanted:
            for edge, now in self._touched.get((id, leaving), {}).items():
                self._set_edge(edge, now, leaving)

    async def links(
        self, scope: Scope, ids: Sequence[str], *, relation: str | None, direction: Direction, limit: int
    ) -> list[Link]:
        by_key: dict[LinkKey, Link] = {}
        for leaving in (True, False):
            if direction == "both" or (direction == "out") == leaving:
                await self.know_links(ids, leaving=leaving)
                for id in ids:
                    by_key.update(self._edges[id, leaving])
        chosen = [link for link in by_key.values() if relation is None or link.relation == relation]
        if not scope.all_users:
            ends = {id for link in chosen for id in (link.source, link.target)}
            seen = {memory.id for memory in await self.get(scope, sorted(ends))}
            chosen = [link for link in chosen if link.source in seen and link.target in seen]
        if len(chosen) > limit:
            chosen = sorted(chosen, key=lambda link: (-link.weight, *link_key(link)))[:limit]
        return chosen

    async def links_described(self, scope: Scope, id: str, *, relation: str, metadata: Mapping[str, str]) -> list[Link]:
        """Return the links that reach a memory and whose metadata has these values, found by an index."""
        await self.know_links([id], leaving=False)
        sets = [self._described.get((id, relation, key, value), {}) for key, value in metadata.items()]
        smallest = min(sets, key=len)
        chosen = [link for edge, link in smallest.items() if all(edge in other for other in sets)]
        ends = {end for link in chosen for end in (link.source, link.target)}
        seen = {memory.id for memory in await self.get(scope, sorted(ends))}
        return [link for link in chosen if link.source in seen and link.target in seen]

    async def scan(
        self,
        scope: Scope,
        where: Filter,
        *,
        order: Order = "recorded",
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Memory]:
        if (
            order != "recorded"
            or cursor is not None
            or any(getattr(where, field) is not None for field in _UNSUPPORTED)
        ):
            raise InvalidInput("A draft is scanned by kind, key, state, session and metadata only.")
        if where.keys is not None:
            await self.know_keys(where.keys)
            ids: Iterable[str] = [id for key in where.keys for id in self._holders.get(key, ())]
        else:
            await self._read_matching(where)
            ids = (
                self.now if where.kinds is None else [id for kind in where.kinds for id in self._by_kind.get(kind, ())]
            )
        records = [memory for memory in self._seen(scope, (self.now[id] for id in ids)) if _matches(memory, where)]
        records.sort(key=lambda m: (m.recorded_at, m.id), reverse=descending)
        return construct_unvalidated(Page[Memory], {"items": tuple(records), "cursor": None})

    async def _read_matching(self, where: Filter) -> None:
        """Read the records that match, unless the same scan was made before: what was read first counts."""
        scan = (
            *(getattr(where, field) for field in _SUPPORTED),
            None if where.metadata is None else tuple(sorted(where.metadata.items())),
        )
        if scan not in self._scanned:
            self._scanned.add(scan)
            whether_expired_or_not = where.model_copy(update={"expired": None})
            async for memory in scan_all(self._base, self._scope, whether_expired_or_not):
                self._keep(memory)

    async def head(self, scope: Scope) -> Head:
        return Head(self._steps, 0)

    async def journal(self, scope: Scope, **which: Any) -> list[Change]:
        return await self._base.journal(scope, **which)

    async def stats(self, scope: Scope) -> Stats:
        return await self._base.stats(scope)

    def feed(self, scope: Scope, after: int) -> AsyncIterator[Feed]:
        return self._base.feed(scope, after)

    async def matching(self, scope: Scope, where: Filter) -> set[str]:
        return {memory.id for memory in (await self.scan(scope, where)).items}

    async def scopes(self) -> list[Scope]:
        return await self._base.scopes()

    async def space(self) -> Space | None:
        return await self._base.space()

    async def close(self) -> None:
        """The real store stays open."""

    # -- writing -------------------------------------------------------------------------------------------------

    async def apply(self, batch: Batch) -> Receipt:
        """Apply a batch to the draft, whole or not at all."""
        if any(isinstance(write, Touch) for write in batch.writes):
            raise InvalidInput("A draft counts no reads.")
        needs = required(batch)
        await self.get(self._scope, needs.ids)
        await self.know_keys(needs.keys)
        await self.know_links((source for source, _, _ in needs.links), leaving=True)
        for leaving in (True, False):
            await self.know_links(needs.deleted, leaving=leaving)
        snapshot = await self._snapshot(batch, needs)
        large = len(batch.writes) > _PLANNED_INLINE
        plan = await asyncio.to_thread(plan_batch, batch, snapshot) if large else plan_batch(batch, snapshot)
        self._accept(plan)
        self._guarded.update(dict.fromkeys(write.id for write in batch.writes if isinstance(write, Update)))
        self._steps += 1
        return plan.receipt()

    async def _snapshot(self, batch: Batch, needs: Required) -> Snapshot:
        """Return what the draft holds of that which a batch names."""
        holders = [id for key in needs.keys for id in self._holders.get(key, ())]
        rows = {id: StoredMemory(m, 0) for id in (*needs.ids, *holders) if (m := self.now.get(id)) is not None}
        links = {key: link for key in needs.links if (link := self._edges[key[0], True].get(key)) is not None}
        for id in needs.deleted:
            links.update(self._edges[id, True])
            links.update(self._edges[id, False])
        has_vectors = any(isinstance(write, Put | Update) and write.vector is not None for write in batch.writes)
        return Snapshot(
            head=0,
            active=await self._base.space() if has_vectors else None,
            rows=rows,
            links={key: StoredLink(link, None) for key, link in links.items()},
        )

    def _accept(self, plan: WritePlan) -> None:
        """Take over the state that a plan leaves."""
        for id in plan.removed():
            self._release_key(self.now[id])
            self.now[id] = None
        for row in (*plan.updated(), *plan.inserted()):
            self._release_key(self.now.get(row.memory.id))
            self._set(row.memory)
        for key in plan.removed_links():
            self._set_link(key, None)
        for link, _ in plan.changed_links():
            self._set_link(link_key(link), link)
        for id in plan.dropped_vectors:
            self._vectors.pop(id, None)
        self._vectors.update(plan.vectors)
        self._erased.update(plan.cleared.ids)

    def _keep(self, memory: Memory) -> None:
        if memory.id not in self.now:
            memory = self._known.get(memory.id, memory)
            self.read[memory.id] = memory
            self._set(memory)

    def _set(self, memory: Memory) -> None:
        self.now[memory.id] = memory
        self._by_kind.setdefault(memory.kind, {})[memory.id] = None
        if memory.key is not None:
            self._holders.setdefault(memory.key, set()).add(memory.id)

    def _release_key(self, memory: Memory | None) -> None:
        if memory is not None and memory.key is not None:
            self._holders[memory.key].discard(memory.id)

    def _set_link(self, edge: LinkKey, link: Link | None) -> None:
        self.links_now[edge] = link
        for leaving in (True, False):
            self._touched.setdefault((edge[0] if leaving else edge[2], leaving), {})[edge] = link
            self._set_edge(edge, link, leaving)

    def _set_edge(self, edge: LinkKey, link: Link | None, leaving: bool) -> None:
        own = self._edges.get((edge[0] if leaving else edge[2], leaving))
        if own is None:
            return
        before = own.pop(edge, None)
        if link is not None:
            own[edge] = link
        if not leaving:
            self._describe(edge, before, link)

    def _describe(self, edge: LinkKey, before: Link | None, link: Link | None) -> None:
        """Keep the index of the links that reach a record up to date."""
        if not (before and before.metadata) and not (link and link.metadata):
            return  # most links have no metadata
        for values in _described_by(before):
            self._described[edge[2], edge[1], *values].pop(edge, None)
        if link is not None:
            for values in _described_by(link):
                self._described.setdefault((edge[2], edge[1], *values), {})[edge] = link

    # -- the outcome ---------------------------------------------------------------------------------------------

    @property
    def changed(self) -> bool:
        """Whether anything would be different."""
        return bool(self.difference() or self._link_changes())

    def difference(self) -> list[tuple[Memory | None, Memory | None]]:
        """Return each record that would change, as it was and as it would be; None where there is none."""
        both = [(self.read.get(id), memory) for id, memory in self.now.items()]
        return [(old, new) for old, new in both if old is not new and old != new]

    def writes(self) -> list[Write]:
        """Return the batch that makes the real store equal to the draft, unless what was read here has changed.

        A key is released before it is taken, and a record is put before a link to it.
        """
        differing = self.difference()
        if not differing and not self._link_changes():
            return []
        drop: list[Write] = []
        puts: list[Write] = []
        take: list[Write] = []
        for old, new in differing:
            if old is None and new is not None:
                first = new if new.version == 1 else copy_unvalidated(new, version=1)
                puts.append(Put(first, self._vectors.get(new.id), existing="fail"))
            elif old is not None and new is None:
                drop.append(Delete(old.id, old.version, erase=old.id in self._erased))
            elif old is not None and new is not None:
                fields = {f: getattr(new, f) for f in Memory.model_fields if f != "version"}
                changes = {f: value for f, value in fields.items() if getattr(old, f) != value}
                write = Update(new.id, changes, old.version, self._vectors.get(new.id))
                (take if changes.get("key") else drop).append(write)
        touched = {old.id for old, _ in differing if old is not None}
        guards = [
            Update(id, {}, self.read[id].version) for id in self._guarded if id in self.read and id not in touched
        ]
        return [*guards, *drop, *puts, *take, *self._link_changes()]

    def _link_changes(self) -> list[Write]:
        writes: list[Write] = []
        for edge, link in self.links_now.items():
            if link is not None and self.links_read.get(edge) != link:
                writes.append(AddLink(link))
            elif link is None and edge in self.links_read and all(self.now.get(end) for end in (edge[0], edge[2])):
                writes.append(RemoveLink(*edge))
        return writes


def _described_by(link: Link | None) -> list[tuple[str, str]]:
    """Return the keys and texts of a link's metadata."""
    metadata = link.metadata if link is not None else {}
    return [(key, value) for key, value in metadata.items() if isinstance(value, str)]


class DraftClock:
    """A clock that notes in a draft which ids it generated."""

    def __init__(self, clock: Clock, draft: Draft) -> None:
        self._clock = clock
        self._draft = draft

    def now(self) -> datetime:
        return self._clock.now()

    def new_id(self) -> str:
        id = self._clock.new_id()
        self._draft.generated.add(id)
        return id


def _matches(memory: Memory, where: Filter) -> bool:
    """Whether a record, which may have been changed here, matches a filter."""
    return (
        (where.keys is None or memory.key in where.keys)
        and (where.kinds is None or memory.kind in where.kinds)
        and (where.states is None or memory.state in where.states)
        and where.matches_expiry(memory)
        and (where.ids is None or memory.id in where.ids)
        and (where.sessions is None or memory.session in where.sessions)
        and (where.users is None or memory.user in where.users)
        and (where.until is None or memory.occurred_at < where.until)
        and (where.tags_any is None or any(tag in memory.tags for tag in where.tags_any))
        and all(memory.metadata.get(key) == value for key, value in (where.metadata or {}).items())
    )
