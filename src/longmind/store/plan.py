"""The plan of a batch: what its writes do to records, links and the journal, without a database.

This is the one place that decides it for whoever loads first and stores afterwards: PostgreSQL, the in-memory backend,
and a draft of changes that are not stored yet. (SQLite writes row by row inside its transaction, for speed, and is held
to the same outcome by the conformance suite.)

To apply a batch:

1. ``required(batch)`` tells which ids, keys and links the batch names. Load those that exist into a ``Snapshot``, and
   let nobody else write until step 3 is done.
2. ``plan_batch(batch, snapshot)`` goes through the writes in order and returns a ``WritePlan``, or raises the error
   that refuses the batch. Neither the snapshot nor the batch is changed.
3. Store the difference, in this order: ``cleared``, ``removed_links()``, ``removed()``, ``dropped_vectors``,
   ``updated()``, ``inserted()``, ``vectors``, ``changed_links()`` and ``lines`` of the plan. Answer with
   ``plan.receipt()``.

A plan knows nothing of storage: index terms are computed by whoever stores a record that has ``reindex`` set.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import ValidationError

from longmind.clock import as_utc
from longmind.store import refusals
from longmind.store.base import AddLink, Batch, ClearHistory, Delete, Put, Receipt, RemoveLink, Space, Touch, Update
from longmind.store.reads import LinkKey, link_key
from longmind.types import UPDATABLE, Json, Link, Memory, construct_unvalidated

if TYPE_CHECKING:
    from longmind.store.base import Vector

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
Action = Literal["put", "update", "delete", "erase", "link", "unlink"]


class StoredMemory(NamedTuple):
    """A memory with the number of the change that put it."""

    memory: Memory
    seq: int
    reindex: bool = False
    """Whether the plan put or updated it, so that its index terms have to be computed anew."""


class StoredLink(NamedTuple):
    """A link with its owner: the user of its source, or else of its target."""

    link: Link
    user: str | None


class JournalLine(NamedTuple):
    """A line of the journal as it is stored: only what was before, since what came after can be derived."""

    seq: int
    operation: str
    at: datetime
    actor: str
    reason: str
    action: Action
    memory_id: str
    user: str | None
    before: Json | None = None
    link: Link | None = None

    @property
    def is_about_link(self) -> bool:
        return self.action in ("link", "unlink")


@dataclass(slots=True)
class Cleared:
    """What a batch clears in the journal."""

    ids: dict[str, None] = field(default_factory=dict)
    """Memories whose lines lose their content, and so do lines about links with them."""
    users: dict[str, None] = field(default_factory=dict)
    """Users whose lines lose their content and the user's name."""
    everything: bool = False

    def __bool__(self) -> bool:
        return bool(self.ids or self.users or self.everything)

    def applies_to(self, line: JournalLine) -> bool:
        """Return whether a line loses its content."""
        if self.everything or line.memory_id in self.ids or line.user in self.users:
            return True
        return line.link is not None and (line.link.source in self.ids or line.link.target in self.ids)

    def clear(self, line: JournalLine) -> JournalLine:
        """Return a line as it is after the clearing."""
        if not self.applies_to(line):
            return line
        unnamed = self.everything or line.user in self.users
        return line._replace(before=None, link=None, user=None if unnamed else line.user)


_GENERATED = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|erased-[0-9]+")


def operation_after_erasure(operation: str, first: int) -> str:
    """Return the id that an operation has once something that it changed was erased.

    A generated id stays. One that a caller chose may hold words, so it is replaced by one that tells the number of the
    operation's first journal line.
    """
    return operation if _GENERATED.fullmatch(operation) else f"erased-{first}"


@dataclass(slots=True)
class Required:
    """What a batch names, and so what must be loaded before it is planned."""

    ids: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    """Keys that the batch takes: their holders, of whatever user, must be loaded."""
    links: list[LinkKey] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    """Memories that are deleted: all their links must be loaded."""


