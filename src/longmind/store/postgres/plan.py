"""What a batch will do, worked out before anything of it is written.

The writer holds the agent's lock and has loaded every record the batch names, so the outcome can be computed here,
write after write, and then stored with a handful of statements whatever the size of the batch.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from longmind.clock import as_utc
from longmind.store import refusals
from longmind.store.base import AddLink, Batch, Delete, Put, RemoveLink, Space, Touch, Update
from longmind.store.postgres.rows import Stored, as_stored
from longmind.store.updates import changed, replaced
from longmind.text.analysis import index_terms
from longmind.types import Json, Link, Memory

if TYPE_CHECKING:
    from longmind.store.base import Vector

LinkKey = tuple[str, str, str]
Action = Literal["put", "update", "delete", "erase", "link", "unlink"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the journal to be written."""

    action: Action
    memory_id: str
    user: str | None
    reason: str
    before: Json | None = None
    link: Link | None = None

    def names(self, id: str) -> bool:
        return id == self.memory_id or (self.link is not None and id == self.link.target)

    def cleared(self) -> Line:
        """The line without anything it tells about content; why it was changed may tell that too."""
        return replace(self, reason="", before=None, link=None)


@dataclass(slots=True)
class Loaded:
    """What the database holds of the records a batch names, and the space its vectors must fit."""

    head: int
    active: Space | None = None
    rows: dict[str, Stored] = field(default_factory=dict)
    links: dict[LinkKey, Link] = field(default_factory=dict)
    link_users: dict[LinkKey, str | None] = field(default_factory=dict)


