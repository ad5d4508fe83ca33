"""The life of a vector space: declared, built beside the active one, activated.

Those who change spaces take turns by an advisory lock. A writer of vectors holds the row of the space it writes to, and
a change of the active space takes that row for itself, so no vector is ever stored in a space that has just gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recollect.clock import Clock
from recollect.errors import ModelMismatch
from recollect.store.base import Space
from recollect.store.postgres.binary import halfvecs, texts, uuids
from recollect.store.postgres.database import Connection, Database
from recollect.store.postgres.ids import is_id, storable
from recollect.store.postgres.plan import require_fit
from recollect.store.postgres.queries import queries
from recollect.types import Scope

if TYPE_CHECKING:
    from recollect.store.base import Vector

LOCK = 0x7370616365
MAX_ROWS = 2_000
FIRST = ("", "", "00000000-0000-0000-0000-000000000000")
"""A place before that of every vector."""

_spaces = queries("spaces.sql")


class Spaces:
    """The vector spaces of one store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database, self._clock = database, clock
        self._reached: dict[Space, tuple[str, str, str]] = {}
        """Where the last search for missing vectors ended; the next goes on there, not from the beginning."""

    async def active(self) -> Space | None:
        rows = await self._database.fetch(_spaces["active_space"])
        return Space(*rows[0]) if rows else None

    async def declare(self, space: Space) -> None:
        async def work(connection: Connection) -> None:
            async with connection.transaction():
                active, _, _ = await self._held(connection)
                if active is None:
                    await self._insert(connection, space, active=True, epoch=1)
                elif active != space:
                    raise ModelMismatch(
                        f"The store was built with {active.name} ({active.dimensions} numbers).",
                        hint=f"Open it with that embedder, or re-embed it for {space.name}.",
                    )

        await self._database.attempt(work)

    async def begin(self, space: Space) -> None:
        async def work(connection: Connection) -> None:
            async with connection.transaction():
                active, building, _ = await self._held(connection)
                if space in (active, building):
                    return
                _require_beside(active, space)
                if building is not None:
                    await connection.execute(_spaces["delete_space_vectors"], {"name": building.name})
                    await connection.execute(_spaces["delete_space"], {"name": building.name})
                await self._insert(connection, space, active=False, epoch=0)

        await self._database.attempt(work)

    async def missing(self, space: Space, limit: int) -> list[tuple[Scope, str, str]]:
        await self._require_known(space)
        start = self._reached.get(space, FIRST)
        found = await self._missing_after(space, start, limit)
        if len(found) < limit and start != FIRST:
            again = await self._missing_after(space, FIRST, limit - len(found))
            told = {row[:3] for row in found}
            found += [row for row in again if row[:3] not in told]
        self._reached[space] = (found[-1][0], found[-1][1], found[-1][2]) if len(found) == limit and found else FIRST
        return [(Scope(tenant=tenant, agent=agent), id, content) for tenant, agent, id, content in found]

    async def _missing_after(self, space: Space, place: tuple[str, str, str], limit: int) -> list[Any]:
        tenant, agent, id = place
        params = {"name": space.name, "tenant": tenant, "agent": agent, "memory_id": id, "limit": max(0, limit)}
        return await self._database.fetch(_spaces["missing_vectors"], params)

    async def put(self, space: Space, rows: Sequence[tuple[Scope, str, str, Vector]]) -> int:
        for _, _, _, vector in rows:
            require_fit(vector, space)
        kept = {(s.tenant, s.agent, id): (s, id, c, v) for s, id, c, v in rows if is_id(id) and storable(c)}
        given = list(kept.values())

        async def work(connection: Connection) -> int:
            stored = 0
            async with connection.transaction():
                await self._hold_known(connection, space)
                for start in range(0, len(given), MAX_ROWS):
                    params = _vector_columns(given[start : start + MAX_ROWS], self._database.halfvec)
                    params["name"] = space.name
                    stored += (await connection.execute(_spaces["put_vectors"], params)).rowcount
                if stored:
                    await connection.execute(_spaces["raise_epoch"], {"name": space.name})
            return stored

        return await self._database.attempt(work)

    async def activate(self, space: Space) -> None:
        async def work(connection: Connection) -> None:
            async with connection.transaction():
                active, building, epoch = await self._held(connection)
                if space == active:
                    return
                if space != building or active is None:
                    raise _unknown(space)
                await _require_complete(connection, space)
                await connection.execute(_spaces["delete_space_vectors"], {"name": active.name})
                await connection.execute(_spaces["delete_space"], {"name": active.name})
                now = {"name": space.name, "epoch": epoch + 1, "since": self._clock.now()}
                await connection.execute(_spaces["promote_space"], now)

        await self._database.attempt(work)

    async def _held(self, connection: Connection) -> tuple[Space | None, Space | None, int]:
        """The active space, the one being built, and the epoch; nobody else changes them until the transaction ends."""
        await connection.execute(_spaces["take_turns"], {"key": LOCK})
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
            await self._hold_known(connection, space)

        await self._database.attempt(work)

    async def _hold_known(self, connection: Connection, space: Space) -> None:
        params = {"name": space.name, "dimensions": space.dimensions}
        if await (await connection.execute(_spaces["known_space"], params)).fetchone() is None:
            raise _unknown(space)


def _require_beside(active: Space | None, space: Space) -> None:
    if active is None:
        raise ModelMismatch("The store has no vector space yet.", hint="Declare this one instead of building a second.")
    if active.name == space.name:
        raise ModelMismatch(
            f"{space.name} is active with other dimensions.", hint="Give the new space a name of its own."
        )


async def _require_complete(connection: Connection, space: Space) -> None:
    row = await (await connection.execute(_spaces["count_missing"], {"name": space.name})).fetchone()
    if row and row[0]:
        raise ModelMismatch(
            f"{row[0]} memories have no vector of {space.name} yet.", hint="Go on re-embedding until none is missing."
        )


def _vector_columns(rows: Sequence[tuple[Scope, str, str, Vector]], halfvec: int) -> dict[str, Any]:
    return {
        "tenant": texts(row[0].tenant for row in rows),
        "agent": texts(row[0].agent for row in rows),
        "user_id": texts(row[0].user for row in rows),
        "id": uuids(row[1] for row in rows),
        "content": texts(row[2] for row in rows),
        "vector": halfvecs(halfvec, [row[3] for row in rows]),
    }


def _unknown(space: Space) -> ModelMismatch:
    return ModelMismatch(f"{space.name} is not a space of this store.", hint="Begin the space first.")
