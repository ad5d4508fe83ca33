"""Applying the writes of one batch inside a transaction.

Puts come in runs and are written many to a statement; whatever else a batch holds first writes the run out, so that it
sees what came before it. A run is taken to be new: only if the table refuses it, because an id or a key is there
already, is each of its puts looked at. Journal lines are collected and written at the end, under one entry of
``batches``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from longmind.clock import as_utc
from longmind.store import refusals
from longmind.store.base import AddLink, Batch, ClearHistory, Delete, Put, Receipt, RemoveLink, Space, Touch, Update
from longmind.store.plan import old_values, operation_after_erasure, with_changes
from longmind.store.reads import LinkKey, link_key
from longmind.store.sqlite import rows
from longmind.store.sqlite.queries import QUERIES, SLOTS, Row, insert, of_slot
from longmind.store.sqlite.rows import SEQ_BITS
from longmind.types import Link, Memory

if TYPE_CHECKING:
    from longmind.store.base import Vector
    from longmind.store.sqlite.writer import WriteTransaction

INDEXED = frozenset(("content", "tags", "source", "occurred_at", "body"))
"""The fields that ``index_terms`` depends on."""

Written = tuple[Memory, bool]
_HALF = np.dtype("<f2")


class BatchJob:
    """A writer job that applies a batch."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.erases = any(
            isinstance(write, ClearHistory) or (isinstance(write, Delete) and write.erase) for write in batch.writes
        )
        self._fingerprint = ""
        self._rows: list[Row | None] = []

    def prepare(self) -> None:
        """Build rows and index terms before the file is locked, so that other processes do not wait for it."""
        scope = self.batch.scope
        refusals.require_storable(self.batch)
        for write in self.batch.writes:
            row = None
            if isinstance(write, Put):
                refusals.require_in_scope(scope, write.memory)
                row = rows.memory_row(write.memory)
            self._rows.append(row)
        if self.batch.idempotent:
            self._fingerprint = self.batch.fingerprint()

    def run(self, transaction: WriteTransaction) -> Receipt:
        batch = self.batch
        number, head = transaction.scope(batch.scope)
        if batch.idempotent:
            known = transaction.fetch_one("operation", (number, batch.scope.user or "", batch.operation))
            if known is not None:
                return self._replay(transaction, number, known)
        if batch.space is not None:
            refusals.require_space(batch, transaction.active())
        changes = Changes(transaction, batch, number, head)
        written = changes.apply(self._rows)
        if self.erases:
            transaction.execute(QUERIES["debt_add"], {"at": rows.micros(as_utc(batch.at))})
        if batch.idempotent:
            ids = json.dumps([memory.id for memory, _ in written])
            key = (number, batch.scope.user or "", batch.operation)
            transaction.execute(QUERIES["operation_add"], (*key, self._fingerprint, ids, rows.micros(as_utc(batch.at))))
        return Receipt(batch.operation, tuple([m for m, _ in written]), tuple([created for _, created in written]))

    def _replay(self, transaction: WriteTransaction, number: int, known: Row) -> Receipt:
        batch = self.batch
        refusals.require_same_writes(batch.operation, known[0], self._fingerprint)
        stored = []
        for id_ in json.loads(known[1]):
            row = transaction.fetch_one("memory", (number, id_))
            memory = None if row is None else rows.memory(row, batch.scope.tenant, batch.scope.agent)
            if memory is not None and batch.scope.sees(memory):
                stored.append(memory)
        return Receipt(batch.operation, tuple(stored), (False,) * len(stored), replayed=True)