class Plan:
    """The state a batch leaves, beginning with what was loaded, and the journal lines it writes."""

    def __init__(self, batch: Batch, loaded: Loaded) -> None:
        self.batch, self.scope, self.loaded = batch, batch.scope, loaded
        self.rows = dict(loaded.rows)
        self.links = dict(loaded.links)
        self.link_users = dict(loaded.link_users)
        self.links_at: defaultdict[str, set[LinkKey]] = defaultdict(set)
        for key in self.links:
            self._note_ends(key)
        self.keys: dict[tuple[str | None, str | None], str] = {
            (s.memory.user, s.memory.key): id for id, s in self.rows.items() if s.memory.key is not None
        }
        self.lines: list[Line] = []
        self.dropped_vectors: dict[str, None] = {}
        self.vectors: dict[str, Vector] = {}
        self.erased: list[str] = []
        self.memories: list[Memory] = []
        self.created: list[bool] = []

    def make(self) -> Plan:
        """Go through all writes."""
        for write in self.batch.writes:
            match write:
                case Put():
                    self._answer(*self._put(write))
                case Update():
                    self._answer(*self._update(write))
                case Delete():
                    self._delete(write)
                case AddLink():
                    self._add_link(write.link)
                case RemoveLink():
                    self._remove_link(write)
                case Touch():
                    self._touch(write)
        return self

    def _answer(self, memory: Memory, created: bool) -> None:
        self.memories.append(memory)
        self.created.append(created)

    def _put(self, write: Put) -> tuple[Memory, bool]:
        memory = write.memory
        refusals.require_in_scope(self.scope, memory)
        if memory.id in self.rows:
            raise refusals.exists(memory.id)
        holder = self.keys.get((memory.user, memory.key))
        if holder is not None:
            if write.existing == "fail":
                raise refusals.key_taken(memory.key, holder)
            return self.rows[holder].memory, False
        memory = as_stored(memory)
        self._log("put", memory.id, memory.user)
        self._keep(memory, self._seq, index_terms(memory))
        self._embed(memory.id, write.vector)
        return memory, True

    def _update(self, write: Update) -> tuple[Memory, bool]:
        old = self._expect(write.id, write.expected_version)
        new = as_stored(changed(old, write.changes))
        before = replaced(old, new, write.changes)
        if not before:
            return old, False
        holder = self.keys.get((new.user, new.key))
        if holder is not None and holder != old.id:
            raise refusals.key_taken(new.key, holder)
        self._log("update", old.id, old.user, before=before)
        new = new.model_copy(update={"version": old.version + 1})
        self._keep(new, self.rows[old.id].seq, index_terms(new))
        if "content" in before:
            self._drop_vectors(old.id)
        self._embed(old.id, write.vector)
        return new, True

    def _delete(self, write: Delete) -> None:
        memory = self._expect(write.id, write.expected_version)
        for key in sorted(key for key in self.links_at.pop(memory.id, ()) if key in self.links):
            if write.erase:
                del self.links[key]
            else:
                self._unlink(key)
        if write.erase:
            self.erased.append(memory.id)
            self.lines = [line.cleared() if line.names(memory.id) else line for line in self.lines]
            self._log("erase", memory.id, memory.user)
        else:
            self._log("delete", memory.id, memory.user, before=memory.model_dump(mode="json"))
        self._drop_vectors(memory.id)
        self.keys.pop((memory.user, memory.key), None)
        del self.rows[memory.id]

    def _add_link(self, given: Link) -> None:
        link = as_stored_link(given)
        source, target = self._expect(link.source), self._expect(link.target)
        key = (link.source, link.relation, link.target)
        old = self.links.get(key)
        if old is not None and old.model_dump_json() == link.model_dump_json():
            return
        before = None if old is None else old.model_dump(mode="json")
        self.link_users[key] = source.user or target.user
        self._log("link", link.source, self.link_users[key], before=before, link=link)
        self.links[key] = link
        self._note_ends(key)

    def _remove_link(self, write: RemoveLink) -> None:
        key = (write.source, write.relation, write.target)
        seen = all(self._visible(end) for end in (write.source, write.target))
        if key not in self.links or not seen:
            raise refusals.no_link(write)
        self._unlink(key)

    def _touch(self, write: Touch) -> None:
        for id in dict.fromkeys(write.ids):
            memory = self._visible(id)
            if memory is not None:
                counted = {
                    "access_count": memory.access_count + 1,
                    "last_accessed_at": as_utc(write.at),
                    "interaction": memory.interaction + write.interaction,
                }
                row = self.rows[id]
                self.rows[id] = Stored(memory.model_copy(update=counted), row.seq, row.terms)

    # -- the pieces they are made of -------------------------------------------------------------------------------

    @property
    def _seq(self) -> int:
        return self.loaded.head + len(self.lines)

    def _visible(self, id: str) -> Memory | None:
        row = self.rows.get(id)
        return row.memory if row is not None and self.scope.sees(row.memory) else None

    def _expect(self, id: str, version: int | None = None) -> Memory:
        return refusals.expected(self.scope, id, self._visible(id), version)

    def _keep(self, memory: Memory, seq: int, terms: bytes) -> None:
        old = self.rows.get(memory.id)
        if old is not None and old.memory.key is not None:
            self.keys.pop((old.memory.user, old.memory.key), None)
        if memory.key is not None:
            self.keys[memory.user, memory.key] = memory.id
        self.rows[memory.id] = Stored(memory, seq, terms)

    def _note_ends(self, key: LinkKey) -> None:
        self.links_at[key[0]].add(key)
        self.links_at[key[2]].add(key)

    def _unlink(self, key: LinkKey) -> None:
        link = self.links.pop(key)
        self._log("unlink", link.source, self.link_users[key], before=link.model_dump(mode="json"), link=link)

    def _drop_vectors(self, id: str) -> None:
        self.dropped_vectors[id] = None
        self.vectors.pop(id, None)

    def _embed(self, id: str, vector: Vector | None) -> None:
        if vector is not None:
            refusals.require_fit(vector, self.loaded.active)
            self.vectors[id] = vector

    def _log(
        self, action: Action, id: str, user: str | None, *, before: Json | None = None, link: Link | None = None
    ) -> None:
        self.lines.append(Line(action, id, user, self.batch.reason, before, link))


def as_stored_link(link: Link) -> Link:
    """A link as reading it back will give it."""
    return Link.model_validate_json(link.model_dump_json()) if link.metadata else link