def required(batch: Batch) -> Required:
    """Return what must be loaded to plan a batch."""
    needs = Required()
    for write in batch.writes:
        match write:
            case Put(memory=memory):
                needs.ids.append(memory.id)
                if memory.key is not None:
                    needs.keys.append(memory.key)
            case Update(id=id, changes=changes):
                needs.ids.append(id)
                if isinstance(key := changes.get("key"), str):
                    needs.keys.append(key)
            case Delete(id=id):
                needs.ids.append(id)
                needs.deleted.append(id)
            case ClearHistory():
                pass
            case AddLink(link=link):
                needs.ids += (link.source, link.target)
                needs.links.append(link_key(link))
            case RemoveLink():
                needs.ids += (write.source, write.target)
                needs.links.append((write.source, write.relation, write.target))
            case Touch():
                needs.ids += write.ids
    return needs


@dataclass(slots=True)
class Snapshot:
    """What the store holds of that which a batch names, read while nobody else may write."""

    head: int
    """The number of the agent's last journal line."""
    active: Space | None = None
    """The vector space that the vectors of the batch must fit."""
    rows: dict[str, StoredMemory] = field(default_factory=dict)
    links: dict[LinkKey, StoredLink] = field(default_factory=dict)


def plan_batch(batch: Batch, snapshot: Snapshot) -> WritePlan:
    """Work out what a batch does to what the snapshot holds. Raise the error that refuses it."""
    plan = WritePlan(batch, snapshot)
    for write in batch.writes:
        match write:
            case Put():
                plan.put(write)
            case Update():
                plan.update(write)
            case Delete():
                plan.delete(write)
            case ClearHistory():
                plan.clear_history(write)
            case AddLink():
                plan.add_link(write.link)
            case RemoveLink():
                plan.remove_link(write)
            case Touch():
                plan.touch(write)
    return plan


