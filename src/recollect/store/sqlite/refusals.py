"""What a change may not do, and the errors that say so."""

from __future__ import annotations

import json

from pydantic import ValidationError

from recollect.errors import Conflict, Forbidden, InvalidInput, KeyTaken, NotFound, OperationMismatch, VersionConflict
from recollect.store.base import RemoveLink
from recollect.store.sqlite import rows
from recollect.types import UPDATABLE, Json, Memory


def plain(**texts: str) -> None:
    """Refuse what no database stores as text: NUL and lone surrogates."""
    for name, text in texts.items():
        if "\x00" in text or isinstance(rows.sought(text), bytes):
            raise InvalidInput(
                f"The {name} holds a NUL character or a lone surrogate.", hint="Give it as plain text.", field=name
            )


def merged(old: Memory, changes: Json) -> Memory:
    unknown = sorted(set(changes) - UPDATABLE)
    if unknown:
        raise InvalidInput(
            f"These fields cannot be changed: {', '.join(unknown)}.",
            hint=f"An update may change: {', '.join(sorted(UPDATABLE))}.",
            fields=unknown,
        )
    try:
        return Memory.model_validate({**old.__dict__, **changes})
    except ValidationError as error:
        reasons = {".".join(map(str, e["loc"])) or "record": e["msg"] for e in error.errors()}
        told = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise InvalidInput(f"The change makes no valid memory: {told}.", hint="Correct it.", fields=reasons) from error


def difference(old: Memory, new: Memory, names: Json) -> Json:
    """The old values of the fields that differ; as JSON text, since Python takes true for 1."""
    were, are = rows.told(old, names), rows.told(new, names)
    return {
        name: were[name]
        for name in names
        if json.dumps(were[name], sort_keys=True) != json.dumps(are[name], sort_keys=True)
    }


def forbidden(memory: Memory) -> Forbidden:
    return Forbidden(
        "The memory belongs to another tenant, agent or user.",
        hint="Write it with the scope it belongs to.",
        id=memory.id,
    )


def missing(id_: str) -> NotFound:
    return NotFound("There is no such memory in this scope.", hint="Check the id, and whose it is.", id=id_)


def exists(id_: str) -> Conflict:
    return Conflict("A memory with this id exists.", hint="Update it, or let the clock make a new id.", id=id_)


def key_taken(key: str, holder: str) -> KeyTaken:
    return KeyTaken(
        f"The key {key!r} is taken.", hint="Update the memory that holds it, or use another key.", key=key, id=holder
    )


def other_version(id_: str, expected: int, actual: int) -> VersionConflict:
    return VersionConflict(
        f"The memory is at version {actual}, not {expected}.",
        hint="Read it again and repeat the change on what it says now.",
        id=id_,
        expected=expected,
        actual=actual,
    )


def no_link(write: RemoveLink) -> NotFound:
    return NotFound(
        "There is no such link in this scope.",
        hint="List the links of the memory to see which there are.",
        source=write.source,
        relation=write.relation,
        target=write.target,
    )


def other_writes(operation: str) -> OperationMismatch:
    return OperationMismatch(
        f"The operation {operation!r} was used before for other writes.",
        hint="Give a new operation id to a new change.",
        operation=operation,
    )
