"""Undo of an operation: the writes that undo it, and when they are refused.

What the operation wrote must be as it left it. Operations that work one after the other, such as the runs of
consolidation, share two things, which the caller names: the bookmark that each run moves, and the vocabulary that each
may use. A change of these since then is no reason to refuse.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from longmind.errors import Conflict, NotFound
from longmind.pacing import Pace
from longmind.store.base import AddLink, Backend, Delete, Put, RemoveLink, Update, Write
from longmind.store.journal import changes, state_before
from longmind.store.reads import all_links, get_all, link_key, scan_all
from longmind.types import Change, Filter, Json, Link, Memory, Scope

_COUNTED = frozenset({"version", "access_count", "last_accessed_at", "interaction"})


@dataclass(frozen=True, slots=True)
class Shared:
    """What several operations write or use one after the other. That it was changed since is no reason to refuse."""

    bookmarks: Mapping[str, str] = field(default_factory=dict)
    """Records that hold a position in the journal: by key, the field of the body with the number of the last change
    read. A bookmark is only moved back, never forward: its reader meets some changes again and misses none."""
    linked: frozenset[str] = frozenset()
    """Kinds whose records stay while other records link to them."""
    named: frozenset[str] = frozenset()
    """Kinds whose records always stay, since others name them without a link."""


NOTHING_SHARED = Shared()


async def undo_writes(backend: Backend, scope: Scope, operation: str, shared: Shared = NOTHING_SHARED) -> list[Write]:
    """Return the writes that undo an operation, the last change first. Refused if what it wrote was changed since."""
    own = [change async for change in changes(backend, scope, operation=operation)]
    if not own:
        raise NotFound(f"There is no operation {operation} in this scope.", hint="`history` tells their ids.")
    if scope.all_users:
        await _require_one_user(backend, scope, operation, own)
    marks = await _bookmarks(backend, scope, own, shared)
    moved = False
    pace, last = Pace(), {change.memory_id: change.seq for change in own}  # in the order of their numbers
    for id in _written_ids(own):
        await pace.pause()
        change = await _changed_since(backend, scope, id, last[id])
        moved = moved or (change is not None and id in marks)
        if change is not None and id not in marks:
            raise Conflict(
                f"Memory {id} was changed again by operation {change.operation}.",
                hint="Undo that one first.",
                memory_id=id,
                operation=change.operation,
            )
    kept = await _used_since(backend, scope, own, marks, shared) if moved else set()
    undone = [c for c in reversed(own) if c.memory_id not in marks and (c.memory_id, c.action) not in kept]
    writes = await asyncio.to_thread(lambda: [_inverse(change) for change in undone])
    for id, mark in marks.items():
        first = next(change for change in own if change.memory_id == id)
        writes += await _move_back(backend, scope, mark, first, shared)
    return writes


async def _require_one_user(backend: Backend, scope: Scope, operation: str, own: Sequence[Change]) -> None:
    """Refuse an id that several users chose for operations of their own: which of these is meant cannot be known.

    One batch may change memories of many users, and so may the batches of one run, which is made by no user.
    """
    if len({change.at for change in own if change.actor == "user"}) < 2:
        return
    ids = _written_ids(own)
    users = {memory.user for memory in (await _records(backend, scope, ids)).values()}
    users |= {change.before.get("user") for change in own if change.action == "delete" and change.before}
    if len(users) > 1:
        named = sorted(user or "nobody" for user in users)
        raise Conflict(
            f"There is an operation {operation} of each of {len(users)} users: {', '.join(named[:5])}.",
            hint="Undo it as one of them: agent(name, user=...).",
            operation=operation,
        )


def _written_ids(own: Sequence[Change]) -> list[str]:
    """Return the ids of the records that were changed, each once."""
    return list({change.memory_id: None for change in own if change.link is None})


async def _records(backend: Backend, scope: Scope, ids: Sequence[str]) -> dict[str, Memory]:
    """Return those of these memories that exist, by id."""
    return {memory.id: memory for memory in await get_all(backend, scope, ids)}


# -- what may have changed since -------------------------------------------------------------------------------------


async def _changed_since(backend: Backend, scope: Scope, id: str, last: int) -> Change | None:
    """Return the first change of a record after the change number ``last``; None if the record is as that left it."""
    later = [change async for change in changes(backend, scope, memory_id=id, after=last) if change.link is None]
    if not later:
        return None
    memories = await backend.get(scope, [id])
    now = then = memories[0].model_dump(mode="json") if memories else None
    for change in reversed(later):
        then = state_before(change, then)
    same = _content(now) == _content(then) and all(change.action != "erase" for change in later)
    return None if same else later[0]


def _content(record: Json | None) -> Json | None:
    """Return a record without its version and read counts."""
    return None if record is None else {name: value for name, value in record.items() if name not in _COUNTED}


async def _used_since(
    backend: Backend, scope: Scope, own: Sequence[Change], marks: Collection[str], shared: Shared
) -> set[tuple[str, str]]:
    """Return the vocabulary that an operation put and others use now. Refused if they link to anything else it put."""
    put = [change.memory_id for change in own if change.action == "put" and change.memory_id not in marks]
    kinds = {id: record.kind for id, record in (await _records(backend, scope, put)).items()}
    own_links = {link_key(change.link) for change in own if change.link is not None}
    used = {id for id, kind in kinds.items() if kind in shared.named}
    for link in await all_links(backend, scope, put, direction="both"):
        for id in {link.source, link.target} & kinds.keys() if link_key(link) not in own_links else ():
            if kinds[id] not in shared.linked:
                raise await _linked_since(backend, scope, id, link)
            used.add(id)
    return {(id, "put") for id in used}


async def _linked_since(backend: Backend, scope: Scope, id: str, link: Link) -> Conflict:
    """Return the error that refuses to remove a memory which was linked since."""
    lines = changes(backend, scope, memory_id=link.source)
    linking = [
        line.operation async for line in lines if line.link is not None and link_key(line.link) == link_key(link)
    ]
    operation = linking[-1] if linking else None
    message = f"Memory {id} was linked with another ({link.relation}) since"
    return Conflict(
        f"{message}, by operation {operation}." if operation else f"{message}.",
        hint="Undo that first.",
        memory_id=id,
        operation=operation,
    )


# -- bookmarks -------------------------------------------------------------------------------------------------------


async def _bookmarks(backend: Backend, scope: Scope, own: Sequence[Change], shared: Shared) -> dict[str, Memory]:
    """Return the bookmarks that an operation wrote, by id, as they are now or were when they were deleted."""
    if not shared.bookmarks:
        return {}
    ids = _written_ids(own)
    records = await _records(backend, scope, ids)
    for id in ids:
        if id not in records:
            async for change in changes(backend, scope, memory_id=id):
                if change.action == "delete" and change.before is not None:
                    records[id] = Memory.model_validate(change.before)
    return {id: memory for id, memory in records.items() if memory.key in shared.bookmarks}


async def _move_back(backend: Backend, scope: Scope, mark: Memory, first: Change, shared: Shared) -> list[Write]:
    """Return the writes that move a bookmark back to where it was before an operation, if that is further back."""
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