class WritePlan:
    """The state that a batch leaves, beginning with a snapshot, and the journal lines it writes."""

    def __init__(self, batch: Batch, snapshot: Snapshot) -> None:
        self.batch, self.scope, self.snapshot = batch, batch.scope, snapshot
        self.rows = dict(snapshot.rows)
        """The memories that were loaded or put, by id, as the batch leaves them."""
        self.links = dict(snapshot.links)
        self.lines: list[JournalLine] = []
        self.vectors: dict[str, Vector] = {}
        self.dropped_vectors: dict[str, None] = {}
        """Memories whose stored vectors are outdated, in every space."""
        self.cleared = Cleared()
        """What is cleared in earlier journal lines."""
        self.results: list[tuple[Memory, bool]] = []
        """For each Put and Update: the memory, and whether this batch wrote it."""
        self._seen: set[str] = set()
        """Memories that the scope was found to see; a memory never changes its user."""
        self._links_at: defaultdict[str, set[LinkKey]] | None = None
        """The links at each memory, once a delete asked for them."""
        self._keys: dict[tuple[str | None, str | None], str] = {
            (row.memory.user, row.memory.key): id for id, row in self.rows.items() if row.memory.key is not None
        }

    # -- the outcome -------------------------------------------------------------------------------------------------

    def removed(self) -> list[str]:
        """Return the ids of the stored memories that are gone."""
        return [id for id in self.snapshot.rows if id not in self.rows]

    def updated(self) -> list[StoredMemory]:
        """Return the stored memories that have changed, reads counted included."""
        before = self.snapshot.rows
        return [row for id, row in self.rows.items() if id in before and row is not before[id]]

    def inserted(self) -> list[StoredMemory]:
        """Return the new memories."""
        return [row for id, row in self.rows.items() if id not in self.snapshot.rows]

    def removed_links(self) -> list[LinkKey]:
        """Return the stored links that are gone."""
        return [key for key in self.snapshot.links if key not in self.links]

    def changed_links(self) -> list[StoredLink]:
        """Return the links that are new or have changed."""
        before = self.snapshot.links
        return [link for key, link in self.links.items() if before.get(key) is not link]

    def receipt(self) -> Receipt:
        """Return the answer to the batch."""
        memories, created = [memory for memory, _ in self.results], [created for _, created in self.results]
        return Receipt(self.batch.operation, tuple(memories), tuple(created))

    # -- one write after the other -----------------------------------------------------------------------------------

    def put(self, write: Put) -> None:
        memory = write.memory
        refusals.require_in_scope(self.scope, memory)
        if memory.id in self.rows:
            raise refusals.exists(memory.id)
        holder = self._keys.get((memory.user, memory.key))
        if holder is not None:
            if write.existing == "fail":
                raise refusals.key_taken(memory.key, holder)
            self.results.append((self.rows[holder].memory, False))
            return
        memory = as_stored(memory)
        self._log("put", memory.id, memory.user)
        self._set(memory, self._head)
        self._set_vector(memory.id, write.vector)
        self.results.append((memory, True))

    def update(self, write: Update) -> None:
        old = self._expect(write.id, write.expected_version)
        new = as_stored(with_changes(old, write.changes), write.changes)
        before = old_values(old, new, write.changes)
        if not before:
            self.results.append((old, False))
            return
        holder = self._keys.get((new.user, new.key))
        if holder is not None and holder != old.id:
            raise refusals.key_taken(new.key, holder)
        self._log("update", old.id, old.user, before=before)
        new = construct_unvalidated(Memory, {**new.__dict__, "version": old.version + 1})
        self._set(new, self.rows[old.id].seq)
        if "content" in before:
            self._drop_vectors(old.id)
        self._set_vector(old.id, write.vector)
        self.results.append((new, True))

    def delete(self, write: Delete) -> None:
        memory = self._expect(write.id, write.expected_version)
        for key in self._links_of(memory.id):
            if write.erase:
                del self.links[key]
            else:
                self._unlink(key)
        if write.erase:
            self._clear(Cleared({memory.id: None}))
            self._log("erase", memory.id, memory.user)
        else:
            self._log("delete", memory.id, memory.user, before=memory.model_dump(mode="json"))
        self._drop_vectors(memory.id)
        self._keys.pop((memory.user, memory.key), None)
        del self.rows[memory.id]

    def clear_history(self, write: ClearHistory) -> None:
        refusals.require_whole_agent(self.scope)
        self._clear(Cleared(dict.fromkeys(write.ids), dict.fromkeys(write.users), write.everything))

    def add_link(self, link: Link) -> None:
        link = _link_as_stored(link)
        source, target = self._expect(link.source), self._expect(link.target)
        key, user = link_key(link), source.user or target.user
        old = self.links.get(key)
        if old is not None and (old.link is link or old.link.model_dump_json() == link.model_dump_json()):
            return
        before = None if old is None else old.link.model_dump(mode="json")
        self.links[key] = StoredLink(link, user)
        self._log("link", link.source, user, before=before, link=link)
        if self._links_at is not None:
            _index_ends(self._links_at, key)

    def remove_link(self, write: RemoveLink) -> None:
        key = (write.source, write.relation, write.target)
        if key not in self.links or not all(self._visible(end) for end in (write.source, write.target)):
            raise refusals.no_link(write)
        self._unlink(key)

    def touch(self, write: Touch) -> None:
        for id in dict.fromkeys(write.ids):
            memory = self._visible(id)
            if memory is not None:
                counted = {
                    "access_count": memory.access_count + 1,
                    "last_accessed_at": as_utc(write.at),
                    "interaction": memory.interaction + write.interaction,
                }
                self.rows[id] = self.rows[id]._replace(memory=memory.model_copy(update=counted))

    # -- the pieces they are made of ---------------------------------------------------------------------------------

    @property
    def _head(self) -> int:
        return self.snapshot.head + len(self.lines)

    def _clear(self, cleared: Cleared) -> None:
        """Clear lines that this batch wrote before, and note what is to be cleared in those that are stored.

        The batch keeps its own reason: it is the one that says why something is erased.
        """
        if any(cleared.applies_to(line) for line in self.lines):
            self.lines = [cleared.clear(line) for line in self.lines]
        self.cleared.ids |= cleared.ids
        self.cleared.users |= cleared.users
        self.cleared.everything |= cleared.everything

    def _visible(self, id: str) -> Memory | None:
        row = self.rows.get(id)
        return row.memory if row is not None and self.scope.sees(row.memory) else None

    def _expect(self, id: str, version: int | None = None) -> Memory:
        row = self.rows.get(id)
        if row is not None and version is None and id in self._seen:
            return row.memory
        memory = refusals.expected(self.scope, id, None if row is None else row.memory, version)
        self._seen.add(id)
        return memory

    def _set(self, memory: Memory, seq: int) -> None:
        old = self.rows.get(memory.id)
        if old is not None and old.memory.key is not None:
            self._keys.pop((old.memory.user, old.memory.key), None)
        if memory.key is not None:
            self._keys[memory.user, memory.key] = memory.id
        self.rows[memory.id] = StoredMemory(memory, seq, reindex=True)

    def _links_of(self, id: str) -> list[LinkKey]:
        """Return the links that leave or reach a memory, in order."""
        if self._links_at is None:
            self._links_at = defaultdict(set)
            for key in self.links:
                _index_ends(self._links_at, key)
        return sorted(key for key in self._links_at.pop(id, ()) if key in self.links)

    def _unlink(self, key: LinkKey) -> None:
        link, user = self.links.pop(key)
        self._log("unlink", link.source, user, before=link.model_dump(mode="json"), link=link)

    def _drop_vectors(self, id: str) -> None:
        self.dropped_vectors[id] = None
        self.vectors.pop(id, None)

    def _set_vector(self, id: str, vector: Vector | None) -> None:
        if vector is not None:
            refusals.require_fit(vector, self.snapshot.active)
            self.vectors[id] = vector

    def _log(
        self, action: Action, id: str, user: str | None, *, before: Json | None = None, link: Link | None = None
    ) -> None:
        b = self.batch
        self.lines.append(
            JournalLine(self._head + 1, b.operation, b.at, b.actor, b.reason, action, id, user, before, link)
        )


