"""The life of a vector space: declared, built beside the active one, activated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import apsw

from longmind.store import refusals
from longmind.store.base import Space
from longmind.store.sqlite.changes import pack
from longmind.store.sqlite.queries import QUERIES, SLOTS, fetch, insert, of_slot
from longmind.store.sqlite.writer import Spaces, Transaction, read_spaces
from longmind.types import Scope

if TYPE_CHECKING:
    from longmind.store.base import Vector

T = TypeVar("T")
Missing = tuple[int, Scope, str, str]


@dataclass(slots=True)
class SpaceJob(Generic[T]):
    """A change of the spaces on its way through the writer."""

    work: Callable[[Transaction], T]
    erases: bool = False

    def prepare(self) -> None:
        """Nothing can be done beforehand."""

    def run(self, transaction: Transaction) -> T:
        return self.work(transaction)


def declare(transaction: Transaction, space: Space) -> None:
    """The first space of a store."""
    spaces = transaction.spaces()
    if spaces.active is None:
        transaction.execute(QUERIES["space_add"], (SLOTS[0], space.name, space.dimensions, spaces.epoch + 1))
        transaction.spaces_known = None
    else:
        refusals.require_declared(spaces.active[1], space)


def begin(transaction: Transaction, space: Space) -> None:
    """Build this space beside the active one; what was begun of another is dropped."""
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
    """Row, scope, id and content of memories behind a row that say something and have no vector in this space."""
    slot = _slot_of(read_spaces(connection.execute), space)
    found = fetch(connection, of_slot("vectors_missing", slot), (after, limit))
    return [(row, Scope(tenant=tenant, agent=agent), id_, content) for row, tenant, agent, id_, content in found]


def put(transaction: Transaction, space: Space, rows: Sequence[tuple[Scope, str, str, Vector]]) -> int:
    """Store vectors of the memories that still say what was embedded; how many those were."""
    spaces = transaction.spaces()
    slot = _slot_of(spaces, space)
    packed = [(scope, id_, content, pack(vector, space)) for scope, id_, content, vector in rows]
    kept = []
    for scope, id_, content, vector in packed:
        known = transaction.one("scope", (scope.tenant, scope.agent))
        found = known and transaction.one("content", (known[0], id_))
        if found and found[1] == content and (scope.user is None or found[2] in ("", scope.user)):
            kept.append((found[0], vector))
    insert(transaction.execute, of_slot("vector_add", slot), kept)
    if kept and _is_active(transaction, slot):
        _raise_epoch(transaction, slot)
    return len(kept)


def activate(transaction: Transaction, space: Space) -> None:
    """Read this space from now on. Refused while a memory would lose its vector by it."""
    slot = _slot_of(transaction.spaces(), space)
    if _is_active(transaction, slot):
        return
    refusals.require_complete(_count_missing(transaction, slot), space)
    _switch(transaction, slot)


def finish(
    transaction: Transaction, space: Space, embed: Callable[[Sequence[str]], Iterable[Vector]], limit: int
) -> tuple[int, int]:
    """Embed what is missing, at most so many, and activate the space if nothing is then. No other writes meanwhile.

    Says how many got a vector and how many are left without one.
    """
    slot = _slot_of(transaction.spaces(), space)
    missing = _count_missing(transaction, slot)
    found = transaction.execute(of_slot("vectors_missing", slot), (0, limit)).fetchall() if missing else []
    if found:
        vectors = embed([content for *_, content in found])
        kept = [(row[0], pack(vector, space)) for row, vector in zip(found, vectors, strict=True)]
        insert(transaction.execute, of_slot("vector_add", slot), kept)
    left = missing - len(found)
    if _is_active(transaction, slot):
        if found:
            _raise_epoch(transaction, slot)
    elif not left:
        _switch(transaction, slot)
    return len(found), left


def _count_missing(transaction: Transaction, slot: str) -> int:
    return int(transaction.execute(of_slot("vectors_missing_count", slot)).fetchall()[0][0])


def _is_active(transaction: Transaction, slot: str) -> bool:
    active = transaction.spaces().active
    return active is not None and active[0] == slot


def _switch(transaction: Transaction, slot: str) -> None:
    """Read this slot from now on, and drop the one that was read until now."""
    active = transaction.spaces().active
    if active is not None:
        _leave(transaction, active[0])
    _raise_epoch(transaction, slot)


def _raise_epoch(transaction: Transaction, slot: str) -> None:
    """Let every view be filled anew, out of this slot."""
    transaction.execute(QUERIES["space_activate"], (transaction.spaces().epoch + 1, slot))
    transaction.spaces_known = None


def _slot_of(spaces: Spaces, space: Space) -> str:
    for known in (spaces.active, spaces.building):
        if known is not None and known[1] == space:
            return known[0]
    raise refusals.unknown_space(space)


def _leave(transaction: Transaction, slot: str) -> None:
    transaction.execute(of_slot("vectors_clear", slot))
    transaction.execute(QUERIES["space_remove"], (slot,))


def _other(slot: str) -> str:
    return SLOTS[slot == SLOTS[0]]
