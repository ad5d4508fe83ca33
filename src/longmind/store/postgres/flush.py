"""Storing a plan: one statement for each kind of change, with whole columns as parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from longmind.clock import as_utc
from longmind.store.base import Batch
from longmind.store.plan import Cleared, JournalLine, StoredMemory, WritePlan, operation_after_erasure
from longmind.store.postgres.binary import halfvecs, longs, texts, uuids
from longmind.store.postgres.database import Connection
from longmind.store.postgres.driver import load_queries
from longmind.store.postgres.rows import json_text, link_columns, memory_columns
from longmind.text.index_terms import index_terms
from longmind.types import Memory

MAX_ROWS = 2_000
MAX_CHARACTERS = 16_000_000
"""What goes into one statement at most; the server takes no more than a gigabyte."""

T = TypeVar("T")
_write = load_queries("write.sql")


def fits_one_statement(memories: Sequence[Memory]) -> bool:
    """Whether these memories are few and short enough to be sent together."""
    return len(memories) <= MAX_ROWS and sum(len(memory.content) for memory in memories) <= MAX_CHARACTERS


async def store(connection: Connection, batch: Batch, plan: WritePlan, halfvec: int) -> None:
    """Make the database say what the plan says. What goes, goes first, so that keys are free for what comes."""
    flush = _Flush(connection, batch, plan)
    await flush.removals()
    await flush.memories()
    await flush.vectors(halfvec)
    await flush.links()
    await flush.journal()
    if batch.idempotent:
        ids = uuids(memory.id for memory, _ in plan.results)
        await flush.run(
            "insert_operation",
            user=batch.scope.user or "",
            operation=batch.operation,
            fingerprint=batch.fingerprint(),
            ids=ids,
            at=as_utc(batch.at),
        )


class _Flush:
    """The statements of one batch."""

    def __init__(self, connection: Connection, batch: Batch, plan: WritePlan) -> None:
        self.connection, self.batch, self.plan = connection, batch, plan
        self.names = {"tenant": batch.scope.tenant, "agent": batch.scope.agent}

    async def run(self, name: str, **params: Any) -> None:
        await self.connection.execute(_write[name], self.names | params, prepare=True, binary=True)

    async def removals(self) -> None:
        plan = self.plan
        if plan.cleared:
            await self.clear(plan.cleared)
        if removed_links := plan.removed_links():
            sources, relations, targets = zip(*removed_links, strict=True)
            await self.run("delete_links", sources=uuids(sources), relations=texts(relations), targets=uuids(targets))
        if removed := plan.removed():
            await self.run("delete_memories", ids=uuids(removed))
        if plan.dropped_vectors:
            await self.run("delete_vectors", ids=uuids(plan.dropped_vectors))

    async def clear(self, cleared: Cleared) -> None:
        """Clear the journal and the ids of operations."""
        which = {
            "ids": uuids(cleared.ids),
            "users": texts(cleared.users),
            "everything": cleared.everything,
        }
        cursor = await self.connection.execute(_write["cleared_operations"], self.names | which, prepare=True)
        affected = await cursor.fetchall()
        old = texts(operation for operation, _ in affected)
        new = texts(operation_after_erasure(operation, first) for operation, first in affected)
        await self.run("clear_operations", old=old, new=new)
        await self.run("forget_operations", old=old, **which)
        await self.run("clear_lines", **which)

    async def memories(self) -> None:
        before, updated = self.plan.snapshot.rows, self.plan.updated()
        losing = [row.memory.id for row in updated if _loses_key(before[row.memory.id].memory, row.memory)]
        if losing:
            await self.run("release_keys", ids=uuids(losing))
        for rows in _statements(updated, _row_size):
            await self.run("update_memories", **_columns(rows))
        for rows in _statements(self.plan.inserted(), _row_size):
            await self.run("insert_memories", **_columns(rows))

    async def vectors(self, halfvec: int) -> None:
        active = self.plan.snapshot.active
        vectors_by_id = iter(self.plan.vectors.items())
        while active is not None and (part := list(islice(vectors_by_id, MAX_ROWS))):
            ids, vectors = zip(*part, strict=True)
            await self.run("store_vectors", space=active.name, ids=uuids(ids), vectors=halfvecs(halfvec, vectors))

    async def links(self) -> None:
        changed = iter([link for link, _ in self.plan.changed_links()])
        while part := list(islice(changed, MAX_ROWS)):
            await self.run("store_links", **link_columns(part))

    async def journal(self) -> None:
        start, batch = self.plan.snapshot.head, self.batch
        for part in _statements(self.plan.lines, _line_size):
            await self.run(
                "insert_lines",
                start=start,
                count=len(part),
                operation=batch.operation,
                at=as_utc(batch.at),
                actor=batch.actor,
                **_line_columns(part),
            )
            start += len(part)


def _loses_key(old: Memory, new: Memory) -> bool:
    return old.key is not None and (old.key, old.user) != (new.key, new.user)


def _statements(items: Sequence[T], size: Callable[[T], int]) -> Iterator[list[T]]:
    """Items in groups that are each small enough for one statement."""
    group: list[T] = []
    total = 0
    for item in items:
        if group and (len(group) == MAX_ROWS or total + size(item) > MAX_CHARACTERS):
            yield group
            group, total = [], 0
        group.append(item)
        total += size(item)
    if group:
        yield group


def _row_size(row: StoredMemory) -> int:
    return len(row.memory.content)


def _line_size(line: JournalLine) -> int:
    return len(line.before.get("content", "")) if line.before else 0


def _columns(rows: Sequence[StoredMemory]) -> dict[str, Any]:
    """The columns of rows; terms are None where those that are stored stay."""
    terms = [index_terms(row.memory) if row.reindex else None for row in rows]
    columns = memory_columns([row.memory for row in rows], terms)
    return {**columns, "seq": longs(row.seq for row in rows)}


def _line_columns(lines: Sequence[JournalLine]) -> dict[str, Any]:
    return {
        "action": texts(line.action for line in lines),
        "memory_id": uuids(line.memory_id for line in lines),
        "target": uuids(None if line.link is None else line.link.target for line in lines),
        "user_id": texts(line.user for line in lines),
        "reason": texts(line.reason for line in lines),
        "before": texts(json_text(line.before) for line in lines),
        "link": texts(None if line.link is None else line.link.model_dump_json() for line in lines),
    }
