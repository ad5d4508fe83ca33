"""The life cycle of a vector space: declared, built beside the active one, activated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import apsw

from longmind.store import refusals
from longmind.store.base import Space
from longmind.store.sqlite.changes import pack
from longmind.store.sqlite.queries import QUERIES, SLOTS, fetch, insert, of_slot
from longmind.store.sqlite.writer import SpaceSlots, WriteTransaction, read_spaces
from longmind.types import Scope

if TYPE_CHECKING:
    from longmind.store.base import Vector

T = TypeVar("T")
Missing = tuple[int, Scope, str, str]


@dataclass(slots=True)
class SpaceJob(Generic[T]):
    """A writer job that changes the vector spaces."""

    work: Callable[[WriteTransaction], T]
    erases: bool = False

    def prepare(self) -> None:
        """Nothing can be done beforehand."""

    def run(self, transaction: WriteTransaction) -> T:
        return self.work(transaction)


def declare(transaction: WriteTransaction, space: Space) -> None:
    """Declare the first space of a store."""
    spaces = transaction.spaces()
    if spaces.active is None:
        transaction.execute(QUERIES["space_add"], (SLOTS[0], space.name, space.dimensions, spaces.epoch + 1))
        transaction.spaces_known = None
    else:
        refusals.require_declared(spaces.active[1], space)


def begin(transaction: WriteTransaction, space: Space) -> None:
    """Begin to build this space beside the active one. A third that was being built is dropped."""
    spaces = transaction.spaces()
    active = refusals.require_beside(transaction.active(), space)
    if space == active or (spaces.building is not None and spaces.building[1] == space):
        return
    other = _other(_slot_of(spaces, active))
    if spaces.building is not None:
        _leave(transaction, other)
    transaction.execute(QUERIES["space_add"], (other, space.name, space.dimensions, None))
    transaction.spaces_known = None


def missing(connection: apsw.Connection, space: Space, after: int, limit: int) -> list[Missing]:
    """Return row, scope, id and content of memories after a row that have content and no vector in this space."""
    slot = _slot_of(read_spaces(connection.execute), space)
    fetched = fetch(connection, of_slot("vectors_missing", slot), (after, limit))
    return [
        (row, Scope(tenant=tenant, agent=agent, all_users=True), id_, content)
        for row, tenant, agent, id_, content in fetched
    ]


def put(transaction: WriteTransaction, space: Space, rows: Sequence[tuple[Scope, str, str, Vector]]) -> int:
    """Store the vectors of memories whose content has not changed since. Return how many were stored."""
    spaces = transaction.spaces()
    slot = _slot_of(spaces, space)
    packed = [(scope, id_, content, pack(vector, space)) for scope, id_, content, vector in rows]
    kept = []
    for scope, id_, content, vector in packed:
        known = transaction.fetch_one("scope", (scope.tenant, scope.agent))
        fetched = known and transaction.fetch_one("content", (known[0], id_))
        if fetched and fetched[1] == content and scope.sees_user(fetched[2] or None):
            kept.append((fetched[0], vector))
    insert(transaction.execute, of_slot("vector_add", slot), kept)
    if kept and _is_active(transaction, slot):
        _raise_epoch(transaction, slot)
    return len(kept)


def activate(transaction: WriteTransaction, space: Space) -> None:
    """Make this the active space. Refused while a memory has no vector in it."""
    slot = _slot_of(transaction.spaces(), space)
    if _is_active(transaction, slot):
        return
    refusals.require_complete(_count_missing(transaction, slot), space)
    _switch(transaction, slot)


def finish(
    transaction: WriteTransaction, space: Space, embed: Callable[[Sequence[str]], Iterable[Vector]], limit: int
) -> tuple[int, int]:
    """Embed at most ``limit`` of what is missing and activate the space if that was all, while nobody else writes.

    Says how many got a vector and how many are left without one.
    """
    slot = _slot_of(transaction.spaces(), space)
    missing = _count_missing(transaction, slot)
    fetched = transaction.execute(of_slot("vectors_missing", slot), (0, limit)).fetchall() if missing else []
    if fetched:
        vectors = embed([content for *_, content in fetched])
        kept = [(row[0], pack(vector, space)) for row, vector in zip(fetched, vectors, strict=True)]
        insert(transaction.execute, of_slot("vector_add", slot), kept)
    left = missing - len(fetched)
    if _is_active(transaction, slot):
        if fetched:
            _raise_epoch(transaction, slot)
    elif not left:
        _switch(transaction, slot)
    return len(fetched), left


def _count_missing(transaction: WriteTransaction, slot: str) -> int:
    return int(transaction.execute(of_slot("vectors_missing_count", slot)).fetchall()[0][0])


def _is_active(transaction: WriteTransaction, slot: str) -> bool:
    active = transaction.spaces().active
    return active is not None and active[0] == slot


def _switch(transaction: WriteTransaction, slot: str) -> None:
    """Make this slot the active one and empty the other."""
    active = transaction.spaces().active
    if active is not None:
        _leave(transaction, active[0])
    _raise_epoch(transaction, slot)


def _raise_epoch(transaction: WriteTransaction, slot: str) -> None:
    """Raise the epoch, so that every view is filled anew from this slot."""
    transaction.execute(QUERIES["space_activate"], (transaction.spaces().epoch + 1, slot))
    transaction.spaces_known = None


def _slot_of(spaces: SpaceSlots, space: Space) -> str:
    for known in (spaces.active, spaces.building):
        if known is not None and known[1] == space:
            return known[0]
    raise refusals.unknown_space(space)


def _leave(transaction: WriteTransaction, slot: str) -> None:
    transaction.execute(of_slot("vectors_clear", slot))
    transaction.execute(QUERIES["space_remove"], (slot,))


def _other(slot: str) -> str:
    return SLOTS[slot == SLOTS[0]]
