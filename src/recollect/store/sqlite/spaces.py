"""The life of a vector space: declared, built beside the active one, activated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import apsw

from recollect.errors import ModelMismatch
from recollect.store.base import Space
from recollect.store.sqlite.changes import pack
from recollect.store.sqlite.queries import QUERIES, SLOTS, fetch, insert, of_slot
from recollect.store.sqlite.writer import Spaces, Transaction, read_spaces
from recollect.types import Scope

if TYPE_CHECKING:
    from recollect.store.base import Vector

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
    elif spaces.active[1] != space:
        held = spaces.active[1]
        raise ModelMismatch(
            f"The store was built with {held.name} ({held.dimensions} numbers).",
            hint=f"Open it with that embedder, or re-embed it for {space.name}.",
        )


def begin(transaction: Transaction, space: Space) -> None:
    """Build this space beside the active one; what was begun of another is dropped."""
    spaces = transaction.spaces()
    if spaces.active is None:
        raise ModelMismatch("The store has no vector space yet.", hint="Declare this one instead of building a second.")
    slot, active = spaces.active
    if space == active or (spaces.building is not None and spaces.building[1] == space):
        return
    if space.name == active.name:
        raise ModelMismatch(
            f"{space.name} is active with other dimensions.", hint="Give the new space a name of its own."
        )
    other = _other(slot)
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
    if kept and spaces.active is not None and slot == spaces.active[0]:
        transaction.execute(QUERIES["space_activate"], (spaces.epoch + 1, slot))
        transaction.spaces_known = None
    return len(kept)


def activate(transaction: Transaction, space: Space) -> None:
    """Read this space from now on. Refused while a memory would lose its vector by it."""
    spaces = transaction.spaces()
    slot = _slot_of(spaces, space)
    if spaces.active is None or slot == spaces.active[0]:
        return
    left = transaction.execute(of_slot("vectors_missing_count", slot)).fetchall()[0][0]
    if left:
        raise ModelMismatch(
            f"{left} memories have no vector of {space.name} yet.", hint="Go on re-embedding until none is missing."
        )
    _leave(transaction, spaces.active[0])
    transaction.execute(QUERIES["space_activate"], (spaces.epoch + 1, slot))
    transaction.spaces_known = None


def _slot_of(spaces: Spaces, space: Space) -> str:
    for known in (spaces.active, spaces.building):
        if known is not None and known[1] == space:
            return known[0]
    raise ModelMismatch(f"{space.name} is not a space of this store.", hint="Begin the space first.")


def _leave(transaction: Transaction, slot: str) -> None:
    transaction.execute(of_slot("vectors_clear", slot))
    transaction.execute(QUERIES["space_remove"], (slot,))


def _other(slot: str) -> str:
    return SLOTS[slot == SLOTS[0]]
