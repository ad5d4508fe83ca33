"""The store as the rest of Longmind uses it: verbs for writing and reading over a backend, and search over its feed."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from longmind import telemetry
from longmind.clock import Clock
from longmind.errors import InvalidInput, ModelMismatch
from longmind.store import journal, reads, undo
from longmind.store.base import (
    MAX_DEPTH,
    AddLink,
    Backend,
    Batch,
    Delete,
    ErasureBackend,
    Put,
    Receipt,
    RemoveLink,
    Scrubbed,
    Touch,
    Update,
    Write,
    erases,
)
from longmind.store.owner import Owner
from longmind.types import Change, Direction, Filter, Json, Link, Memory, Neighbour, Order, Page, Scope, Scored, Stats

if TYPE_CHECKING:
    from longmind.store.base import Vector
    from longmind.store.search.snapshot_format import Snapshots
    from longmind.store.search.view import View

    Embed = Callable[[Sequence[str]], Awaitable[tuple[Sequence[Vector | None], str | None]]]
    """Makes a vector for each text, and names the vector space they are in."""

Listener = Callable[[Scope, Receipt], None]
"""Called with the scope and receipt of every batch that was applied."""
ANY = Filter(states=None, expired=None)
_log = logging.getLogger(__name__)


def _notify(listener: Listener, scope: Scope, receipt: Receipt) -> None:
    """Call a listener. Its failure is logged only: the write has succeeded already."""
    try:
        listener(scope, receipt)
    except Exception:
        _log.exception("A listener of the store failed.")


async def _with_vectors(writes: tuple[Write, ...], embed: Embed) -> tuple[tuple[Write, ...], str | None]:
    """Return the writes with a vector for every new or changed text that has none yet, and the space of the vectors."""
    texts = [(n, text) for n, write in enumerate(writes) if (text := _unembedded(write))]
    if not texts:
        return writes, None
    vectors, space = await embed([text for _, text in texts])
    ready = list(writes)
    for (n, _), vector in zip(texts, vectors, strict=True):
        write = ready[n]
        if isinstance(write, Put):
            ready[n] = Put(write.memory, vector, write.existing)
        elif isinstance(write, Update):
            ready[n] = Update(write.id, write.changes, write.expected_version, vector)
    return tuple(ready), space


def _unembedded(write: Write) -> str | None:
    if isinstance(write, Put) and write.vector is None:
        return write.memory.content or None
    if isinstance(write, Update) and write.vector is None:
        content = write.changes.get("content")
        return content if isinstance(content, str) and content else None
    return None


@dataclass(slots=True)
class Transaction:
    """Writes collected by ``Store.transaction`` and applied together when the block ends without an error."""

    scope: Scope
    operation: str
    writes: list[Write] = field(default_factory=list)
    receipt: Receipt | None = None

    def put(
        self, memory: Memory, vector: Vector | None = None, *, existing: Literal["return", "fail"] = "return"
    ) -> None:
        self.writes.append(Put(memory, vector, existing))

    def update(
        self, id: str, changes: Json, *, expected_version: int | None = None, vector: Vector | None = None
    ) -> None:
        self.writes.append(Update(id, changes, expected_version, vector))

    def delete(self, id: str, *, expected_version: int | None = None, erase: bool = False) -> None:
        self.writes.append(Delete(id, expected_version, erase))

    def link(self, link: Link) -> None:
        self.writes.append(AddLink(link))

    def unlink(self, source: str, relation: str, target: str) -> None:
        self.writes.append(RemoveLink(source, relation, target))


class Store:
    """Memories, links and the journal of one database."""

    def __init__(
        self,
        backend: Backend,
        clock: Clock,
        *,
        view_bytes: int = 256 * 2**20,
        snapshots: Snapshots | None = None,
        defaults: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Use a backend. ``snapshots`` is where large views are stored; None stores none."""
        from longmind.store.search.views import Views

        self.owner = Owner()
        self._backend = backend
        self.clock = clock
        self.listeners: list[Listener] = []
        """Called after every write of this process, once it is durable. They run in line, so they must be quick."""
        self.defaults = defaults or {}
        """Settings of the memory systems that hold for every agent unless it has its own, by system and setting."""
        self._views = Views(backend, view_bytes, snapshots)

    @property
    def backend(self) -> Backend:
        """The database underneath. Raises in a fork of this process and on another event loop."""
        self.owner.require_here()
        return self._backend

    @backend.setter
    def backend(self, backend: Backend) -> None:
        self._backend = backend

    # -- writing -------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def transaction(
        self, scope: Scope, *, operation: str | None = None, actor: str = "user", reason: str = ""
    ) -> AsyncIterator[Transaction]:
        """Collect writes and apply them all, or none. With an operation id from the caller a retry is harmless."""
        transaction = Transaction(scope, operation or self.clock.new_id())
        yield transaction
        transaction.receipt = await self.apply(
            scope, transaction.writes, operation=operation, actor=actor, reason=reason, generated=transaction.operation
        )

    async def apply(
        self,
        scope: Scope,
        writes: Sequence[Write],
        *,
        embed: Embed | None = None,
        operation: str | None = None,
        actor: str = "user",
        reason: str = "",
        generated: str | None = None,
        request: Sequence[Write] | None = None,
    ) -> Receipt:
        """Apply these writes together, durably. With ``embed``, new and changed texts get their vectors here.

        ``operation`` is the caller's own id, with which a retry is harmless. ``generated`` only names the batch.
        ``request`` is what the caller asked for, where the writes also depend on what is stored.
        """
        batch_id, at = operation or generated or self.clock.new_id(), self.clock.now()
        asked = None if request is None else tuple(request)

        def batch(ready: tuple[Write, ...], space: str | None) -> Batch:
            return Batch(scope, batch_id, at, ready, actor, reason, operation is not None, space, asked)

        with telemetry.span("longmind.store.apply", {"longmind.agent": scope.agent, "longmind.writes": len(writes)}):
            async with self._views.erasing(scope) if any(map(erases, writes)) else nullcontext():
                if embed is None:
                    receipt = await self.backend.apply(batch(tuple(writes), None))
                else:
                    receipt = await self._apply_embedded(tuple(writes), embed, batch)
        for listener in self.listeners:
            _notify(listener, scope, receipt)
        return receipt

    async def _apply_embedded(
        self, writes: tuple[Write, ...], embed: Embed, batch: Callable[[tuple[Write, ...], str | None], Batch]
    ) -> Receipt:
        refused: set[str | None] = set()
        while True:
            ready, space = await _with_vectors(writes, embed)
            try:
                return await self.backend.apply(batch(ready, space))
            except ModelMismatch:
                if space in refused:
                    raise
                refused.add(space)  # the store may have changed its embedder while the vectors were made

    async def put(self, scope: Scope, memory: Memory, vector: Vector | None = None, **why: Any) -> Memory:
        return (await self.apply(scope, [Put(memory, vector)], **why)).memories[0]

    async def update(
        self,
        scope: Scope,
        id: str,
        changes: Json,
        *,
        expected_version: int | None = None,
        vector: Vector | None = None,
        **why: Any,
    ) -> Memory:
        return (await self.apply(scope, [Update(id, changes, expected_version, vector)], **why)).memories[0]

    async def delete(
        self, scope: Scope, id: str, *, expected_version: int | None = None, erase: bool = False, **why: Any
    ) -> None:
        await self.apply(scope, [Delete(id, expected_version, erase)], **why)

    async def link(self, scope: Scope, link: Link, **why: Any) -> None:
        await self.apply(scope, [AddLink(link)], **why)

    async def unlink(self, scope: Scope, source: str, relation: str, target: str, **why: Any) -> None:
        await self.apply(scope, [RemoveLink(source, relation, target)], **why)

    async def touch(self, scope: Scope, ids: Sequence[str], *, interaction: float = 0.0) -> None:
        await self.apply(scope, [Touch(tuple(ids), self.clock.now(), interaction)])

    # -- reading -------------------------------------------------------------------------------------------------

    async def get(self, scope: Scope, id: str) -> Memory | None:
        memories = await self.backend.get(scope, [id])
        return memories[0] if memories else None

    async def get_all(self, scope: Scope, ids: Iterable[str]) -> list[Memory]:
        """Return those of these memories that exist in the scope, in the order of ``ids``, each once.

        Any number of ids: they are read in batches.
        """
        return await reads.get_all(self.backend, scope, ids)

    async def by_key(self, scope: Scope, key: str) -> Memory | None:
        """Return the memory that holds a key; the user's own before one that belongs to no user."""
        other: Memory | None = None
        async for memory in self.scan_all(scope, Filter(keys=(key,), states=None, expired=None)):
            if memory.user == scope.user:
                return memory
            other = other or memory
        return other

    async def scan(
        self,
        scope: Scope,
        where: Filter = ANY,
        *,
        order: Order = "recorded",
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Memory]:
        where = self._at_this_moment(where)
        return await self.backend.scan(scope, where, order=order, descending=descending, limit=limit, cursor=cursor)

    def scan_all(self, scope: Scope, where: Filter = ANY, *, order: Order = "recorded") -> AsyncIterator[Memory]:
        """Yield all memories that match, read page by page."""
        return reads.scan_all(self.backend, scope, self._at_this_moment(where), order=order)

    async def matching(self, scope: Scope, where: Filter) -> set[str]:
        """Return the ids of all memories that match."""
        return await self.backend.matching(scope, self._at_this_moment(where))

    def _at_this_moment(self, where: Filter) -> Filter:
        """Return a filter that knows which memories have expired: backends make no time of their own."""
        if where.expired is None or where.expired_at is not None:
            return where
        return where.model_copy(update={"expired_at": self.clock.now()})

    async def links(
        self,
        scope: Scope,
        ids: Sequence[str],
        *,
        relation: str | None = None,
        direction: Direction = "out",
        limit: int = 1_000,
    ) -> list[Link]:
        return await self.backend.links(scope, ids, relation=relation, direction=direction, limit=limit)

    async def all_links(
        self, scope: Scope, ids: Iterable[str], *, relation: str | None = None, direction: Direction = "out"
    ) -> list[Link]:
        """Return every link of these memories, in the order of ``links``. Any number of ids, read in batches."""
        return await reads.all_links(self.backend, scope, ids, relation=relation, direction=direction)

    async def neighbours(
        self,
        scope: Scope,
        id: str,
        *,
        relation: str | None = None,
        depth: int = 1,
        direction: Direction = "both",
        limit: int = 100,
    ) -> list[Neighbour]:
        """Return the memories that can be reached over links, nearest first, each once."""
        if not 1 <= depth <= MAX_DEPTH:
            raise InvalidInput(f"depth must be from 1 to {MAX_DEPTH}, not {depth}.")
        seen, frontier, neighbours = {id}, [id], list[Neighbour]()
        for level in range(1, depth + 1):
            if not frontier or len(neighbours) >= limit:
                break
            links = await self.backend.links(scope, frontier, relation=relation, direction=direction, limit=10 * limit)
            new = reads.step_over_links(frontier, links, level, seen, direction)
            neighbours += new
            frontier = [neighbour.id for neighbour in new]
        return neighbours[:limit]

    async def journal(
        self, scope: Scope, *, after: int = 0, limit: int = 100, operation: str | None = None
    ) -> list[Change]:
        return await self.backend.journal(scope, after=after, limit=limit, operation=operation)

    async def history(self, scope: Scope, id: str) -> list[Change]:
        """Return every change of a memory, oldest first, also if it has been deleted."""
        return [change async for change in journal.changes(self.backend, scope, memory_id=id)]

    async def past_links(
        self, scope: Scope, ids: Iterable[str], *, direction: Literal["out", "in"], relation: str | None = None
    ) -> list[Link]:
        """Return every link that leaves or reaches these memories or ever did, as far as the journal tells.

        Provenance outlives the memories: what was derived from one that was deleted is found by its past links.
        """
        return await reads.past_links(self._erasing, scope, ids, direction, relation)

    async def past_ids(self, scope: Scope) -> list[str]:
        """Return the ids of the memories that are, or were before they were deleted, the user's own; or all of them."""
        return await self._erasing.past_ids(scope)

    async def past_scopes(self) -> list[Scope]:
        """Return every tenant and agent that holds something or ever did."""
        return await self._erasing.past_scopes()

    async def uncleared(self) -> list[str]:
        """Return where erased words may still be stored, one line each, with what to do."""
        return await self._erasing.uncleared()

    async def scrub(self) -> Scrubbed:
        """Rewrite the storage so that it keeps nothing of what was removed, as far as that can be done from here."""
        scrubbed = await self._erasing.scrub()
        removed = await self._views.remove_snapshots()
        return scrubbed._replace(done=(*scrubbed.done, "Removed the stored search views.")) if removed else scrubbed

    @property
    def _erasing(self) -> ErasureBackend:
        if not isinstance(self.backend, ErasureBackend):
            raise InvalidInput(
                "The backend of this store cannot erase.", hint="It has to implement `store.base.ErasureBackend`."
            )
        return self.backend

    async def undo(
        self,
        scope: Scope,
        operation: str,
        embed: Embed,
        *,
        actor: str = "user",
        shared: undo.Shared = undo.NOTHING_SHARED,
    ) -> Receipt:
        """Undo an operation, unless something it wrote was changed since (what is ``shared`` with others apart).

        The undo is an operation too.
        """
        writes = await undo.undo_writes(self.backend, scope, operation, shared)
        return await self.apply(scope, writes, embed=embed, actor=actor, reason=f"undo {operation}")

    async def get_at(self, scope: Scope, id: str, moment: datetime) -> Memory | None:
        """Return a memory as it was recorded at a moment."""
        return await journal.memory_at(self.backend, scope, id, moment)

    async def all_at(self, scope: Scope, moment: datetime) -> list[Memory]:
        """Return every memory as it was recorded at a moment."""
        return await journal.memories_at(self.backend, scope, moment)

    async def stats(self, scope: Scope) -> Stats:
        return await self.backend.stats(scope)

    async def content_hash(self, scope: Scope) -> str:
        """Return one hash of all memories and links of a scope, equal after a restart and across backends."""
        total = 0
        ids: list[str] = []
        async for memory in self.scan_all(scope):
            total += int(memory.content_hash(), 16)
            ids.append(memory.id)
        for start in range(0, len(ids), 500):
            for link in await self.all_links(scope, ids[start : start + 500]):
                total += int(sha256(link.model_dump_json().encode()).hexdigest(), 16)
        return f"{total % 2**256:064x}"

    # -- search --------------------------------------------------------------------------------------------------

    async def view(self, scope: Scope) -> View:
        """Return the up-to-date search view of a scope, on which recall ranks."""
        self.owner.require_here()
        return await self._views.fresh(scope)

    async def allowed_ids(self, scope: Scope, where: Filter) -> set[str] | None:
        """Return the ids that match a filter, for ``passing_rows``; None if the view can decide the filter alone."""
        from longmind.store.search.filtering import needs_database

        return await self.matching(scope, where) if needs_database(where) else None

    async def search_text(self, scope: Scope, text: str, *, k: int = 10, where: Filter = ANY) -> list[Scored]:
        """Return the memories whose words fit best, by BM25."""
        from longmind.store.search import ranking

        where = self._at_this_moment(where)
        ids = await self.allowed_ids(scope, where)
        return ranking.by_text(await self.view(scope), text, k, where, ids)

    async def search_vector(self, scope: Scope, vector: Vector, *, k: int = 10, where: Filter = ANY) -> list[Scored]:
        """Return the memories whose vectors are nearest, by the cosine."""
        from longmind.store.search import ranking

        where = self._at_this_moment(where)
        ids = await self.allowed_ids(scope, where)
        return ranking.by_vector(await self.view(scope), vector, k, where, ids)

    async def close(self) -> None:
        """Close the database. In a fork of this process nothing is closed: it belongs to the parent."""
        if self.owner.forked:
            self._views.drop()
            return
        try:
            await self._views.finish()
        finally:
            self._views.drop()
            await self.backend.close()
