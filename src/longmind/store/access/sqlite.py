"""Keys and audit in a SQLite file."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import apsw

from longmind.errors import ForeignStore
from longmind.private_files import create_file, create_folder
from longmind.security.audit import AuditEvent, AuditHead, StoredLine, chain
from longmind.security.keys import ApiKey
from longmind.store.access.rows import FILTERS, key_of
from longmind.store.sql import load
from longmind.store.sqlite.connect import patiently
from longmind.store.sqlite.failures import closed, translate

T = TypeVar("T")
Row = tuple[Any, ...]
APPLICATION_ID = 1282237523
"""The four bytes "LmdS" in the header of the file."""
_PACKAGE = "longmind.store.access"
_PART = 1_000
_sql = load(_PACKAGE, "sqlite.sql")


class SqliteAccessStore:
    """Keys and audit in a file, shared by the processes of a server. Each commit is on the disk when it returns."""

    def __init__(self, path: str, *, busy_seconds: float = 30.0) -> None:
        self._path = path
        self._busy_seconds = busy_seconds
        self._turn = threading.Lock()
        self._open: apsw.Connection | None = None
        self._closed = False

    async def add_key(self, key: ApiKey, digest: str) -> None:
        params = {
            "id": key.id,
            "tenant": key.tenant,
            "digest": digest,
            "name": key.name,
            "permissions": json.dumps(sorted(key.permissions)),
            "agents": None if key.agents is None else json.dumps(sorted(key.agents)),
            "created_at": key.created_at.isoformat(),
            "created_by": key.created_by,
            "expires_at": key.expires_at.isoformat() if key.expires_at else None,
        }
        await self._do(lambda connection: self._run(connection, "add_key", params))

    async def find_key(self, id: str) -> tuple[ApiKey, str] | None:
        rows = await self._rows("find_key", {"id": id})
        return key_of(rows[0]) if rows else None

    async def list_keys(self, tenant: str) -> list[ApiKey]:
        return [key_of(row)[0] for row in await self._rows("list_keys", {"tenant": tenant})]

    async def key_tenants(self) -> list[str]:
        return [row[0] for row in await self._rows("key_tenants", {})]

    async def any_key(self) -> bool:
        if self._path != ":memory:" and not await asyncio.to_thread(os.path.exists, self._path):
            return False
        return bool((await self._rows("any_key", {}))[0][0])

    async def revoke_key(self, tenant: str, id: str, at: datetime) -> ApiKey | None:
        params = {"tenant": tenant, "id": id, "at": at.isoformat()}
        await self._do(lambda connection: self._run(connection, "revoke_key", params))
        return next((key for key in await self.list_keys(tenant) if key.id == id), None)

    async def touch_key(self, tenant: str, id: str, at: datetime) -> None:
        params = {"tenant": tenant, "id": id, "at": at.isoformat()}
        await self._do(lambda connection: self._run(connection, "touch_key", params))

    async def append(self, events: Sequence[AuditEvent]) -> AuditHead:
        def work(connection: apsw.Connection) -> AuditHead:
            lines, head = chain(self._head(connection), events)
            connection.executemany(_sql["insert_line"], lines)
            self._run(connection, "set_head", head.model_dump())
            return head

        return await self._do(work)

    async def head(self) -> AuditHead:
        return await self._do(self._head)

    async def recent(self, tenant: str, before: int, limit: int, filters: dict[str, str]) -> list[StoredLine]:
        params = {"tenant": tenant, "before": before, "limit": limit} | {name: filters.get(name) for name in FILTERS}
        return [StoredLine(*row) for row in await self._rows("recent", params)]

    async def lines(self, after: int) -> AsyncIterator[StoredLine]:
        while rows := await self._rows("lines", {"after": after, "limit": _PART}):
            for row in rows:
                yield StoredLine(*row)
            after = rows[-1][0]

    async def rotate(self, head: AuditHead) -> None:
        def work(connection: apsw.Connection) -> None:
            now = self._head(connection)
            self._run(connection, "delete_lines", {"base_seq": head.base_seq})
            base = {"base_seq": head.base_seq, "base_hash": head.base_hash}
            self._run(connection, "set_head", now.model_dump() | base)

        await self._do(work)

    async def close(self) -> None:
        def work() -> None:
            with self._turn:
                self._closed = True
                if self._open is not None:
                    self._open.close()

        await asyncio.to_thread(work)

    async def _rows(self, name: str, params: dict[str, Any]) -> list[Row]:
        return await self._do(lambda connection: self._run(connection, name, params))

    async def _do(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run work in a thread, in one transaction of its own."""

        def locked() -> T:
            with self._turn:
                try:
                    connection = self._connection()
                    connection.execute("BEGIN IMMEDIATE")
                    try:
                        result = work(connection)
                        connection.execute("COMMIT")
                    except BaseException:
                        if connection.in_transaction:
                            connection.execute("ROLLBACK")
                        raise
                    return result
                except apsw.Error as error:
                    raise translate(error, self._path) from error

        return await asyncio.to_thread(locked)

    def _run(self, connection: apsw.Connection, name: str, params: dict[str, Any]) -> list[Row]:
        return connection.execute(_sql[name], params).fetchall()

    def _head(self, connection: apsw.Connection) -> AuditHead:
        rows = self._run(connection, "head", {})
        return AuditHead(**dict(zip(AuditHead.model_fields, rows[0], strict=True))) if rows else AuditHead()

    def _connection(self) -> apsw.Connection:
        if self._closed:
            raise closed(self._path)
        if self._open is None:
            self._open = self._connect()
        return self._open

    @staticmethod
    def _is_foreign(connection: apsw.Connection) -> bool:
        """Whether another program made the file; both numbers are of one moment, as another process may make it now."""
        connection.execute("BEGIN")
        try:
            known, version = connection.pragma("application_id"), connection.pragma("schema_version")
        finally:
            connection.execute("ROLLBACK")
        return known not in (0, APPLICATION_ID) or (known == 0 and bool(version))

    def _connect(self) -> apsw.Connection:
        if self._path != ":memory:":
            create_folder(Path(self._path).parent)
            create_file(self._path)
        connection = apsw.Connection(self._path)
        try:
            connection.set_busy_timeout(int(self._busy_seconds * 1000))
            if patiently(self._busy_seconds, lambda: self._is_foreign(connection)):
                raise ForeignStore(f"{self._path} is another program's file; it was left as it is.")
            # who opens a new file first turns its log on, and SQLite itself does not wait for that
            patiently(self._busy_seconds, lambda: connection.pragma("journal_mode", "wal"))
            connection.pragma("synchronous", "FULL")
            connection.execute("BEGIN IMMEDIATE")
            connection.pragma("application_id", APPLICATION_ID)
            connection.execute(resources.files(_PACKAGE).joinpath("sqlite_schema.sql").read_text(encoding="utf-8"))
            connection.execute("COMMIT")
        except BaseException:
            connection.close()
            raise
        return connection
