"""Storing what ``remember`` is given: memories in batches, one memory under a key, documents as whole versions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from longmind.errors import Conflict, KeyTaken, NotFound, OperationMismatch
from longmind.perceive.intake import RECORD
from longmind.perceive.revision import revision_writes, same_document
from longmind.perceive.turns import Turn
from longmind.store.base import Put, RemoveLink, Update, Write
from longmind.types import Filter, Json, Memory

if TYPE_CHECKING:
    from longmind.store.base import Vector
    from longmind.store.store import Embed
    from longmind.systems.scoped_store import ScopedStore

    Progress = Callable[[int, int], None]

BATCH = 1_000
"""How many memories are written in one transaction, unless they belong together."""
_TRIES = 8
"""How often the versions of documents are worked out again when another process writes them at the same time."""
_KEYED_KINDS = ("message", RECORD)
"""Kinds that ``remember`` stores under a key of the caller's."""
_REPLACED = (
    "kind",
    "content",
    "body",
    "importance",
    "tags",
    "metadata",
    "source",
    "trust",
    "session",
    "state",
    "expires_at",
)
"""What changes when something else is remembered under the same key."""
_AGAIN = "remembered again"


async def store_turns(
    scoped: ScopedStore,
    turns: Sequence[Turn],
    new_embed: Callable[[], Embed],
    operation: str | None,
    progress: Progress | None,
) -> list[Memory]:
    """Store what is new, a batch at a time, and return all of it as it is stored. What is there already lives on."""
    stored: list[Memory] = []
    for start in range(0, len(turns), BATCH):
        batch = turns[start : start + BATCH]
        part = operation if operation is None or len(turns) <= BATCH else f"{operation}:{start}"
        stored += await _store_batch(scoped, batch, new_embed(), part)
        if progress is not None:
            progress(len(stored), len(turns))
    return stored


async def _store_batch(scoped: ScopedStore, turns: Sequence[Turn], embed: Embed, operation: str | None) -> list[Memory]:
    """Store one batch. With an operation id all of it is written, since a retry must ask for the same."""
    known = [turn.known if operation is None else None for turn in turns]
    puts = [Put(turn.memory) for turn, memory in zip(turns, known, strict=True) if memory is None]
    written: Sequence[Memory] = ()
    created: Sequence[bool] = ()
    if puts:
        receipt = await scoped.store.apply(scoped.scope, puts, embed=embed, operation=operation)
        written, created = receipt.memories, receipt.created
        if receipt.replayed:  # what was deleted since is not among them
            known = [None] * len(written)
    if len(created) == len(turns) and all(created):
        return list(written)
    arrived = iter(written)
    memories = [memory or next(arrived) for memory in known]
    return await _revive(scoped, [turn.memory for turn in turns], memories)


async def _revive(scoped: ScopedStore, asked: Sequence[Memory], stored: Sequence[Memory]) -> list[Memory]:
    """Bring back those that were archived, and let those that expire live as long as the later call wants."""
    wanted = {memory.key: memory for memory in asked}
    updates = [Update(memory.id, changes) for memory in stored if (changes := _revival(memory, wanted.get(memory.key)))]
    if not updates:
        return list(stored)
    receipt = await scoped.store.apply(scoped.scope, updates, reason=_AGAIN)
    by_id = {memory.id: memory for memory in receipt.memories}
    return [by_id.get(memory.id, memory) for memory in stored]


def _revival(stored: Memory, asked: Memory | None) -> Json:
    """Return the changes that bring a memory back which is remembered again."""
    changes: Json = {"state": "active"} if stored.state == "archived" else {}
    if asked is not None and (expiry := _later(stored.expires_at, asked.expires_at)) != stored.expires_at:
        changes["expires_at"] = expiry
    return changes


def _later(first: datetime | None, second: datetime | None) -> datetime | None:
    """Return the later of two moments of expiry, where None is never."""
    return None if first is None or second is None else max(first, second)


async def store_keyed(scoped: ScopedStore, memory: Memory, embed: Embed, operation: str | None, dated: bool) -> Memory:
    """Store a memory under its key, or change what is there to it.

    ``dated`` says whether the caller gave the time at which it occurred.
    """
    store, scope = scoped.store, scoped.scope
    receipt = await store.apply(scope, [Put(memory)], embed=embed, operation=operation)
    if not receipt.memories:
        raise forgotten_since(operation)
    (stored,) = receipt.memories
    if receipt.created[0] or receipt.replayed:
        return stored
    if stored.kind not in _KEYED_KINDS:
        raise KeyTaken(
            f"The key {memory.key} belongs to a {stored.kind}.", hint="Choose another key.", key=memory.key or ""
        )
    changes = {name: getattr(memory, name) for name in _REPLACED}
    same = all(getattr(stored, name) == value for name, value in changes.items())
    if same and (not dated or memory.occurred_at == stored.occurred_at):
        return stored
    changes["occurred_at"] = memory.occurred_at
    return (await store.apply(scope, [Update(stored.id, changes)], embed=embed, reason=_AGAIN)).memories[0]


