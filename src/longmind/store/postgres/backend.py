"""``PostgresBackend``: the contract of ``store.base`` over PostgreSQL with pgvector."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Literal

from longmind.clock import Clock
from longmind.store.base import Batch, Feed, Head, Receipt, Scrubbed, Space
from longmind.store.postgres import checks, erasure, feed, history, reads, writer
from longmind.store.postgres.database import Database
from longmind.store.postgres.snapshots import PostgresSnapshots
from longmind.store.postgres.spaces import VectorSpaces
from longmind.store.postgres.statistics import Statistics
from longmind.types import Change, Direction, Filter, Link, Memory, Order, Page, Scope, Stats

if TYPE_CHECKING:
    from longmind.store.base import EmbedTexts, Vector


class PostgresBackend:
    """A store in a schema of its own inside a PostgreSQL database, shared by any number of processes."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._pooled = database
        self._spaces = VectorSpaces(database, clock)
        self._statistics = Statistics(database)

    @property
    def _database(self) -> Database:
        self._pooled.require_open()
        return self._pooled

    @property
    def unrestricted(self) -> str | None:
        """Why the role of the connections sees the rows of every tenant; None if it sees one at a time."""
        return self._pooled.unrestricted

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        clock: Clock,
        pool_size: int = 10,
        schema: str = "longmind",
        timeout: float = 5.0,
        busy_timeout: float = 30.0,
        create: bool = True,
    ) -> PostgresBackend:
        """Connect, and create or migrate the tables if necessary.

        ``timeout``: seconds to wait for the server; ``busy_timeout``: seconds to wait for a free connection while the
        server answers.

        Without ``create``, a database in which there is no store yet is ``NotFound``.
        """
        database = await Database.open(
            url, schema=schema, pool_size=pool_size, timeout=timeout, busy_timeout=busy_timeout, create=create
        )
        return cls(database, clock)

    async def apply(self, batch: Batch) -> Receipt:
        receipt = await writer.apply(self._database, batch)
        await self._statistics.after(len(batch.writes))
        return receipt

    async def get(self, scope: Scope, ids: Sequence[str]) -> list[Memory]:
        return await reads.get(self._database, scope, ids)

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
        return await reads.scan(self._database, scope, where, order, descending, limit, cursor)

    async def links(
        self, scope: Scope, ids: Sequence[str], *, relation: str | None, direction: Direction, limit: int
    ) -> list[Link]:
        return await reads.links(self._database, scope, ids, relation, direction, limit)

    async def journal(
        self,
        scope: Scope,
        *,
        after: int = 0,
        limit: int = 100,
        memory_id: str | None = None,
        operation: str | None = None,
    ) -> list[Change]:
        return await history.journal(self._database, scope, after, limit, memory_id, operation)

    async def stats(self, scope: Scope) -> Stats:
        return await reads.stats(self._database, scope)

    async def head(self, scope: Scope) -> Head:
        return await reads.head(self._database, scope)

    def feed(self, scope: Scope, after: int) -> AsyncIterator[Feed]:
        return feed.feed(self._database, scope, after)

    async def matching(self, scope: Scope, where: Filter) -> set[str]:
        return await reads.matching(self._database, scope, where)

    async def scopes(self) -> list[Scope]:
        return await reads.scopes(self._database)

    async def space(self) -> Space | None:
        return await self._spaces.active()

    async def close(self) -> None:
        await self._pooled.close()

    def snapshots(self) -> PostgresSnapshots:
        return PostgresSnapshots(self._database)

    # -- the power to change the embedder ----------------------------------------------------------------------------

    async def declare_space(self, space: Space) -> None:
        await self._spaces.declare(space)

    async def begin_space(self, space: Space) -> None:
        await self._spaces.begin(space)

    async def missing_vectors(self, space: Space, limit: int) -> list[tuple[Scope, str, str]]:
        return await self._spaces.missing(space, limit)

    async def put_vectors(self, space: Space, rows: Sequence[tuple[Scope, str, str, Vector]]) -> int:
        return await self._spaces.put(space, rows)

    async def activate_space(self, space: Space) -> None:
        await self._spaces.activate(space)

    async def finish_space(self, space: Space, embed: EmbedTexts, limit: int) -> tuple[int, int]:
        return await self._spaces.finish(space, embed, limit)

    # -- the power to erase completely -------------------------------------------------------------------------------

    async def past_links(self, scope: Scope, ids: Sequence[str], *, direction: Literal["out", "in"]) -> list[Link]:
        return await erasure.past_links(self._database, scope, ids, direction)

    async def past_ids(self, scope: Scope) -> list[str]:
        return await erasure.past_ids(self._database, scope)

    async def past_scopes(self) -> list[Scope]:
        return await erasure.past_scopes(self._database)

    async def uncleared(self) -> list[str]:
        return []

    async def scrub(self) -> Scrubbed:
        return await erasure.scrub(self._database)

    # -- the power to examine itself ---------------------------------------------------------------------------------

    async def check(self) -> list[str]:
        return await checks.find_faults(self._database)