def _index_ends(links_at: defaultdict[str, set[LinkKey]], key: LinkKey) -> None:
    links_at[key[0]].add(key)
    links_at[key[2]].add(key)


# -- what a write makes of a record ------------------------------------------------------------------------------------


def with_changes(old: Memory, changes: Json) -> Memory:
    """Return a memory with some fields changed, validated as a whole. Its version stays the same."""
    if unknown := sorted(set(changes) - UPDATABLE):
        raise refusals.unchangeable(unknown)
    try:
        return Memory.model_validate({**old.__dict__, **changes})
    except ValidationError as error:
        raise refusals.invalid("The memory as changed", error) from error


def old_values(old: Memory, new: Memory, names: Iterable[str]) -> Json:
    """Return the old values of those of these fields that differ, as the journal keeps them."""
    differing = {name for name in names if not _is_same(getattr(old, name), getattr(new, name))}
    return old.model_dump(mode="json", include=differing) if differing else {}


def _is_same(old: object, new: object) -> bool:
    """Compare two values of a field. JSON text tells true from 1 and 0.0 from -0.0; ``==`` does not."""
    if old is new:
        return True
    if isinstance(old, dict | float) or isinstance(new, dict | float):
        return json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)
    return old == new


_JSON_FIELDS = ("body", "metadata")


def as_stored(memory: Memory, fields: Container[str] = _JSON_FIELDS) -> Memory:
    """Return the memory as reading it back gives it: JSON has turned a tuple into a list, and nothing is shared.

    Only ``fields`` are normalised; the others were when they were stored.
    """
    plain = {name: _plain_copy(getattr(memory, name)) for name in _JSON_FIELDS if name in fields}
    return construct_unvalidated(Memory, {**memory.__dict__, **plain}) if plain else memory


def _plain_copy(value: Any) -> Any:
    """Return what JSON makes of a value. The usual types are copied directly, which is faster than writing JSON."""
    kind = type(value)
    if kind is str or kind is int or kind is float or kind is bool or value is None:
        return value
    if kind is dict and all(type(key) is str for key in value):
        return {key: _plain_copy(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [_plain_copy(item) for item in value]
    return json.loads(_compact(value))


def _link_as_stored(link: Link) -> Link:
    return Link.model_validate_json(link.model_dump_json()) if link.metadata else link
