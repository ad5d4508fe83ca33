"""Taking an operation back: the writes that do it, and when they are refused.

What the operation wrote must be as it left it. Where many work one after the other, such as the runs of consolidation,
two things are left out of that, and whoever asks says which they are: the bookmark that each of them moves, and the
vocabulary that each may use.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from longmind.errors import Conflict, NotFound
from longmind.store.base import AddLink, Backend, Delete, Put, RemoveLink, Update, Write
from longmind.store.journal import before, changes
from longmind.store.reads import all_links, get_all, scan_all
from longmind.types import Change, Filter, Json, Link, Memory, Scope

_COUNTED = frozenset({"version", "access_count", "last_accessed_at", "interaction"})


@dataclass(frozen=True, slots=True)
class Shared:
    """What many operations write, or use, one after the other: that it was changed since is no reason to refuse."""

    bookmarks: Mapping[str, str] = field(default_factory=dict)
    """Records that say up to which change of the journal somebody has come: by key, the field of the body that says it.
    A bookmark is only ever taken back, never forward: whoever reads on from there meets some changes again, and none is
    passed over."""
    linked: frozenset[str] = frozenset()
    """Kinds of which a record stays while others link to it."""
    named: frozenset[str] = frozenset()
    """Kinds that stay in any case, since others name them without a link."""


NOTHING_SHARED = Shared()


async def undoing(backend: Backend, scope: Scope, operation: str, shared: Shared = NOTHING_SHARED) -> list[Write]:
    """The writes that take an operation back, the last change first. Refused if what it wrote was changed since."""
    made = [change async for change in changes(backend, scope, operation=operation)]
    if not made:
        raise NotFound(f"There is no operation {operation} in this scope.", hint="`history` tells their ids.")
    marks = await _bookmarks(backend, scope, made, shared)
    moved = False
    for id in _written(made):
        change = await _changed_since(backend, scope, id, made)
        moved = moved or (change is not None and id in marks)
        if change is not None and id not in marks:
            raise Conflict(
                f"Memory {id} was changed again by operation {change.operation}.",
                hint="Undo that one first.",
                memory_id=id,
                operation=change.operation,
            )
    kept = await _still_used(backend, scope, made, marks, shared) if moved else set()
    writes = [_inverse(c) for c in reversed(made) if c.memory_id not in marks and (c.memory_id, c.action) not in kept]
    for id, mark in marks.items():
        first = next(change for change in made if change.memory_id == id)
        writes += await _taken_back(backend, scope, mark, first, shared)
    return writes


def _written(made: Sequence[Change]) -> list[str]:
    """The ids of the records that changes were made to, each once."""
    return list({change.memory_id: None for change in made if change.link is None})


async def _records(backend: Backend, scope: Scope, ids: Sequence[str]) -> dict[str, Memory]:
    """Those of these memories that there are."""
    return {memory.id: memory for memory in await get_all(backend, scope, ids)}


# -- what may have changed since -------------------------------------------------------------------------------------


async def _changed_since(backend: Backend, scope: Scope, id: str, made: Sequence[Change]) -> Change | None:
    """The first change of a record since an operation; None if it is what that left, or was changed back to it."""
    last = max(change.seq for change in made if change.memory_id == id)
    later = [change async for change in changes(backend, scope, memory_id=id, after=last) if change.link is None]
    if not later:
        return None
    found = await backend.get(scope, [id])
    now = then = found[0].model_dump(mode="json") if found else None
    for change in reversed(later):
        then = before(change, then)
    same = _content(now) == _content(then) and all(change.action != "erase" for change in later)
    return None if same else later[0]


def _content(record: Json | None) -> Json | None:
    """A record without what counts its changes and readings."""
    return None if record is None else {name: value for name, value in record.items() if name not in _COUNTED}


async def _still_used(
    backend: Backend, scope: Scope, made: Sequence[Change], marks: Collection[str], shared: Shared
) -> set[tuple[str, str]]:
    """The vocabulary that an operation put and that others came to use; refused if they lean on more than that."""
    put = [change.memory_id for change in made if change.action == "put" and change.memory_id not in marks]
    kinds = {id: record.kind for id, record in (await _records(backend, scope, put)).items()}
    own = {_ends(change.link) for change in made if change.link is not None}
    used = {id for id, kind in kinds.items() if kind in shared.named}
    for link in await all_links(backend, scope, put, direction="both"):
        for id in {link.source, link.target} & kinds.keys() if _ends(link) not in own else ():
            if kinds[id] not in shared.linked:
                raise await _leant_on(backend, scope, id, link)
            used.add(id)
    return {(id, "put") for id in used}


def _ends(link: Link) -> tuple[str, str, str]:
    return link.source, link.relation, link.target


async def _leant_on(backend: Backend, scope: Scope, id: str, link: Link) -> Conflict:
    """The refusal to take away what a link leads to, or comes from."""
    lines = changes(backend, scope, memory_id=link.source)
    linking = [line.operation async for line in lines if line.link is not None and _ends(line.link) == _ends(link)]
    operation = linking[-1] if linking else None
    told = f"Memory {id} was linked with another ({link.relation}) since"
    return Conflict(
        f"{told}, by operation {operation}." if operation else f"{told}.",
        hint="Undo that first.",
        memory_id=id,
        operation=operation,
    )


# -- bookmarks -------------------------------------------------------------------------------------------------------


async def _bookmarks(backend: Backend, scope: Scope, made: Sequence[Change], shared: Shared) -> dict[str, Memory]:
    """The bookmarks among what an operation wrote, by id, as they are now or were when they were deleted."""
    if not shared.bookmarks:
        return {}
    ids = _written(made)
    records = await _records(backend, scope, ids)
    for id in ids:
        if id not in records:
            async for change in changes(backend, scope, memory_id=id):
                if change.action == "delete" and change.before is not None:
                    records[id] = Memory.model_validate(change.before)
    return {id: memory for id, memory in records.items() if memory.key in shared.bookmarks}


async def _taken_back(backend: Backend, scope: Scope, mark: Memory, first: Change, shared: Shared) -> list[Write]:
    """What takes a bookmark back to where it was before its first change by an operation, if that is further back."""
    assert mark.key is not None
    where = Filter(keys=(mark.key,), users=None if mark.user is None else (mark.user,), states=None)
    async for now in scan_all(backend, scope, where):  # under the same id, or made anew since
        if now.user != mark.user:
            continue
        if first.action == "put":
            return [Delete(now.id, now.version)]
        body, field = (first.before or {}).get("body"), shared.bookmarks[mark.key]
        if body is not None and (body.get(field) or 0) <= (now.body.get(field) or 0):
            return [Update(now.id, {"body": body}, now.version)]
    return []


# -- the other way round ---------------------------------------------------------------------------------------------


def _inverse(change: Change) -> Write:
    if change.link is not None:
        if change.before is not None:
            return AddLink(Link.model_validate(change.before))
        return RemoveLink(change.link.source, change.link.relation, change.link.target)
    if change.action == "put":
        return Delete(change.memory_id)
    if change.before is None:
        raise Conflict(
            f"What memory {change.memory_id} was before has been erased and cannot be brought back.",
            memory_id=change.memory_id,
        )
    if change.action == "delete":
        return Put(Memory.model_validate(change.before), existing="fail")
    return Update(change.memory_id, dict(change.before))
