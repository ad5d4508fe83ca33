"""``SqliteBackend``: the contract of ``store.base`` on one SQLite file.

Writes go through one thread (``writer``), so that tasks share an fsync. Reads run where they are asked, on the event
loop's own thread: a point read takes some ten microseconds, a hop to another thread ten times that. Only what reads a
whole large scope is sent to a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
from functools import lru_cache
from os import PathLike, fspath
from typing import TYPE_CHECKING, Literal, TypeVar

import apsw

from longmind.clock import Clock
from longmind.store.base import Batch, Feed, Head, Receipt, Space
from longmind.store.refusals import require_limit
from longmind.store.sqlite import checks, reads, spaces
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
"""Changes of an agent from which on reading all of it would hold up the event loop noticeably."""


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
        """Open a store, or make one where there is none; folders on the way are made too.

        ``synchronous`` is there for the test that proves what FULL is for: with NORMAL a power cut loses writes that
        were acknowledged. ``clock`` is what every backend is opened with; this one makes no time of its own, all
        times come with the batches.
        """
        target = Target(fspath(path), synchronous, busy_timeout_s, vfs)
        await asyncio.to_thread(prepare, target)
        try:
            return cls(target)
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
        return self._ask(scope, lambda c, number: reads.get(c, scope, number, ids), list)

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
        return await self._ask_all(
            scope,
            lambda c, number: reads.scan(c, scope, number, where, order, descending, limit, cursor),
            lambda: Page[Memory](items=()),
        )

    async def links(
        self, scope: Scope, ids: Sequence[str], *, relation: str | None, direction: Direction, limit: int
    ) -> list[Link]:
        return self._ask(scope, lambda c, n: reads.links(c, scope, n, ids, relation, direction, limit), list)

    async def journal(
        self,
        scope: Scope,
        *,
        after: int = 0,
        limit: int = 100,
        memory_id: str | None = None,
        operation: str | None = None,
    ) -> list[Change]:
        return self._ask(
            scope, lambda c, number: reads.journal(c, scope, number, after, limit, memory_id, operation), list
        )

    async def stats(self, scope: Scope) -> Stats:
        return await self._ask_all(
            scope,
            lambda c, number: reads.stats(c, scope, number),
            lambda: Stats(memories=0, links=0, changes=0, by_kind={}, by_state={}, vectors=0),
        )

    async def head(self, scope: Scope) -> Head:
        return self._readers.run(lambda c: reads.head(c, self._number(c, scope)))

    async def feed(self, scope: Scope, after: int) -> AsyncIterator[Feed]:
        large = (await self.head(scope)).seq - max(after, 0) > LARGE
        chunks = self._chunks(scope, after)
        try:
            while (chunk := await _in_thread(lambda: next(chunks, None)) if large else next(chunks, None)) is not None:
                yield chunk
        finally:
            chunks.close()

    def _chunks(self, scope: Scope, after: int) -> Generator[Feed, None, None]:
        """The chunks of a feed out of one read transaction, on a connection of its own until the last is taken."""
        try:
            connection = self._readers.take()
            try:
                connection.execute("BEGIN")
                yield from reads.feed(connection, scope, self._number(connection, scope), after)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._readers.give(connection)
        except apsw.Error as error:
            raise translate(error, self.path) from error

    async def matching(self, scope: Scope, where: Filter) -> set[str]:
        return await self._ask_all(scope, lambda c, number: reads.matching(c, scope, number, where), set)

    async def scopes(self) -> list[Scope]:
        found = self._readers.run(lambda c: c.execute(QUERIES["scopes"]).fetchall())
        return [Scope(tenant=tenant, agent=agent) for tenant, agent in found]

    async def space(self) -> Space | None:
        found = self._readers.run(_active_space)
        return _space(*found[0]) if found else None

    # -- vector spaces ---------------------------------------------------------------------------------------------

    async def declare_space(self, space: Space) -> None:
        await self._writer.write(spaces.SpaceJob(lambda t: spaces.declare(t, space)))

    async def begin_space(self, space: Space) -> None:
        await self._writer.write(spaces.SpaceJob(lambda t: spaces.begin(t, space)))
        self._missing_from = 0

    async def missing_vectors(self, space: Space, limit: int) -> list[tuple[Scope, str, str]]:
        """Looks on from where the last call ended, and from the beginning once the end is reached."""
        start = self._missing_from
        found = self._readers.run(lambda c: spaces.missing(c, space, start, limit))
        if not found and start:
            found = self._readers.run(lambda c: spaces.missing(c, space, 0, limit))
        self._missing_from = found[0][0] - 1 if found else 0
        return [(scope, id_, content) for _, scope, id_, content in found]

    async def put_vectors(self, space: Space, rows: Sequence[tuple[Scope, str, str, Vector]]) -> int:
        return await self._writer.write(spaces.SpaceJob(lambda t: spaces.put(t, space, rows)))

    async def activate_space(self, space: Space) -> None:
        await self._writer.write(spaces.SpaceJob(lambda t: spaces.activate(t, space)))

    async def finish_space(self, space: Space, embed: EmbedTexts, limit: int) -> tuple[int, int]:
        """The thread that writes holds the file's lock meanwhile and waits for the event loop, which embeds."""
        loop = asyncio.get_running_loop()

        async def embedded(texts: Sequence[str]) -> Iterable[Vector]:
            return await embed(texts)

        def wait_for(texts: Sequence[str]) -> Iterable[Vector]:
            return asyncio.run_coroutine_threadsafe(embedded(texts), loop).result()

        return await self._writer.write(spaces.SpaceJob(lambda t: spaces.finish(t, space, wait_for, limit)))

    # -- self-examination ------------------------------------------------------------------------------------------

    async def check(self) -> list[str]:
        return await asyncio.to_thread(self._readers.run, lambda c: checks.find_faults(c, self.path))

    # -- how a question is asked -------------------------------------------------------------------------------------

    def _ask(self, scope: Scope, work: Callable[[apsw.Connection, int], T], nothing: Callable[[], T]) -> T:
        """The answer to a question about an agent, or what is said of one that holds nothing."""

        def asked(connection: apsw.Connection) -> T:
            number = self._number(connection, scope)
            return nothing() if number is None else work(connection, number)

        return self._readers.run(asked)

    async def _ask_all(self, scope: Scope, work: Callable[[apsw.Connection, int], T], nothing: Callable[[], T]) -> T:
        """The same for questions that may read all an agent holds: of a large one, in a thread."""
        if (await self.head(scope)).seq > LARGE:
            return await asyncio.to_thread(self._ask, scope, work, nothing)
        return self._ask(scope, work, nothing)

    def _number(self, connection: apsw.Connection, scope: Scope) -> int | None:
        """The number of an agent. It never changes, so it is asked for once; None if the agent is not there yet."""
        name = (scope.tenant, scope.agent)
        number = self._numbers.get(name)
        if number is None:
            found = connection.execute(QUERIES["scope"], name).fetchone()
            if found is not None:
                number = self._numbers[name] = int(found[0])
        return number


def _active_space(connection: apsw.Connection) -> list[Row]:
    return connection.execute(QUERIES["space_active"]).fetchall()


@lru_cache(maxsize=64)
def _space(name: str, dimensions: int) -> Space:
    """It is asked for before every write and every recall, and is nearly always the same."""
    return Space(name, dimensions)


async def _in_thread(work: Callable[[], T]) -> T:
    """Do it in a thread, and do not leave before it is done: what it works on is not ours to touch meanwhile."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
