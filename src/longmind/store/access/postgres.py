"""Keys and audit in the PostgreSQL database of a store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

from longmind.security.audit import AuditEvent, AuditHead, StoredLine, chain
from longmind.security.keys import ApiKey
from longmind.store.access.rows import FILTERS, key_of
from longmind.store.postgres.binary import longs, texts
from longmind.store.postgres.database import Connection, Database
from longmind.store.sql import load

_PART = 1_000
_POOL = 4
_sql = {name: text.encode() for name, text in load("longmind.store.access", "postgres.sql").items()}


class PostgresAccessStore:
    """Keys and audit in tables beside the memories. The role of the server may not change what was noted."""

    def __init__(self, url: str, *, schema: str = "longmind", timeout: float = 5.0, busy_timeout: float = 30.0) -> None:
        self._url, self._schema, self._timeout, self._busy_timeout = url, schema, timeout, busy_timeout
        self._opening = asyncio.Lock()
        self._open: Database | None = None

    async def add_key(self, key: ApiKey, digest: str) -> None:
        params = {
            "id": key.id,
            "tenant": key.tenant,
            "digest": digest,
            "name": key.name,
            "permissions": json.dumps(sorted(key.permissions)),
            "agents": None if key.agents is None else json.dumps(sorted(key.agents)),
            "created_at": key.created_at,
            "created_by": key.created_by,
            "expires_at": key.expires_at,
        }
        await self._run("add_key", params)

    async def find_key(self, id: str) -> tuple[ApiKey, str] | None:
        rows = await (await self._database()).fetch(_sql["find_key"], {"id": id})
        return key_of(rows[0]) if rows and rows[0][0] is not None else None

    async def list_keys(self, tenant: str) -> list[ApiKey]:
        rows = await (await self._database()).fetch(_sql["list_keys"], {"tenant": tenant})
        return [key_of(row)[0] for row in rows]

    async def key_tenants(self) -> list[str]:
        return [row[0] for row in await (await self._database()).fetch(_sql["key_tenants"])]

    async def any_key(self) -> bool:
        return bool((await (await self._database()).fetch(_sql["any_key"]))[0][0])

    async def revoke_key(self, tenant: str, id: str, at: datetime) -> ApiKey | None:
        await self._run("revoke_key", {"tenant": tenant, "id": id, "at": at})
        return next((key for key in await self.list_keys(tenant) if key.id == id), None)

    async def touch_key(self, tenant: str, id: str, at: datetime) -> None:
        await self._run("touch_key", {"tenant": tenant, "id": id, "at": at})

    async def append(self, events: Sequence[AuditEvent]) -> AuditHead:
        database = await self._database()

        async def work(connection: Connection) -> AuditHead:
            async with database.transaction(connection, None):
                lines, head = chain(_head(await _row(connection, "lock_head")), events)
                params = {
                    "seqs": longs(line.seq for line in lines),
                    "tenants": texts(line.tenant for line in lines),
                    "lines": texts(line.text for line in lines),
                    "hashes": texts(line.hash for line in lines),
                    "seq": head.seq,
                    "hash": head.hash,
                }
                await connection.execute(_sql["append"], params, prepare=True)
            return head

        return await database.attempt(work)

    async def head(self) -> AuditHead:
        return _head((await (await self._database()).fetch(_sql["head"]))[0])

    async def recent(self, tenant: str, before: int, limit: int, filters: dict[str, str]) -> list[StoredLine]:
        params: dict[str, Any] = {"tenant": tenant, "before": before, "limit": limit}
        params |= {name: filters.get(name) for name in FILTERS}
        return [StoredLine(*row) for row in await (await self._database()).fetch(_sql["recent"], params)]

    async def lines(self, after: int) -> AsyncIterator[StoredLine]:
        database = await self._database()
        while rows := await database.fetch(_sql["lines"], {"after": after, "limit": _PART}):
            for row in rows:
                yield StoredLine(*row)
            after = rows[-1][0]

    async def rotate(self, head: AuditHead) -> None:
        database = await self._database()
        base = {"base_seq": head.base_seq, "base_hash": head.base_hash}

        async def work(connection: Connection) -> None:
            async with database.transaction(connection, None):
                await _row(connection, "lock_head")
                await connection.execute(_sql["delete_lines"], base)
                await connection.execute(_sql["set_base"], base)

        await database.attempt(work)

    async def close(self) -> None:
        if self._open is not None:
            await self._open.close()

    async def _run(self, name: str, params: dict[str, Any]) -> None:
        database = await self._database()

        async def work(connection: Connection) -> None:
            await database.execute(connection, _sql[name], params)

        await database.attempt(work)

    async def _database(self) -> Database:
        async with self._opening:
            if self._open is None:
                self._open = await Database.open(
                    self._url,
                    schema=self._schema,
                    pool_size=_POOL,
                    timeout=self._timeout,
                    busy_timeout=self._busy_timeout,
                )
            return self._open


async def _row(connection: Connection, name: str) -> tuple[Any, ...]:
    row = await (await connection.execute(_sql[name])).fetchone()
    assert row is not None
    return row


def _head(row: tuple[Any, ...]) -> AuditHead:
    return AuditHead(**dict(zip(AuditHead.model_fields, row, strict=True)))
