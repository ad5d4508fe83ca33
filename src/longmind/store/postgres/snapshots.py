"""Snapshots of views in a table, behind the same row-level security as the memories they are made of.

An erasure removes those of its agent in its own transaction. Who makes one announces it first, *then* brings its view
up to date and copies it, and stores it only if it is still announced. All three take turns by one lock of the agent.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from longmind.store.postgres.database import Connection, Database
from longmind.store.postgres.driver import load_queries
from longmind.text.index_terms import ANALYSIS_VERSION
from longmind.types import Scope

if TYPE_CHECKING:
    from longmind.store.search.packed import CapturedView
    from longmind.store.search.snapshot_format import SnapshotHeader
    from longmind.store.search.view import View

_sql = load_queries("snapshots.sql")
_PART = 4 * 2**20
"""Bytes of a row: a snapshot of 100,000 memories has about a dozen."""


async def take_back(connection: Connection, scope: Scope) -> None:
    """Remove the snapshots of an agent in the transaction of an erasure, and let none be announced until it ends."""
    params = {"tenant": scope.tenant, "agent": scope.agent}
    await connection.execute(_sql["lock"], params)
    await connection.execute(_sql["take_back"], params)  # a statement of its own: it sees what the lock waited for


class PostgresSnapshots:
    """The snapshots of a store in PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def header(self, scope: Scope) -> SnapshotHeader | None:
        """Return the header of the snapshot of a scope; None if there is none that this version can read."""
        from longmind.store.search.snapshot_format import read_header

        rows = await self._database.fetch(_sql["header"], _names(scope))
        try:
            header = read_header(io.BytesIO(rows[0][0]), len(rows[0][0])) if rows else None
        except (ValueError, TypeError, KeyError):
            return None
        return header if header is not None and header.analysis == ANALYSIS_VERSION else None

    async def load(self, scope: Scope, header: SnapshotHeader) -> View | None:
        """Return the view of a snapshot whose header was read before; None if it is damaged or was replaced."""
        from longmind.store.search.packed import unpack
        from longmind.store.search.snapshot_format import read_snapshot

        parts = await self._database.fetch(_sql["parts"], _names(scope))

        def read() -> View | None:
            content = b"".join(part for (part,) in parts)
            try:
                return unpack(read_snapshot(io.BytesIO(content), len(content), header))
            except (ValueError, KeyError):
                return None

        view = await asyncio.to_thread(read)
        if view is not None:
            await self._run("note_use", _names(scope))
        return view

    async def begin(self, scope: Scope) -> Callable[[CapturedView, str], Awaitable[bool]]:
        """Announce a snapshot, which from now on an erasure takes back. Return what stores it."""
        params = _names(scope) | {"snapshot": str(uuid4())}

        async def announce(connection: Connection) -> None:
            async with self._database.transaction(connection, scope.tenant):
                await connection.execute(_sql["lock"], params)
                await connection.execute(_sql["announce"], params)

        await self._database.attempt(announce)

        async def write(captured: CapturedView, mark: str) -> bool:
            return await self._write(params, captured, mark)

        return write

    async def _write(self, params: dict[str, Any], captured: CapturedView, mark: str) -> bool:
        header, content = await asyncio.to_thread(_bytes_of, captured, mark)

        async def work(connection: Connection) -> bool:
            async with self._database.transaction(connection, params["tenant"]):
                await connection.execute(_sql["lock"], params)
                row = await (await connection.execute(_sql["replace_older"], params)).fetchone()
                if row is None or not row[0]:
                    return False
                await connection.execute(_sql["put_part"], params | {"part": 0, "content": header}, binary=True)
                for number, start in enumerate(range(0, len(content), _PART), 1):
                    part = content[start : start + _PART]
                    await connection.execute(_sql["put_part"], params | {"part": number, "content": part}, binary=True)
                await connection.execute(_sql["remove_unused"], params)
            return True

        return await self._database.attempt(work)

    async def remove(self) -> int:
        """Remove every snapshot of the store. Return how many there were."""
        ((count,),) = await self._database.fetch(_sql["count"])

        async def work(connection: Connection) -> None:
            await connection.execute(_sql["remove_all"])

        await self._database.attempt(work)
        return int(count)

    @asynccontextmanager
    async def erasing(self, scope: Scope) -> AsyncIterator[None]:
        """Do nothing: the transaction of the erasure takes the snapshots back."""
        yield

    async def _run(self, name: str, params: dict[str, Any]) -> None:
        async def work(connection: Connection) -> None:
            await self._database.execute(connection, _sql[name], params)

        await self._database.attempt(work)


def _names(scope: Scope) -> dict[str, Any]:
    from longmind.store.search.snapshot_format import viewer_name

    return {"tenant": scope.tenant, "agent": scope.agent, "viewer": viewer_name(scope)}


def _bytes_of(captured: CapturedView, mark: str) -> tuple[bytes, memoryview]:
    """Return a snapshot as its header and the rest."""
    from longmind.store.search.packed import pack
    from longmind.store.search.snapshot_format import read_header, write_snapshot

    file = io.BytesIO()
    write_snapshot(file, pack(captured), 0, mark)
    size = file.tell()
    file.seek(0)
    read_header(file, size)
    end = file.tell()
    content = file.getbuffer()
    return bytes(content[:end]), content[end:]
