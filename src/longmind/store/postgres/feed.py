"""The feed for search: everything an agent holds, or what changed since a number."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

from psycopg import AsyncServerCursor

from longmind.store.base import Feed, Head
from longmind.store.postgres.database import ATTEMPTS, Database, Row
from longmind.store.postgres.driver import join_queries, load_queries, psycopg
from longmind.store.postgres.failures import is_lost, translate
from longmind.store.postgres.reads import LARGEST
from longmind.store.postgres.rows import index_rows
from longmind.types import Scope

CHUNK = 5_000
SMALL = 20_000
"""Up to this many changes are one statement and one answer; more are read through a cursor, chunk by chunk."""

_read = load_queries("read.sql")
_FEW = join_queries(_read["feed_changed"], _read["limited"])


async def feed(database: Database, scope: Scope, after: int) -> AsyncIterator[Feed]:
    """Yield what changed in the scope after a number, as one consistent read."""
    params: dict[str, Any] = {"tenant": scope.tenant, "agent": scope.agent, "user": scope.viewer}
    if after <= 0:
        async for chunk in _streamed(database, "feed_all", params):
            yield chunk
        return
    params["after"] = min(after, LARGEST)
    rows = await database.fetch(_FEW, params | {"limit": SMALL + 1})
    if len(rows) > SMALL:
        async for chunk in _streamed(database, "feed_changed", params):
            yield chunk
        return
    yield _changed(rows, Head(rows[0][0], rows[0][1]))


async def _streamed(database: Database, name: str, params: dict[str, Any]) -> AsyncIterator[Feed]:
    """The rows of a query through a cursor at the server, in one read-only transaction."""
    async with AsyncExitStack() as stack:
        cursor, head = await _opened(database, stack, name, params)
        first = True
        try:
            while (rows := await cursor.fetchmany(CHUNK)) or first:
                first = False
                yield _changed(rows, head) if name == "feed_changed" else Feed(head, index_rows(rows))
        except psycopg.Error as error:
            raise translate(error, database.where) from error


async def _opened(
    database: Database, stack: AsyncExitStack, name: str, params: dict[str, Any]
) -> tuple[AsyncServerCursor[Row], Head]:
    """A cursor in a transaction of its own. A connection that turns out to be broken is replaced before that."""
    for left in reversed(range(ATTEMPTS)):
        try:
            async with AsyncExitStack() as trial:
                connection = await trial.enter_async_context(database.connection())
                reading_only = database.transaction(connection, params["tenant"], first=_read["one_reading"])
                await trial.enter_async_context(reading_only)
                reading = await connection.execute(_read["read_head"], params, binary=True)
                row = await reading.fetchone()
                cursor = await trial.enter_async_context(connection.cursor(name, binary=True))
                await cursor.execute(_read[name], params)
                stack.push_async_exit(trial.pop_all())
                return cursor, Head(*row) if row else Head(0, 0)
        except psycopg.Error as error:
            if not left or not is_lost(error):
                raise translate(error, database.where) from error
            await database.heal(error)
    raise AssertionError("the last attempt returns or raises")


def _changed(rows: list[Row], head: Head) -> Feed:
    """A chunk of ``feed_changed``: a row without a sequence number is a memory that is gone."""
    chunk = [row[2:] for row in rows if row[2] is not None]
    return Feed(
        head, index_rows([row for row in chunk if row[1] is not None]), [row[0] for row in chunk if row[1] is None]
    )
