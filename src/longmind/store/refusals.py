"""The checks that every backend makes, and the errors that say what was wrong and what to do.

A function named ``require_...`` raises. The others return the error, for a backend that detects the case by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from longmind.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    KeyTaken,
    ModelMismatch,
    NotFound,
    OperationMismatch,
    VersionConflict,
)
from longmind.problems import problems
from longmind.store.base import MAX_PAGE, Batch, RemoveLink, Space
from longmind.types import UPDATABLE, Memory, Scope

if TYPE_CHECKING:
    from longmind.store.base import Vector


# -- batches -----------------------------------------------------------------------------------------------------------


def storable(text: str) -> bool:
    """Return whether a database can hold this text: it has no NUL and no lone surrogate."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return "\x00" not in text


def require_storable(batch: Batch) -> None:
    """Refuse an operation id, actor or reason that cannot be stored: they were not validated with the records."""
    for name, text in (("operation", batch.operation), ("actor", batch.actor), ("reason", batch.reason)):
        if not storable(text):
            raise InvalidInput(
                f"The {name} of the batch holds a NUL character or a lone surrogate.",
                hint="Give it as plain text.",
                field=name,
            )


def require_whole_agent(scope: Scope) -> None:
    """Refuse to clear the journal with the scope of one user, or of none: its lines may tell of others."""
    if not scope.all_users:
        raise Forbidden(
            "The journal of an agent can be cleared only with the scope of all its users.",
            hint="Use Scope.of_all_users().",
        )


def require_in_scope(scope: Scope, memory: Memory) -> None:
    """Refuse to store a memory outside the scope of its batch."""
    if not scope.sees(memory):
        raise Forbidden(
            "The memory belongs to another tenant, agent or user.",
            hint="Write it with the scope it belongs to.",
            id=memory.id,
        )


def require_same_writes(operation: str, before: str, now: str) -> None:
    """Refuse a batch whose operation id was used for one with another fingerprint."""
    if before != now:
        raise OperationMismatch(
            f"The operation {operation!r} was used before for other writes.",
            hint="Give a new operation id to a new change.",
            operation=operation,
        )


# -- memories and links ------------------------------------------------------------------------------------------------


def expected(scope: Scope, id: str, memory: Memory | None, version: int | None = None) -> Memory:
    """Return the memory that a write names. Refused if the scope does not see it, or it is at another version."""
    if memory is None or not scope.sees(memory):
        raise missing(id)
    if version is not None and version != memory.version:
        raise VersionConflict(
            f"The memory is at version {memory.version}, not {version}.",
            hint="Read it again and repeat the change on what it says now.",
            id=id,
            expected=version,
            actual=memory.version,
        )
    return memory


def missing(id: str) -> NotFound:
    return NotFound("There is no such memory in this scope.", hint="Check the id, and whose it is.", id=id)


def exists(id: str) -> Conflict:
    return Conflict("A memory with this id exists.", hint="Update it, or let the clock make a new id.", id=id)


def key_taken(key: str | None, holder: str) -> KeyTaken:
    return KeyTaken(
        f"The key {key!r} is taken.", hint="Update the memory that holds it, or use another key.", key=key, id=holder
    )


def no_link(write: RemoveLink) -> NotFound:
    return NotFound(
        "There is no such link in this scope.",
        hint="List the links of the memory to see which there are.",
        source=write.source,
        relation=write.relation,
        target=write.target,
    )


def unchangeable(names: list[str]) -> InvalidInput:
    return InvalidInput(
        f"These fields cannot be changed: {', '.join(names)}.",
        hint=f"An update may change: {', '.join(sorted(UPDATABLE))}.",
        fields=names,
    )


def invalid(what: str, error: ValidationError) -> InvalidInput:
    """Return the error that says which fields are wrong, and why."""
    reasons = {field or "record": reason for field, reason in problems(error)}
    text = "; ".join(f"{field}: {reason}" for field, reason in reasons.items())
    return InvalidInput(f"{what} is not valid: {text}.", hint="Correct it.", fields=reasons)


# -- reading -----------------------------------------------------------------------------------------------------------


def require_limit(limit: int) -> None:
    """Refuse a page size that is too small or too large."""
    if not 1 <= limit <= MAX_PAGE:
        raise InvalidInput(f"limit is {limit}.", hint=f"Ask for 1 to {MAX_PAGE} memories at a time.", limit=limit)


# -- vectors and their spaces ------------------------------------------------------------------------------------------

_ANOTHER_MODEL = "Use the embedder the store was built with, or re-embed the store."


def require_space(batch: Batch, active: Space | None) -> None:
    """Refuse a batch whose vectors are not of the active space."""
    if batch.space is not None and (active is None or active.name != batch.space):
        raise ModelMismatch(
            f"The vectors are of {batch.space}, but {'no space' if active is None else active.name} is active.",
            hint=_ANOTHER_MODEL,
        )


def require_fit(vector: Vector, space: Space | None) -> Space:
    """Return the space of a vector. Refused if its length shows that another model made it."""
    if space is None:
        raise ModelMismatch("The store has no vector space yet.", hint="Declare one before giving vectors.")
    if len(vector) != space.dimensions:
        raise ModelMismatch(
            f"The vector has {len(vector)} numbers, but those of {space.name} have {space.dimensions}.",
            hint=_ANOTHER_MODEL,
        )
    return space


def require_declared(active: Space, space: Space) -> None:
    """Refuse to declare a second space."""
    if active != space:
        raise ModelMismatch(
            f"The store was built with {active.name} ({active.dimensions} numbers).",
            hint=f"Open it with that embedder, or re-embed it for {space.name}.",
        )


def require_beside(active: Space | None, space: Space) -> Space:
    """Return the active space. Refused if this space cannot be built beside it."""
    if active is None:
        raise ModelMismatch("The store has no vector space yet.", hint="Declare this one instead of building a second.")
    if active.name == space.name and active != space:
        raise ModelMismatch(
            f"{space.name} is active with other dimensions.", hint="Give the new space a name of its own."
        )
    return active


def require_complete(left: int, space: Space) -> None:
    """Refuse to activate a space while memories have no vector in it."""
    if left:
        raise ModelMismatch(
            f"{left} memories have no vector of {space.name} yet.", hint="Go on re-embedding until none is missing."
        )


def unknown_space(space: Space) -> ModelMismatch:
    return ModelMismatch(f"{space.name} is not a space of this store.", hint="Begin the space first.")
