"""``SqliteBackend``: the contract of ``store.base`` on one SQLite file.

Writes go through one thread (``writer``), so that tasks share an fsync. Reads run where they are asked, on the event
loop's own thread: a point read takes some ten microseconds, a hop to another thread ten times that. Only what reads a
whole large scope is sent to a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import lru_cache
from os import PathLike, fspath
from typing import TYPE_CHECKING, Literal, TypeVar

import apsw

from longmind.clock import Clock
from longmind.store.base import Batch, Feed, Head, Receipt, Scrubbed, Space
from longmind.store.refusals import require_limit
from longmind.store.sqlite import checks, erasure, reads, spaces
from longmind.store.sqlite.changes import BatchJob
from longmind.store.sqlite.connect import Readers, Target, prepare
from longmind.store.sqlite.failures import translate
from longmind.store.sqlite.queries import QUERIES, Row
from longmind.store.sqlite.writer import Writer
from longmind.types import Change, Direction, Filter, Link, Memory, Order, Page, Scope, Stats

if TYPE_CHECKING:
    from longmind.store.base import EmbedTexts, Vector

T = TypeVar("T")

LARGE = 20_000
"""Changes of an agent past which reading all of it would block the event loop noticeably."""
MANY = 100
"""Records past which a read runs in a thread: each may hold up to 64 kB of metadata."""


class SqliteBackend:
    """A store in one file, safe to use from several tasks, threads and processes."""

    def __init__(self, target: Target) -> None:
        """Use ``open``, which first makes sure that the file is a store."""
        self.path = target.path
        self._target = target
        self._readers = Readers(target)
        self._writer = Writer(target, target.writer())
        self._numbers: dict[tuple[str, str], int] = {}
        self._missing_from = 0

    @classmethod
    async def open(
        cls,
        path: str | PathLike[str],
        *,
        clock: Clock | None = None,
        synchronous: Literal["FULL", "NORMAL"] = "FULL",
        busy_timeout_s: float = 30.0,
        vfs: str | None = None,
    ) -> SqliteBackend:
        """Open a store. Create the file and its folders if they do not exist.

        ``synchronous`` is there for the test that proves what FULL is for: with NORMAL a power cut loses writes that
        were acknowledged. ``clock`` is what every backend is opened with; this one makes no time of its own, all
        times come with the batches.
        """
        target = Target(fspath(path), synchronous, busy_timeout_s, vfs)
        await asyncio.to_thread(prepare, target)
        try:
            backend = cls(target)
            backend._writer.settle()
            return backend
        except apsw.Error as error:
            raise translate(error, target.path) from error

    async def close(self) -> None:
        self._readers.close()
        await self._writer.close()

    # -- writing -------------------------------------------------------------------------------------------------

    async def apply(self, batch: Batch) -> Receipt:
        return await self._writer.write(BatchJob(batch))

    # -- reading -------------------------------------------------------------------------------------------------

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        return await self._read_many(scope, lambda c, number: reads.get(c, scope, number, ids), list, len(ids) > MANY)

    async def scan(
        self,
        scope: Scope,
        where: Filter,
        *,
        order: Order = "recorded",
        descending: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Memory]:
        require_limit(limit)
        if cursor is not None:
            reads.read_cursor(cursor, order, descending)
        return await self._read_large(
            scope,
            lambda c, number: reads.scan(c, scope, number, where, order, descending, limit, cursor),
            lambda: Page[Memory](items=()),
            many=_looks_at_many(where) or (limit > MANY and not _names_few(where)),
        )

    async def links(
        self, scope: Scope, ids: Sequence[str], *, relation: str | None, direction: Direction, limit: int
    ) -> list[Link]:
        return await self._read_many(
            scope, lambda c, n: reads.links(c, scope, n, ids, relation, direction, limit), list, len(ids) > MANY
        )

    async def journal(
        self,
        scope: Scope,
        *,
        after: int = 0,
        limit: int = 100,
        memory_id: str | None = None,
        operation: str | None = None,
    ) -> list[Change]:
        return await self._read_many(
            scope,
            lambda c, number: reads.journal(c, scope, number, after, limit, memory_id, operation),
            list,
            memory_id is None and limit > MANY,
        )

    async def stats(self, scope: Scope) -> Stats:
        return await self._read_large(
            scope,
            lambda c, number: reads.stats(c, scope, number),
            lambda: Stats(memories=0, links=0, changes=0, by_kind={}, by_state={}, vectors=0),
        )

    async def head(self, scope: Scope) -> Head:
        return self._readers.run(lambda c: reads.head(c, self._number(c, scope)))

    async def feed(self, scope: Scope, after: int) -> AsyncIterator[Feed]:
        """Yield the chunks of a feed from one read transaction, on a connection of its own."""
        try:
            connection = self._readers.take()
            try:
                connection.execute("BEGIN")
                number = self._number(connection, scope)
                head = reads.head(connection, number)
                chunks = reads.feed(connection, scope, number, after, head)
                large = head.seq - max(after, 0) > LARGE
                while (
                    chunk := await _in_thread(lambda: next(chunks, None)) if large else next(chunks, None)
                ) is not None:
                    yield chunk
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._readers.give(connection)
        except apsw.Error as error:
            raise translate(error, self.path) from error

    async def matching(self, scope: Scope, where: Filter) -> set[str]:
        many = _looks_at_many(where)
        return await self._read_large(scope, lambda c, number: reads.matching(c, scope, number, where), set, many=many)

    async def scopes(self) -> list[Scope]:
        fetched = self._readers.run(lambda c: c.execute(QUERIES["scopes"]).fetchall())
        return [Scope(tenant=tenant, agent=agent, all_users=True) for tenant, agent in fetched]

    async def space(self) -> Space | None:
        fetched = self._readers.run(_active_space)
        return _space(*fetched[0]) if fetched else None

    # -- vector spaces ---------------------------------------------------------------------------------------------

    async def declare_space(self, space: Space) -> None:
        await self._writer.write(spaces.SpaceJob(lambda t: spaces.declare(t, space)))

    async def begin_space(self, space: Space) -> None:
        await self._writer.write(spaces.SpaceJob(lambda t: spaces.begin(t, space)))
        self._missing_from = 0

    async def missing_vectors(self, space: Space, limit: int) -> list[tuple[Scope, str, str]]:
        """Continue the search where the last call ended; start again once the end is reached."""
        start = self._missing_from
        fetched = self._readers.run(lambda c: spaces.missing(c, space, start, limit))
        if not fetched and start:
            fetched = self._readers.run(lambda c: spaces.missing(c, space, 0, limit))
        self._missing_from = fetched[0][0] - 1 if fetched else 0
        return [(scope, id_, content) for _, scope, id_, content in fetched]

    async def put_vectors(self, space: Space, rows: Sequence[tuple[Scope, str, str, Vector]]) -> int:
        return await self._writer.write(spaces.SpaceJob(lambda t: spaces.put(t, space, rows)))

    async def activate_space(self, space: Space) -> None:
        await self._writer.write(spaces.SpaceJob(lambda t: spaces.activate(t, space)))

    async def finish_space(self, space: Space, embed: EmbedTexts, limit: int) -> tuple[int, int]:
        """Finish a space. The writer thread holds the file's lock and waits while the event loop embeds."""
        loop = asyncio.get_running_loop()

        async def embedded(texts: Sequence[str]) -> Iterable[Vector]:
            return await embed(texts)

        def wait_for(texts: Sequence[str]) -> Iterable[Vector]:
            return asyncio.run_coroutine_threadsafe(embedded(texts), loop).result()

        return await self._writer.write(spaces.SpaceJob(lambda t: spaces.finish(t, space, wait_for, limit)))

    # -- self-examination ------------------------------------------------------------------------------------------

    async def check(self) -> list[str]:
        return await asyncio.to_thread(self._readers.run, lambda c: checks.find_faults(c, self.path))

    # -- erasure -----------------------------------------------------------------------------------------------------

    async def past_links(self, scope: Scope, ids: Sequence[str], *, direction: Literal["out", "in"]) -> list[Link]:
        return await self._read_large(scope, lambda c, n: erasure.past_links(c, scope, n, ids, direction), list)

    async def past_ids(self, scope: Scope) -> list[str]:
        return await self._read_large(scope, lambda c, n: erasure.past_ids(c, scope, n), list)

    async def past_scopes(self) -> list[Scope]:
        fetched = self._readers.run(lambda c: c.execute(QUERIES["past_scopes"]).fetchall())
        return [Scope(tenant=tenant, agent=agent, all_users=True) for tenant, agent in fetched]

    async def uncleared(self) -> list[str]:
        return self._readers.run(lambda c: erasure.uncleared(c, self.path))

    async def scrub(self) -> Scrubbed:
        return await asyncio.to_thread(erasure.scrub, self._target)

    # -- how a question is asked -------------------------------------------------------------------------------------

    def _read(self, scope: Scope, work: Callable[[apsw.Connection, int], T], nothing: Callable[[], T]) -> T:
        """Run a read about an agent, or return ``nothing()`` if the agent does not exist yet."""

        def work_on(connection: apsw.Connection) -> T:
            number = self._number(connection, scope)
            return nothing() if number is None else work(connection, number)

        return self._readers.run(work_on)

    async def _read_many(
        self, scope: Scope, work: Callable[[apsw.Connection, int], T], nothing: Callable[[], T], many: bool
    ) -> T:
        """Run a read; in a thread if it reads many records."""
        if many:
            return await asyncio.to_thread(self._read, scope, work, nothing)
        return self._read(scope, work, nothing)

    async def _read_large(
        self,
        scope: Scope,
        work: Callable[[apsw.Connection, int], T],
        nothing: Callable[[], T],
        *,
        many: bool = False,
    ) -> T:
        """Run a read that may go through all an agent holds; in a thread for a large agent, or if it reads many."""
        return await self._read_many(scope, work, nothing, many or (await self.head(scope)).seq > LARGE)

    def _number(self, connection: apsw.Connection, scope: Scope) -> int | None:
        """Return the number of an agent, None if it does not exist yet. It never changes, so it is read once."""
        name = (scope.tenant, scope.agent)
        number = self._numbers.get(name)
        if number is None:
            fetched = connection.execute(QUERIES["scope"], name).fetchone()
            if fetched is not None:
                number = self._numbers[name] = int(fetched[0])
        return number


def _looks_at_many(where: Filter) -> bool:
    """Whether a filter is decided by reading the lists and objects of each record."""
    return where.tags_any is not None or where.tags_all is not None or where.metadata is not None


def _names_few(where: Filter) -> bool:
    """Whether a filter names the records it wants, and not many of them."""
    return any(names is not None and len(names) <= MANY for names in (where.keys, where.ids))


def _active_space(connection: apsw.Connection) -> list[Row]:
    return connection.execute(QUERIES["space_active"]).fetchall()


@lru_cache(maxsize=64)
def _space(name: str, dimensions: int) -> Space:
    """Return a space. Every write and recall needs it and it rarely changes, so it is cached."""
    return Space(name, dimensions)


async def _in_thread(work: Callable[[], T]) -> T:
    """Run in a thread and wait for the end even when cancelled, since the connection is in use until then."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
