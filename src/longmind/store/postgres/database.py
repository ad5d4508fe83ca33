"""Connections: the pool, how each connection is set up, and what happens when one breaks."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

from psycopg import AsyncConnection, AsyncCursor, AsyncTransaction
from psycopg.types.numeric import Int8BinaryDumper

from longmind.errors import Forbidden, StoreUnavailable
from longmind.store.postgres.binary import Column, ColumnDumper
from longmind.store.postgres.driver import load_queries, psycopg, psycopg_pool
from longmind.store.postgres.failures import RETRY, Place, is_lost, place, translate
from longmind.store.postgres.install import Installed, install

_DURABLE = load_queries("read.sql")["require_durable"]
_SET_TENANT = load_queries("read.sql")["set_tenant"]

T = TypeVar("T")
Row = tuple[Any, ...]
Connection = AsyncConnection[Row]

ATTEMPTS = 5
"""How often a call is tried when its connection breaks or writers collide."""

SESSION = {
    "TimeZone": "UTC",
    "default_transaction_isolation": "read committed",
    "jit": "off",
    "lock_timeout": "30s",
    "idle_in_transaction_session_timeout": "5min",
    "application_name": "longmind",
}
"""Settings of each connection; the URL's own ``options`` come after them and win. Compiling a query of a millisecond
costs a hundred, so ``jit`` is off."""


class Database:
    """A pool of connections to one prepared database."""

    def __init__(
        self,
        pool: psycopg_pool.AsyncConnectionPool[Connection],
        where: Place,
        installed: Installed,
        conninfo: str,
        busy_timeout: float,
    ) -> None:
        self._pool = pool
        self._conninfo = conninfo
        self._busy_timeout = busy_timeout
        self._lost = False
        """Whether a connection broke and none has worked since: the server is being restarted, or gone."""
        self._answered = time.monotonic()
        """When the server last answered."""
        self._asking = asyncio.Lock()
        """Held while the server is asked whether it still answers, so that many who wait ask once."""
        self.where = where
        self.halfvec = installed.halfvec
        self.unrestricted = installed.unrestricted
        """Why this role sees every tenant; None if row-level security keeps it to the one of each transaction."""

    @classmethod
    async def open(
        cls, url: str, *, schema: str, pool_size: int, timeout: float, busy_timeout: float, create: bool = True
    ) -> Database:
        """Prepare the database if necessary, and connect to it."""
        where = place(url)
        installed = await asyncio.to_thread(install, url, schema, where, timeout, create=create)
        conninfo = _conninfo(url, installed, timeout)
        pool: psycopg_pool.AsyncConnectionPool[Connection] = psycopg_pool.AsyncConnectionPool(
            conninfo,
            min_size=1,
            max_size=max(1, pool_size),
            open=False,
            timeout=timeout,
            reconnect_timeout=timeout,  # the pool waits twice as long after each failure, so it must begin anew
            kwargs={"autocommit": True},
            configure=_configure,
        )
        try:
            await pool.open(wait=True, timeout=timeout)
        except psycopg.Error as error:
            raise translate(error, where) from error
        return cls(pool, where, installed, conninfo, busy_timeout)

    async def close(self) -> None:
        await self._pool.close()

    def require_open(self) -> None:
        """Raise if the store is closed, also in calls that need no connection."""
        if self._pool.closed:
            raise StoreUnavailable(f"The store in {self.where} is closed.", hint="Open it again.")

    def require_all_tenants(self) -> None:
        """Refuse what is about the rows of all tenants: this role would see none of them, and take that for all."""
        if not self.unrestricted:
            raise Forbidden(
                f"The role of the connection to {self.where} sees one tenant at a time, and this is about all of them.",
                hint="Do it as the owner of the tables.",
            )

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Borrow a connection. The pool replaces a broken one and rolls an open transaction back."""
        connection = await self._borrow()
        try:
            yield connection
            self._lost = False
            self._answered = time.monotonic()
        finally:
            await self._pool.putconn(connection)

    async def _borrow(self) -> Connection:
        """Wait for a free connection, up to ``busy_timeout`` while the server answers.

        One that is gone is told within ``timeout`` of its last answer: two thirds pass until it is asked.
        """
        patience = self._pool.timeout / 3
        deadline = time.monotonic() + self._busy_timeout
        while True:
            try:
                return await self._pool.getconn(patience)
            except psycopg_pool.PoolTimeout:
                if self._lost or time.monotonic() >= deadline or not await self._answers(patience):
                    raise

    async def _answers(self, patience: float) -> bool:
        """Return whether the server has answered lately, or answers now on a connection of its own."""
        async with self._asking:
            if time.monotonic() - self._answered < patience:
                return True
            try:
                async with asyncio.timeout(patience):
                    connection = await AsyncConnection.connect(self._conninfo, autocommit=True)
            except (psycopg.Error, TimeoutError):
                return False
            await connection.close()
            self._answered = time.monotonic()
            return True

    async def attempt(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run repeatable work, with retries when the connection breaks or writers collide."""
        for left in reversed(range(ATTEMPTS)):
            try:
                async with self.connection() as connection:
                    return await work(connection)
            except psycopg.Error as error:
                if not left or not (is_lost(error) or error.sqlstate in RETRY):
                    raise translate(error, self.where) from error
                await self.heal(error)
        raise StoreUnavailable(f"No connection to {self.where} held.", hint="Try again.")

    async def fetch(self, query: bytes, params: dict[str, Any] | None = None) -> list[Row]:
        """Return all rows of a query, with retries."""

        async def work(connection: Connection) -> list[Row]:
            return await (await self.execute(connection, query, params)).fetchall()

        return await self.attempt(work)

    async def execute(self, connection: Connection, query: bytes, params: dict[str, Any] | None) -> AsyncCursor[Row]:
        """Run one statement, which sees the tenant of its parameters and no other.

        The tenant is sent before it in the same pipeline: one round trip, and one transaction.
        """
        tenant = None if self.unrestricted or params is None else params.get("tenant")
        if not isinstance(tenant, str):
            return await connection.execute(query, params, prepare=True, binary=True)
        async with connection.pipeline():
            await connection.execute(_SET_TENANT, {"tenant": tenant}, prepare=True)
            return await connection.execute(query, params, prepare=True, binary=True)

    @asynccontextmanager
    async def transaction(
        self, connection: Connection, tenant: str | None, *, first: bytes | None = None
    ) -> AsyncIterator[None]:
        """Run statements in a transaction that sees one tenant. ``first`` is a statement before all others.

        What comes before the caller's own statements is sent in one round trip.
        """
        if self.unrestricted:
            async with connection.transaction():
                if first is not None:
                    await connection.execute(first)
                yield
            return
        async with AsyncExitStack() as ending:
            async with connection.pipeline():
                # connection.transaction() would keep the pipeline open until the transaction ends
                await ending.enter_async_context(AsyncTransaction(connection))
                if first is not None:
                    await connection.execute(first)
                if tenant is not None:
                    await connection.execute(_SET_TENANT, {"tenant": tenant}, prepare=True)
            yield

    async def heal(self, error: psycopg.Error) -> None:
        """Check the pool's other connections after one broke: the server may have been restarted."""
        if is_lost(error):
            self._lost = True
            await self._pool.check()


def _conninfo(url: str, installed: Installed, timeout: float) -> str:
    parts = psycopg.conninfo.conninfo_to_dict(url)
    settings = {"search_path": installed.search_path, **SESSION}
    options = [f"-c {name}={_escaped(value)}" for name, value in settings.items()]
    defaults = {"connect_timeout": math.ceil(timeout), "tcp_user_timeout": math.ceil(timeout * 1000)}
    own_options = {"options": " ".join([*options, str(parts.get("options") or "")]).strip()}
    return psycopg.conninfo.make_conninfo("", **{**defaults, **parts, **own_options})


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(" ", "\\ ")


async def _configure(connection: Connection) -> None:
    """Set up a connection. Integers go as 64 bits: psycopg would choose by size and prepare each variant."""
    await connection.execute(_DURABLE)
    connection.adapters.register_dumper(int, Int8BinaryDumper)
    connection.adapters.register_dumper(Column, ColumnDumper)
