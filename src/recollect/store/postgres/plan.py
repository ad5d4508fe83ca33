"""What a batch will do, worked out before anything of it is written.

The writer holds the agent's lock and has loaded every record the batch names, so the outcome can be computed here,
write after write, and then stored with a handful of statements whatever the size of the batch.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from recollect.clock import as_utc
from recollect.errors import Conflict, Forbidden, InvalidInput, KeyTaken, ModelMismatch, NotFound, VersionConflict
from recollect.store.base import AddLink, Batch, Delete, Put, RemoveLink, Space, Touch, Update
from recollect.store.postgres.rows import Stored, as_stored
from recollect.store.search.analysis import index_terms
from recollect.types import UPDATABLE, Json, Link, Memory

if TYPE_CHECKING:
    from recollect.store.base import Vector

LinkKey = tuple[str, str, str]
Action = Literal["put", "update", "delete", "erase", "link", "unlink"]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the journal to be written."""

    action: Action
    memory_id: str
    user: str | None
    before: Json | None = None
    link: Link | None = None

    def names(self, id: str) -> bool:
        return id == self.memory_id or (self.link is not None and id == self.link.target)


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
        require_in_scope(self.batch, memory)
        if memory.id in self.rows:
            raise Conflict(
                "A memory with this id exists.", hint="Update it, or let the clock make a new id.", id=memory.id
            )
        holder = self.keys.get((memory.user, memory.key))
        if holder is not None:
            if write.existing == "fail":
                raise _key_taken(memory.key, holder)
            return self.rows[holder].memory, False
        memory = as_stored(memory)
        self._log("put", memory.id, memory.user)
        self._keep(memory, self._seq, index_terms(memory))
        self._embed(memory.id, write.vector)
        return memory, True

    def _update(self, write: Update) -> tuple[Memory, bool]:
        old = self._expect(write.id, write.expected_version)
        new = changed(old, write.changes)
        before = _differences(old, new, write.changes)
        if not before:
            return old, False
        holder = self.keys.get((new.user, new.key))
        if holder is not None and holder != old.id:
            raise _key_taken(new.key, holder)
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
            self.lines = [replace(x, before=None, link=None) if x.names(memory.id) else x for x in self.lines]
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
            raise NotFound(
                "There is no such link in this scope.",
                hint="List the links of the memory to see which there are.",
                source=write.source,
                relation=write.relation,
                target=write.target,
            )
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
        memory = self._visible(id)
        if memory is None:
            raise NotFound("There is no such memory in this scope.", hint="Check the id, and whose it is.", id=id)
        if version is not None and version != memory.version:
            raise VersionConflict(
                f"The memory is at version {memory.version}, not {version}.",
                hint="Read it again and repeat the change on what it says now.",
                id=id,
                expected=version,
                actual=memory.version,
            )
        return memory

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
            require_fit(vector, self.loaded.active)
            self.vectors[id] = vector

    def _log(
        self, action: Action, id: str, user: str | None, *, before: Json | None = None, link: Link | None = None
    ) -> None:
        self.lines.append(Line(action, id, user, before, link))


def require_in_scope(batch: Batch, memory: Memory) -> None:
    """Refuse to store a memory outside the scope of the batch."""
    if not batch.scope.sees(memory):
        raise Forbidden(
            "The memory belongs to another tenant, agent or user.",
            hint="Write it with the scope it belongs to.",
            id=memory.id,
        )


def require_space(batch: Batch, active: Space | None) -> None:
    """Refuse a batch whose vectors are of a space that is not, or no longer, the active one."""
    if batch.space is not None and (active is None or active.name != batch.space):
        raise ModelMismatch(
            f"The vectors are of {batch.space}, but {'no space' if active is None else active.name} is active.",
            hint="Open the store again, so that its embedder is used.",
        )


def require_fit(vector: Vector, space: Space | None) -> None:
    """Refuse a vector that another model made."""
    if space is None:
        raise ModelMismatch("The store has no vector space yet.", hint="Declare one before giving vectors.")
    if len(vector) != space.dimensions:
        raise ModelMismatch(
            f"The vector has {len(vector)} numbers, but those of {space.name} have {space.dimensions}.",
            hint="Use the embedder the store was built with, or re-embed the store.",
        )


def as_stored_link(link: Link) -> Link:
    """A link as reading it back will give it."""
    return Link.model_validate_json(link.model_dump_json()) if link.metadata else link


def changed(old: Memory, changes: Json) -> Memory:
    """A memory with some fields changed, validated as a whole."""
    unknown = sorted(set(changes) - UPDATABLE)
    if unknown:
        raise InvalidInput(
            f"These fields cannot be changed: {', '.join(unknown)}.",
            hint=f"An update may change: {', '.join(sorted(UPDATABLE))}.",
            fields=unknown,
        )
    try:
        return as_stored(Memory.model_validate({**old.__dict__, **changes}))
    except ValidationError as error:
        reasons = {".".join(map(str, e["loc"])) or "record": e["msg"] for e in error.errors()}
        told = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise InvalidInput(f"The change makes no valid memory: {told}.", hint="Correct it.", fields=reasons) from error


def _differences(old: Memory, new: Memory, names: Iterable[str]) -> Json:
    """The old values of the fields that differ, compared as JSON text, which tells true from 1 and 1 from 1.0."""
    asked = set(names)
    was: Mapping[str, object] = old.model_dump(mode="json", include=asked)
    now = new.model_dump(mode="json", include=asked)
    return {n: v for n, v in was.items() if _sorted_text(v) != _sorted_text(now[n])}


def _sorted_text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _key_taken(key: str | None, holder: str) -> KeyTaken:
    return KeyTaken(
        f"The key {key!r} is taken.", hint="Update the memory that holds it, or use another key.", key=key, id=holder
    )
