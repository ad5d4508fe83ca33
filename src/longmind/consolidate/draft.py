"""A draft: a store on which a stage tries out its changes before any of them is made.

Reads go through to the real store and are kept; writes stay here and are seen by later reads. So the memory systems do
their work exactly as they would, and at the end ``writes`` is everything that has to change, as one batch. Each record
that was changed, or on whose state a decision rested, is expected to be as it was read: if another writer was faster
the batch fails as a whole, and the stage is tried again on what is there then.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from longmind.clock import Clock
from longmind.errors import InvalidInput, KeyTaken, NotFound, VersionConflict
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
from longmind.store.reads import all_links, scan_all
from longmind.systems.unvalidated import copy_unvalidated
from longmind.types import Change, Direction, Filter, Link, Memory, Order, Page, Scope, Stats, construct_unvalidated

if TYPE_CHECKING:
    from longmind.store.base import Vector

Edge = tuple[str, str, str]
_KEYS_AT_ONCE = 500
_ID = 36
"""Characters of an id."""
_PLAIN = ("keys", "kinds", "states", "ids", "sessions", "users", "tags_any")
_REFUSED = tuple(sorted(set(Filter.model_fields) - {*_PLAIN, "metadata"}))
"""What a draft can be asked for, and what it cannot."""


class Draft:
    """A ``Backend`` over another one that keeps its writes to itself."""

    def __init__(self, base: Backend, scope: Scope) -> None:
        self._base = base
        self._scope = scope
        self.read: dict[str, Memory] = {}
        """Records of the real store, as they were when they were first read."""
        self.now: dict[str, Memory | None] = {}
        """Records as they are in the draft; None: not there, or removed."""
        self._holders: dict[str, set[str]] = {}
        self._looked: set[str] = set()
        self._edges: dict[tuple[str, bool], dict[Edge, Link]] = {}
        """Links of a record by (its id, whether they leave it), complete once they are here."""
        self.links_read: dict[Edge, Link] = {}
        self.links_now: dict[Edge, Link | None] = {}
        self._touched: dict[tuple[str, bool], dict[Edge, Link | None]] = {}
        """The changed links, by (id, whether they leave it)."""
        self._guarded: dict[str, None] = {}
        self._vectors: dict[str, Vector] = {}
        self._steps = 0
        self.made: set[str] = set()
        """The ids that were made for this draft."""
        self._by_kind: dict[str, dict[str, None]] = {}
        self._scanned: set[tuple[object, ...]] = set()

    # -- reading -------------------------------------------------------------------------------------------------

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        wanted = list(dict.fromkeys(ids))
        missing = [id for id in wanted if id not in self.now and id not in self.made]
        if missing:
            for memory in await self._base.get(self._scope, missing):
                self._keep(memory)
            for id in missing:
                self.now.setdefault(id, None)
        return [m for id in wanted if (m := self.now.get(id)) is not None and scope.sees(m)]

    async def know_keys(self, keys: Iterable[str]) -> None:
        """Read the records that hold these keys, those that were not looked for yet, in few reads."""
        wanted = [key for key in dict.fromkeys(keys) if key not in self._looked and not self._is_new(key)]
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            part = tuple(wanted[start : start + _KEYS_AT_ONCE])
            async for memory in scan_all(self._base, self._scope, Filter(keys=part, states=None)):
                self._keep(memory)
            self._looked.update(part)

    def _is_new(self, key: str) -> bool:
        """Whether a key is made from an id that was made here, so that nothing in the real store can hold it."""
        return key.partition(":")[2][:_ID] in self.made

    def holders(self, key: str) -> list[str]:
        """The ids of the records that hold a key, of those read so far."""
        return sorted(self._holders.get(key, ()))

    async def know_links(self, ids: Iterable[str], *, leaving: bool) -> None:
        """Read all links that leave, or reach, these records, those not read yet."""
        wanted = [id for id in dict.fromkeys(ids) if (id, leaving) not in self._edges]
        self._edges.update({(id, leaving): {} for id in wanted})
        stored = [id for id in wanted if id not in self.made]
        direction: Direction = "out" if leaving else "in"
        for link in await all_links(self._base, self._scope, stored, direction=direction):
            self.links_read.setdefault(_edge(link), link)
            self._edges[link.source if leaving else link.target, leaving][_edge(link)] = link
        for id in wanted:
            for edge, now in self._touched.get((id, leaving), {}).items():
                self._set_edge(edge, now, leaving)

    async def links(
        self, scope: Scope, ids: Sequence[str], *, relation: str | None, direction: Direction, limit: int
    ) -> list[Link]:
        found: dict[Edge, Link] = {}
        for leaving in (True, False):
            if direction == "both" or (direction == "out") == leaving:
                await self.know_links(ids, leaving=leaving)
                for id in ids:
                    found.update(self._edges[id, leaving])
        chosen = [link for link in found.values() if relation is None or link.relation == relation]
        if scope.user is not None:
            ends = {id for link in chosen for id in (link.source, link.target)}
            seen = {memory.id for memory in await self.get(scope, sorted(ends))}
            chosen = [link for link in chosen if link.source in seen and link.target in seen]
        if len(chosen) > limit:
            chosen = sorted(chosen, key=lambda link: (-link.weight, *_edge(link)))[:limit]
        return chosen

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
        if order != "recorded" or cursor is not None or any(getattr(where, field) is not None for field in _REFUSED):
            raise InvalidInput("A draft is scanned by kind, key, state, session and metadata only.")
        if where.keys is not None:
            await self.know_keys(where.keys)
            ids: Iterable[str] = [id for key in where.keys for id in self._holders.get(key, ())]
        else:
            await self._know_all(where)
            ids = (
                self.now if where.kinds is None else [id for kind in where.kinds for id in self._by_kind.get(kind, ())]
            )
        found = [m for id in ids if (m := self.now[id]) is not None and scope.sees(m) and _matches(m, where)]
        found.sort(key=lambda m: (m.recorded_at, m.id), reverse=descending)
        return construct_unvalidated(Page[Memory], {"items": tuple(found), "cursor": None})

    async def _know_all(self, where: Filter) -> None:
        """Read the records that match, unless the same was asked before: what was read once is what counts here."""
        asked = (
            *(getattr(where, field) for field in _PLAIN),
            None if where.metadata is None else tuple(sorted(where.metadata.items())),
        )
        if asked not in self._scanned:
            self._scanned.add(asked)
            async for memory in scan_all(self._base, self._scope, where):
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
        """Make these writes in the draft. Of a batch that fails nothing must be used: the stage begins anew."""
        touched = [w.id for w in batch.writes if isinstance(w, Update | Delete)]
        await self.get(self._scope, touched)
        await self.know_keys(w.memory.key for w in batch.writes if isinstance(w, Put) and w.memory.key)
        memories: list[Memory] = []
        created: list[bool] = []
        for write in batch.writes:
            match write:
                case Put() | Update():
                    memory, made = self._put(write) if isinstance(write, Put) else self._update(write)
                    memories.append(memory)
                    created.append(made)
                case AddLink(link=link):
                    self._set_link(_edge(link), link)
                case RemoveLink():
                    self._set_link((write.source, write.relation, write.target), None)
                case Delete():
                    await self._delete(write)
                case Touch():
                    raise InvalidInput("A draft counts no reads.")
        self._steps += 1
        return Receipt(batch.operation, tuple(memories), tuple(created))

    def _put(self, write: Put) -> tuple[Memory, bool]:
        memory = write.memory
        held = [m for id in self._holders.get(memory.key or "", ()) if (m := self.now[id]) and m.user == memory.user]
        if held:
            if write.existing == "return":
                return held[0], False
            raise KeyTaken(f"The key {memory.key} is taken.", key=memory.key)
        self._set(memory)
        if write.vector is not None:
            self._vectors[memory.id] = write.vector
        return memory, True

    def _update(self, write: Update) -> tuple[Memory, bool]:
        old = self._current(write.id, write.expected_version)
        self._guarded[write.id] = None
        changes = {field: value for field, value in write.changes.items() if getattr(old, field) != value}
        if not changes:
            return old, False
        new = copy_unvalidated(old, **changes, version=old.version + 1)
        if "key" in changes:
            self._let_go(old)
        self._set(new)
        if "content" in changes:
            self._vectors.pop(write.id, None)
        if write.vector is not None:
            self._vectors[write.id] = write.vector
        return new, True

    async def _delete(self, write: Delete) -> None:
        old = self._current(write.id, write.expected_version)
        self._let_go(old)
        for leaving in (True, False):
            await self.know_links([write.id], leaving=leaving)
            for edge in list(self._edges[write.id, leaving]):
                self._set_link(edge, None)
        self.now[write.id] = None

    def _current(self, id: str, expected: int | None) -> Memory:
        old = self.now.get(id)
        if old is None:
            raise NotFound(f"There is no memory {id} here.", id=id)
        if expected is not None and expected != old.version:
            raise VersionConflict(f"Memory {id} has changed.", id=id, expected=expected, actual=old.version)
        return old

    def _keep(self, memory: Memory) -> None:
        if memory.id not in self.now:
            self.read[memory.id] = memory
            self._set(memory)

    def _set(self, memory: Memory) -> None:
        self.now[memory.id] = memory
        self._by_kind.setdefault(memory.kind, {})[memory.id] = None
        if memory.key is not None:
            self._holders.setdefault(memory.key, set()).add(memory.id)

    def _let_go(self, memory: Memory) -> None:
        if memory.key is not None:
            self._holders[memory.key].discard(memory.id)

    def _set_link(self, edge: Edge, link: Link | None) -> None:
        self.links_now[edge] = link
        for leaving in (True, False):
            self._touched.setdefault((edge[0] if leaving else edge[2], leaving), {})[edge] = link
            self._set_edge(edge, link, leaving)

    def _set_edge(self, edge: Edge, link: Link | None, leaving: bool) -> None:
        own = self._edges.get((edge[0] if leaving else edge[2], leaving))
        if own is None:
            return
        if link is None:
            own.pop(edge, None)
        else:
            own[edge] = link

    # -- the outcome ---------------------------------------------------------------------------------------------

    @property
    def changed(self) -> bool:
        """Whether anything would be different."""
        return bool(self.difference() or self._link_changes())

    def difference(self) -> list[tuple[Memory | None, Memory | None]]:
        """Each record that would change, as it was and as it would be; None where there is none."""
        both = [(self.read.get(id), memory) for id, memory in self.now.items()]
        return [(old, new) for old, new in both if old is not new and old != new]

    def writes(self) -> list[Write]:
        """The writes that make the real store what the draft is, on condition that nothing read here has changed.

        A key is let go before it is taken, and a record is there before a link to it.
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
                drop.append(Delete(old.id, old.version))
            elif old is not None and new is not None:
                fields = {f: getattr(new, f) for f in Memory.model_fields if f != "version"}
                told = {f: value for f, value in fields.items() if getattr(old, f) != value}
                write = Update(new.id, told, old.version, self._vectors.get(new.id))
                (take if told.get("key") else drop).append(write)
        touched = {old.id for old, _ in differing if old is not None}
        guards = [
            Update(id, {}, self.read[id].version) for id in self._guarded if id in self.read and id not in touched
        ]
        return [*guards, *drop, *puts, *take, *self._link_changes()]

    def _link_changes(self) -> list[Write]:
        made: list[Write] = []
        for edge, link in self.links_now.items():
            if link is not None and self.links_read.get(edge) != link:
                made.append(AddLink(link))
            elif link is None and edge in self.links_read and all(self.now.get(end) for end in (edge[0], edge[2])):
                made.append(RemoveLink(*edge))
        return made


class DraftClock:
    """A clock that notes in a draft which ids it made."""

    def __init__(self, clock: Clock, draft: Draft) -> None:
        self._clock = clock
        self._draft = draft

    def now(self) -> datetime:
        return self._clock.now()

    def new_id(self) -> str:
        id = self._clock.new_id()
        self._draft.made.add(id)
        return id


def _edge(link: Link) -> Edge:
    return link.source, link.relation, link.target


def _matches(memory: Memory, where: Filter) -> bool:
    """Whether a record that may have been changed here still is what was asked for."""
    return (
        (where.keys is None or memory.key in where.keys)
        and (where.kinds is None or memory.kind in where.kinds)
        and (where.states is None or memory.state in where.states)
        and (where.ids is None or memory.id in where.ids)
        and (where.sessions is None or memory.session in where.sessions)
        and (where.users is None or memory.user in where.users)
        and (where.tags_any is None or any(tag in memory.tags for tag in where.tags_any))
        and all(memory.metadata.get(key) == value for key, value in (where.metadata or {}).items())
    )
