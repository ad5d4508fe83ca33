"""Planner statistics of tables that have just been filled.

The server gathers statistics by itself about once a minute. Until it has, it takes all an agent holds for a single row
and every index that begins with tenant and agent for as good as any other: looking up one memory of 60,000 then reads
the agent's part of an index, and an update takes 200 milliseconds instead of five. So whoever fills a store asks for
statistics once, if there are none.
"""

from __future__ import annotations

import logging

from longmind.store.postgres.database import Database
from longmind.store.postgres.driver import load_queries, psycopg

ENOUGH = 1_000
"""Writes of a process after which statistics matter."""

_log = logging.getLogger(__name__)
_queries = load_queries("statistics.sql")


class Statistics:
    """Makes sure, once in a process, that the tables have planner statistics."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._written = 0

    async def after(self, writes: int) -> None:
        """Count writes. When they reach ``ENOUGH``, gather statistics if there are none."""
        before, self._written = self._written, self._written + writes
        if before < ENOUGH <= self._written:
            try:
                await self._gather()
            except psycopg.Error as error:  # the writes are made and have succeeded, whatever becomes of this
                _log.warning("No statistics of %s: %s", self._database.where, self._database.where.clean(error))

    async def _gather(self) -> None:
        async with self._database.connection() as connection:
            known = await (await connection.execute(_queries["known"])).fetchone()
            if known is None or not known[0]:
                await connection.execute(_queries["gather"])