@dataclass(slots=True)
class Changes:
    """Applies the writes of one batch in order."""

    transaction: WriteTransaction
    batch: Batch
    number: int
    head: int
    _first: int = 0
    _base: int = 0
    _own: int = 0
    """The row of the first line that this batch writes."""
    _run: list[tuple[Put, Row]] = field(default_factory=list)
    _puts: list[Row] = field(default_factory=list)
    _keys: dict[tuple[str, str], Memory] = field(default_factory=dict)
    """Keys of the puts that are not written yet, by user and key."""
    _vectors: list[Row] = field(default_factory=list)
    _lines: list[Row] = field(default_factory=list)
    _reads: dict[str, tuple[int, int]] = field(default_factory=dict)
    """How often each memory was read, and when last, as the touches tell that are not written yet."""
    _cleared: dict[str, None] = field(default_factory=dict)
    """Memories whose history was cleared."""
    _new: set[str] = field(default_factory=set)
    """Memories that were put since links were last written: the table has no link that ends at them."""
    _users: dict[str, str] = field(default_factory=dict)
    """Whose the memories are that links of this batch end at ('' for no user); a memory never changes its user."""
    _links: dict[LinkKey, Link] = field(default_factory=dict)
    """Links that are not written yet."""

    def apply(self, prepared: list[Row | None]) -> list[Written]:
        """Apply all writes. Return the memory of each put and update, and whether it was written."""
        self._first, self._base = self.head + 1, self.number << SEQ_BITS
        self._own = self._base + self._first
        written: list[Written] = []
        for write, row in zip(self.batch.writes, prepared, strict=True):
            if isinstance(write, Touch):
                self._write_run(written)
                self._touch(write)
                continue
            self._write_reads()
            if row is not None:
                self._run.append((write, row))  # type: ignore[arg-type]
                continue
            self._write_run(written)
            match write:
                case Update():
                    written.append(self._update(write))
                case Delete():
                    self._delete(write)
                case ClearHistory():
                    self._clear_history(write)
                case AddLink(link=link):
                    self._add_link(link)
                case RemoveLink():
                    self._remove_link(write)
        self._write_run(written)
        self._write_links()
        self._write_reads()
        self._write_lines()
        if self._cleared:  # once for all: it looks at every idempotent batch of the agent
            which = {
                "scope": self.number,
                "ids": rows.json_list(tuple(self._cleared)),
                "users": "[]",
                "everything": False,
            }
            self.transaction.execute(QUERIES["operations_forget"], which)
        return written

    # -- puts ---------------------------------------------------------------------------------------------------------

    def _write_run(self, written: list[Written]) -> None:
        if not self._run:
            return
        run, self._run = self._run, []
        self._new.update([row[0] for _, row in run])
        if self._all_new(run):
            self._users.update([row[:2] for _, row in run])
            written.extend([(write.memory, True) for write, _ in run])
        else:
            written.extend([self._put(write, row) for write, row in run])
            self._write_puts()

    def _all_new(self, run: list[tuple[Put, Row]]) -> bool:
        """Insert a whole run of puts. Return False, with nothing written, if the table refuses any of it."""
        number, first = self.number, self._base + self.head + 1
        puts = [(place, number, *row) for place, (_, row) in enumerate(run, first)]
        try:
            insert(self.transaction.execute, QUERIES["memory_add"], puts)
        except apsw.ConstraintError:
            self.transaction.execute(QUERIES["memories_remove"], (first, first + len(run)))
            return False
        self.head += len(run)
        for place, (write, _) in enumerate(run, first):
            if write.vector is not None:
                self._vectors.append((place, self._packed(write.vector)))
        self._lines += [(put[0], "put", put[2], put[3], None, None, None) for put in puts]
        return True

    def _put(self, write: Put, row: Row) -> Written:
        """Collect one put of a run that is not all new, or return the memory that holds its key."""
        memory = write.memory
        if memory.key is not None:
            holder = self._holder(memory.user, memory.key)
            if holder is not None:
                if self._find(memory.id) or any(put[2] == memory.id for put in self._puts):
                    raise refusals.exists(memory.id)
                if write.existing == "return":
                    return holder, False
                raise refusals.key_taken(memory.key, holder.id)
            self._keys[row[1], memory.key] = memory
        place = self._line("put", memory.id, row[1])
        self._puts.append((place, self.number, *row))
        if write.vector is not None:
            self._vectors.append((place, self._packed(write.vector)))
        return memory, True

    def _write_puts(self) -> None:
        if self._puts:
            try:
                insert(self.transaction.execute, QUERIES["memory_add"], self._puts)
            except apsw.ConstraintError as error:
                raise self._explained(error) from error
            self._puts.clear()
            self._keys.clear()

    def _explained(self, error: apsw.ConstraintError) -> Exception:
        """Return the error behind a refused insert. Keys were checked before, so an id exists already."""
        seen: set[str] = set()
        for put in self._puts:
            if put[2] in seen or ((stored := self._find(put[2])) and stored[0] != put[0]):
                return refusals.exists(put[2])
            seen.add(put[2])
        return error

    # -- the other writes and the touch -------------------------------------------------------------------------------

    def _update(self, write: Update) -> Written:
        place, old, terms = self._expect(write.id, write.expected_version)
        new = with_changes(old, write.changes)
        before = old_values(old, new, write.changes)
        if not before:
            return old, False
        if new.key is not None and new.key != old.key and (holder := self._holder(new.user, new.key)):
            raise refusals.key_taken(new.key, holder.id)
        new = new.model_copy(update={"version": old.version + 1})
        row = rows.memory_row(new, None if INDEXED & before.keys() else terms)
        self.transaction.execute(QUERIES["memory_change"], (*row, place))
        self._line("update", old.id, row[1], before=json.dumps(before, ensure_ascii=False))
        if "content" in before:
            self._drop_vectors(place)
        if write.vector is not None:
            self._vectors.append((place, self._packed(write.vector)))
        return new, True

    def _delete(self, write: Delete) -> None:
        self._write_links()
        self._users.pop(write.id, None)
        place, memory, _ = self._expect(write.id, write.expected_version)
        execute, user = self.transaction.execute, memory.user or ""
        mine = {"scope": self.number, "id": memory.id, "begin": self._base, "end": self._base + (1 << SEQ_BITS)}
        if write.erase:
            self._clear((memory.id,))
            self._line("erase", memory.id, user)
        else:
            for stored in execute(QUERIES["links_of"], mine).fetchall():
                self._line_of_link("unlink", rows.link(stored), stored[7] or stored[8], rows.link(stored))
            self._line("delete", memory.id, user, before=json.dumps(rows.record_json(memory), ensure_ascii=False))
        execute(QUERIES["links_from_remove"], mine)
        execute(QUERIES["links_to_remove"], mine)
        self._drop_vectors(place)
        execute(QUERIES["memory_remove"], (place,))

    def _clear_history(self, write: ClearHistory) -> None:
        refusals.require_whole_agent(self.batch.scope)
        self._clear(write.ids)
        if write.users or write.everything:
            self._clear_users(write.users, everything=write.everything)

    def _clear(self, ids: tuple[str, ...]) -> None:
        """Clear what the journal tells of memories, and the operations that changed them."""
        if not ids:
            return
        self._write_lines()
        self._cleared |= dict.fromkeys(ids)
        which = {**self._whole_journal(), "ids": rows.json_list(ids)}
        self._clear_operations("cleared_operations", which)
        for name in ("lines_clear", "lines_clear_target"):
            self.transaction.execute(QUERIES[name], which)

    def _clear_users(self, users: tuple[str, ...], *, everything: bool) -> None:
        """Clear what the journal tells of all memories of these users, or of everything, and the users' names."""
        self._write_lines()
        which = {
            **self._whole_journal(),
            "users": rows.json_list(users),
            "ids": "[]",
            "everything": everything,
        }
        self._clear_operations("cleared_operations_of_users", which)
        for name in ("operations_forget", "lines_clear_users"):
            self.transaction.execute(QUERIES[name], which)

    def _whole_journal(self) -> dict[str, Any]:
        return {"scope": self.number, "begin": self._base, "end": self._base + (1 << SEQ_BITS), "own": self._own}

    def _clear_operations(self, query: str, which: dict[str, Any]) -> None:
        """Clear the reasons of the operations that a query names. The batch keeps its own: it says why it erases."""
        for old, first in self.transaction.execute(QUERIES[query], which).fetchall():
            new = operation_after_erasure(old, first - self._base)
            for name in ("operation_clear", "operation_forget"):
                self.transaction.execute(QUERIES[name], {**which, "old": old, "new": new})

    def _add_link(self, link: Link) -> None:
        user = self._user_of(link.source, link.target)
        if user is None:
            raise refusals.missing(link.source if self._user_of(link.source, link.source) is None else link.target)
        old = self._stored_link(link)
        if old is not None and old.model_dump_json() == link.model_dump_json():
            return
        self._links[link_key(link)] = link
        self._line_of_link("link", link, user, old)

    def _stored_link(self, link: Link) -> Link | None:
        """Return the link between the same ends as it is before this write."""
        key = link_key(link)
        waiting = self._links.get(key)
        if waiting is not None or link.source in self._new or link.target in self._new:
            return waiting
        stored = self.transaction.fetch_one("link", (self.number, *key))
        return None if stored is None else rows.link(stored)

    def _write_links(self) -> None:
        if self._links:
            added = [(self.number, *rows.link_row(link)) for link in self._links.values()]
            insert(self.transaction.execute, QUERIES["link_add"], added)
            self._links.clear()
            self._new.clear()

    def _remove_link(self, write: RemoveLink) -> None:
        key = (
            self.number,
            rows.lookup_text(write.source),
            rows.lookup_text(write.relation),
            rows.lookup_text(write.target),
        )
        self._write_links()
        stored = self.transaction.fetch_one("link", key)
        user = self._user_of(write.source, write.target)
        if stored is None or user is None:
            raise refusals.no_link(write)
        self.transaction.execute(QUERIES["link_remove"], key)
        self._line_of_link("unlink", rows.link(stored), user, rows.link(stored))

    def _touch(self, write: Touch) -> None:
        """Collect the reads of a touch: a memory that many of them name is written once.

        One with an interaction is written by itself, since the sum of numbers depends on their order.
        """
        at = rows.micros(as_utc(write.at))
        if write.interaction:
            self._write_reads()
            params = {"ids": rows.json_list(write.ids), "at": at, "interaction": write.interaction}
            self.transaction.execute(QUERIES["touch"], {**self._viewed(), **params})
            return
        for id_ in set(write.ids):
            times, _ = self._reads.get(id_, (0, 0))
            self._reads[id_] = (times + 1, at)

    def _write_reads(self) -> None:
        if self._reads:
            reads = json.dumps([(id_, times, at) for id_, (times, at) in self._reads.items()])
            self.transaction.execute(QUERIES["reads_add"], {**self._viewed(), "reads": reads})
            self._reads.clear()

    def _viewed(self) -> dict[str, Any]:
        return {"scope": self.number, "user": self.batch.scope.viewer}

    # -- finding ------------------------------------------------------------------------------------------------------

    def _find(self, id_: str) -> Row | None:
        return self.transaction.fetch_one("memory_row", (self.number, rows.lookup_text(id_)))

    def _expect(self, id_: str, version: int | None) -> tuple[int, Memory, bytes]:
        """Return row number, memory and terms of a memory that must exist, at ``version`` unless that is None."""
        stored = self._find(id_)
        scope = self.batch.scope
        memory = None if stored is None else rows.memory(stored[1:-1], scope.tenant, scope.agent)
        seen = refusals.expected(scope, id_, memory, version)
        assert stored is not None
        return stored[0], seen, stored[-1]

    def _holder(self, user: str | None, key: str) -> Memory | None:
        """Return the memory of this user (or of no user) that holds a key."""
        waiting = self._keys.get((user or "", key))
        if waiting is not None:
            return waiting
        stored = self.transaction.fetch_one("memory_by_key", (self.number, user or "", key))
        return None if stored is None else rows.memory(stored, self.batch.scope.tenant, self.batch.scope.agent)

    def _user_of(self, source: str, target: str) -> str | None:
        """Return the user who owns a link between these two ('' for no user); None if the scope does not see both."""
        if source not in self._users or target not in self._users:
            params = (self.number, rows.lookup_text(source), rows.lookup_text(target))
            self._users.update(self.transaction.execute(QUERIES["users"], params).fetchall())
        seen = [self._users[end] for end in (source, target) if end in self._users]
        if len(seen) < 2 or not all(self.batch.scope.sees_user(user or None) for user in seen):
            return None
        return seen[0] or seen[1]

    # -- writing out --------------------------------------------------------------------------------------------------

    def _line(
        self,
        action: str,
        id_: str,
        user: str,
        *,
        before: str | None = None,
        link: str | None = None,
        target: Any = None,
    ) -> int:
        """Add a journal line and return its row number."""
        self.head += 1
        place = self._base + self.head
        self._lines.append((place, action, id_, user, before, link, target))
        return place

    def _line_of_link(self, action: str, link: Link, user: str, old: Link | None) -> None:
        before = None if old is None else old.model_dump_json()
        self._line(action, link.source, user, before=before, link=link.model_dump_json(), target=link.target)

    def _packed(self, vector: Vector) -> bytes:
        return pack(vector, self.transaction.active())

    def _drop_vectors(self, place: int) -> None:
        self._write_vectors()
        for slot in SLOTS:
            self.transaction.execute(of_slot("vector_remove", slot), (place,))

    def _write_vectors(self) -> None:
        if self._vectors:
            active = self.transaction.spaces().active
            assert active is not None
            insert(self.transaction.execute, of_slot("vector_add", active[0]), self._vectors)
            self._vectors.clear()

    def _write_lines(self) -> None:
        """Insert the collected vectors and journal lines, and advance the agent's head."""
        self._write_vectors()
        if not self._lines:
            return
        batch, execute = self.batch, self.transaction.execute
        insert(execute, QUERIES["line_add"], self._lines)
        place = self._base + self._first
        entry = (place, len(self._lines), batch.operation, rows.micros(as_utc(batch.at)), batch.actor, batch.reason)
        execute(QUERIES["batch_add"], entry)
        execute(QUERIES["scope_advance"], (self.head, self.number))
        self._lines.clear()
        self._first = self.head + 1


def pack(vector: Vector, space: Space | None) -> bytes:
    """Return a vector as it is stored."""
    refusals.require_fit(vector, space)
    return np.asarray(vector).astype(_HALF).tobytes()
