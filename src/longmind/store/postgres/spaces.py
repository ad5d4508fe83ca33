"""The life cycle of a vector space: declared, built beside the active one, activated.

Those who change spaces take turns by an advisory lock. A writer of vectors holds the row of the space it writes to, and
a change of the active space takes that row for itself, so no vector is ever stored in a space that has just gone.
To finish a space all writers are held off by a lock of the table, for which they queue behind who asked first. Who
changes spaces takes the turn, then the table, then its rows, and never waits for an agent's row of ``scopes``, which a
writer may hold while it waits for one of these: so no two of them wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from longmind.clock import Clock
from longmind.store import refusals
from longmind.store.base import Space
from longmind.store.postgres.binary import halfvecs, is_id, texts, uuids
from longmind.store.postgres.database import Connection, Database, Row
from longmind.store.postgres.driver import load_queries
from longmind.types import Scope

if TYPE_CHECKING:
    from longmind.store.base import EmbedTexts, Vector

LOCK = 0x7370616365
MAX_ROWS = 2_000
FIRST = ("", "", "00000000-0000-0000-0000-000000000000")
"""A position before every vector."""

_spaces = load_queries("spaces.sql")


class VectorSpaces:
    """The vector spaces of one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._search_from: dict[Space, tuple[str, str, str]] = {}
        """Where the last search for missing vectors ended, and the next one continues."""

    async def active(self) -> Space | None:
        rows = await self._database.fetch(_spaces["active_space"])
        return Space(*rows[0]) if rows else None

    async def declare(self, space: Space) -> None:
        async def work(connection: Connection) -> None:
            async with connection.transaction():
                active, _, _ = await self._lock_spaces(connection)
                if active is None:
                    await self._insert(connection, space, active=True, epoch=1)
                else:
                    refusals.require_declared(active, space)

        await self._database.attempt(work)

    async def begin(self, space: Space) -> None:
        self._database.require_all_tenants()

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                active, building, _ = await self._lock_spaces(connection)
                if space in (refusals.require_beside(active, space), building):
                    return
                if building is not None:
                    await self._drop(connection, building)
                await self._insert(connection, space, active=False, epoch=0)

        await self._database.attempt(work)

    async def missing(self, space: Space, limit: int) -> list[tuple[Scope, str, str]]:
        self._database.require_all_tenants()
        await self._require_known(space)
        start = self._search_from.get(space, FIRST)
        missing_rows = await self._missing_after(space, start, limit)
        if len(missing_rows) < limit and start != FIRST:
            again = await self._missing_after(space, FIRST, limit - len(missing_rows))
            seen_rows = {row[:3] for row in missing_rows}
            missing_rows += [row for row in again if row[:3] not in seen_rows]
        full = bool(missing_rows) and len(missing_rows) == limit
        self._search_from[space] = tuple(missing_rows[-1][:3]) if full else FIRST
        return [
            (Scope(tenant=tenant, agent=agent, all_users=True), id, content)
            for tenant, agent, id, content in missing_rows
        ]

    async def _missing_after(self, space: Space, place: tuple[str, str, str], limit: int) -> list[Any]:
        tenant, agent, id = place
        params = {"name": space.name, "tenant": tenant, "agent": agent, "memory_id": id, "limit": max(0, limit)}
        return await self._database.fetch(_spaces["missing_vectors"], params)

    async def put(self, space: Space, rows: Sequence[tuple[Scope, str, str, Vector]]) -> int:
        self._database.require_all_tenants()
        for _, _, _, vector in rows:
            refusals.require_fit(vector, space)
        kept = {(s.tenant, s.agent, id): (s, id, c, v) for s, id, c, v in rows if is_id(id) and refusals.storable(c)}
        unique = list(kept.values())

        async def work(connection: Connection) -> int:
            stored = 0
            async with connection.transaction():
                await self._lock_known(connection, space)
                for start in range(0, len(unique), MAX_ROWS):
                    params = _vector_columns(unique[start : start + MAX_ROWS], self._database.halfvec)
                    params["name"] = space.name
                    stored += (await connection.execute(_spaces["put_vectors"], params)).rowcount
                if stored:
                    await connection.execute(_spaces["raise_epoch"], {"name": space.name})
            return stored

        return await self._database.attempt(work)

    async def activate(self, space: Space) -> None:
        self._database.require_all_tenants()

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                active, building, epoch = await self._lock_spaces(connection)
                if space == active:
                    return
                if space != building:
                    raise refusals.unknown_space(space)
                _, missing = await _first_missing(connection, space, 1)
                refusals.require_complete(missing, space)
                await self._switch(connection, active, space, epoch)

        await self._database.attempt(work)

    async def finish(self, space: Space, embed: EmbedTexts, limit: int) -> tuple[int, int]:
        """Embed the last memories while no process writes. The transaction stays open while the embedder works."""
        self._database.require_all_tenants()

        async def work(connection: Connection) -> tuple[int, int]:
            async with connection.transaction():
                active, building, epoch = await self._lock_spaces(connection, alone=True)
                if space not in (active, building):
                    raise refusals.unknown_space(space)
                missing_rows, missing = await _first_missing(connection, space, max(1, limit))
                if missing_rows:
                    await self._add(connection, space, missing_rows, await embed([row[3] for row in missing_rows]))
                if space != active and missing == len(missing_rows):
                    await self._switch(connection, active, space, epoch)
            return len(missing_rows), missing - len(missing_rows)

        return await self._database.attempt(work)

    async def _add(
        self, connection: Connection, space: Space, missing_rows: Sequence[Row], vectors: Iterable[Vector]
    ) -> None:
        """Store the vectors of memories that nobody can change now."""
        rows = [
            (Scope(tenant=r[0], agent=r[1], all_users=True), r[2], r[3], v)
            for r, v in zip(missing_rows, vectors, strict=True)
        ]
        for *_, vector in rows:
            refusals.require_fit(vector, space)
        for start in range(0, len(rows), MAX_ROWS):
            params = _vector_columns(rows[start : start + MAX_ROWS], self._database.halfvec)
            await connection.execute(_spaces["add_vectors"], params | {"name": space.name})
        await connection.execute(_spaces["raise_epoch"], {"name": space.name})

    async def _switch(self, connection: Connection, active: Space | None, space: Space, epoch: int) -> None:
        """Make this the active space and drop the one before."""
        if active is not None:
            await self._drop(connection, active)
        now = {"name": space.name, "epoch": epoch + 1, "since": self._clock.now()}
        await connection.execute(_spaces["promote_space"], now)

    async def _drop(self, connection: Connection, space: Space) -> None:
        await connection.execute(_spaces["delete_space_vectors"], {"name": space.name})
        await connection.execute(_spaces["delete_space"], {"name": space.name})

    async def _lock_spaces(
        self, connection: Connection, *, alone: bool = False
    ) -> tuple[Space | None, Space | None, int]:
        """Return the active space, the one being built, and the epoch, locked until the transaction ends.

        With ``alone`` nobody else writes anything at all until then.
        """
        await connection.execute(_spaces["take_turns"], {"key": LOCK})
        if alone:
            await connection.execute(_spaces["hold_off_writers"])
        active = building = None
        epoch = 0
        for name, dimensions, is_active, since in await (await connection.execute(_spaces["hold_spaces"])).fetchall():
            if is_active:
                active, epoch = Space(name, dimensions), since
            else:
                building = Space(name, dimensions)
        return active, building, epoch

    async def _insert(self, connection: Connection, space: Space, *, active: bool, epoch: int) -> None:
        params = {"name": space.name, "dimensions": space.dimensions, "active": active, "epoch": epoch}
        await connection.execute(_spaces["insert_space"], params | {"since": self._clock.now()})

    async def _require_known(self, space: Space) -> None:
        async def work(connection: Connection) -> None:
            await self._lock_known(connection, space)

        await self._database.attempt(work)

    async def _lock_known(self, connection: Connection, space: Space) -> None:
        params = {"name": space.name, "dimensions": space.dimensions}
        if await (await connection.execute(_spaces["known_space"], params)).fetchone() is None:
            raise refusals.unknown_space(space)


async def _first_missing(connection: Connection, space: Space, limit: int) -> tuple[list[Row], int]:
    """Return some memories that have no vector in a space, and how many there are in all."""
    cursor = await connection.execute(_spaces["first_missing"], {"name": space.name, "limit": limit})
    missing_rows = await cursor.fetchall()
    return missing_rows, missing_rows[0][4] if missing_rows else 0


def _vector_columns(rows: Sequence[tuple[Scope, str, str, Vector]], halfvec: int) -> dict[str, Any]:
    return {
        "tenant": texts(row[0].tenant for row in rows),
        "agent": texts(row[0].agent for row in rows),
        "user_id": texts(row[0].user for row in rows),
        "id": uuids(row[1] for row in rows),
        "content": texts(row[2] for row in rows),
        "vector": halfvecs(halfvec, [row[3] for row in rows]),
    }