def forgotten_since(operation: str | None) -> NotFound:
    """Return the error for an operation that is repeated after what it stored was forgotten."""
    return NotFound(
        "What this operation stored was forgotten since.",
        hint="To remember it again, use another operation id.",
        operation=operation,
    )


async def store_documents(
    scoped: ScopedStore,
    turns: Sequence[Turn],
    new_embed: Callable[[], Embed],
    operation: str | None,
    progress: Progress | None,
) -> list[Memory]:
    """Store the passages of documents in place of their former versions, in one transaction.

    What is written depends on what is there, so it is worked out again when another process was faster.
    """
    store, scope = scoped.store, scoped.scope
    memories = [turn.memory for turn in turns]
    asked = [Put(memory) for memory in memories]
    for attempt in range(_TRIES):
        holders = await _holders(scoped, memories)
        writes = await _version_writes(scoped, memories, holders)
        try:
            embed = _in_parts(new_embed(), len(memories), progress)
            receipt = await store.apply(scope, writes, embed=embed, operation=operation, request=asked)
            break
        except OperationMismatch:
            raise
        except (Conflict, NotFound):
            if attempt == _TRIES - 1:
                raise
    if progress is not None:
        progress(len(memories), len(memories))
    if receipt.replayed:
        holders = await _holders(scoped, memories)
    current = holders | {memory.key or "": memory for memory in receipt.memories}
    return [current[memory.key or ""] for memory in memories if memory.key in current]


async def _holders(scoped: ScopedStore, memories: Sequence[Memory]) -> dict[str, Memory]:
    """Return the memories that hold the keys of these, by key."""
    keys, holders = [memory.key or "" for memory in memories], dict[str, Memory]()
    for start in range(0, len(keys), BATCH):
        where = Filter(keys=tuple(keys[start : start + BATCH]), states=None, expired=None)
        async for memory in scoped.store.scan_all(scoped.scope, where):
            if memory.key is not None and memory.user == scoped.scope.user:
                holders[memory.key] = memory
    return holders


async def _version_writes(
    scoped: ScopedStore, memories: Sequence[Memory], holders: Mapping[str, Memory]
) -> list[Write]:
    """Return the writes that store documents, and whatever else was given with them, over what is there."""
    left = [memory for memory in memories if same_document(memory, memory)]
    identified = {memory.id for memory in left}
    writes: list[Write] = []
    for memory in memories:
        if memory.id not in identified:
            writes += _unversioned_write(memory, holders.get(memory.key or ""))
    while left:
        first = left[0]
        passages = [memory for memory in left if same_document(memory, first)]
        left = [memory for memory in left if not same_document(memory, first)]
        former = await _former_passages(scoped, first)
        writes += await asyncio.to_thread(revision_writes, passages, holders, former)
    return [*await _obsolete_links(scoped, _revived(writes)), *writes]


def _unversioned_write(memory: Memory, holder: Memory | None) -> list[Write]:
    if holder is None:
        return [Put(memory, existing="fail")]
    changes = _revival(holder, memory)
    return [Update(holder.id, changes, holder.version)] if changes else []


async def _former_passages(scoped: ScopedStore, first: Memory) -> list[Memory]:
    """Return the passages of a document's former version."""
    store, scope = scoped.store, scoped.scope
    where = Filter(
        kinds=("document",),
        states=("active", "stale"),
        sessions=(first.session,) if first.session else None,
        expired=None,
    )
    passages = await store.get_all(scope, await store.matching(scope, where))
    return [passage for passage in passages if same_document(passage, first)]


def _revived(writes: Sequence[Write]) -> list[str]:
    return [write.id for write in writes if isinstance(write, Update) and write.changes.get("state") == "active"]


async def _obsolete_links(scoped: ScopedStore, ids: Sequence[str]) -> list[Write]:
    """Return the writes that remove what says of passages that come back that others replaced them."""
    if not ids:
        return []
    links = await scoped.store.all_links(scoped.scope, ids, relation="supersedes", direction="in")
    return [RemoveLink(link.source, link.relation, link.target) for link in links]


def _in_parts(embed: Embed, total: int, progress: Progress | None) -> Embed:
    """Return a function that makes vectors a batch at a time and tells how many there are."""
    if progress is None:
        return embed

    async def embed_in_parts(texts: Sequence[str]) -> tuple[Sequence[Vector | None], str | None]:
        vectors: list[Vector | None] = []
        space: str | None = None
        for start in range(0, len(texts), BATCH):
            part, space = await embed(texts[start : start + BATCH])
            vectors += part
            if len(vectors) < total:
                progress(len(vectors), total)
        return vectors, space

    return embed_in_parts
