"""What erasure reads of the journal, and the rewriting of the tables' files.

PostgreSQL keeps the old version of every row that was changed or deleted until a vacuum, and its bytes in the pages of
the table's file even after one. ``scrub`` rewrites the tables into new files, which leaves the old ones to the file
system. What was written to the write-ahead log, to replicas and to backups is not in reach from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from longmind.store.base import Scrubbed
from longmind.store.postgres.binary import uuids, valid_ids
from longmind.store.postgres.database import Connection, Database
from longmind.store.postgres.driver import load_queries, psycopg
from longmind.store.postgres.reads import fetch_of_all
from longmind.store.reads import link_key
from longmind.types import Link, Scope

_erasure = load_queries("erasure.sql")
NOT_DONE = (
    "The write-ahead log keeps what was written until its segments are reused or archived away.",
    "Replicas, archived logs and backups keep what they copied; remove or rewrite them yourself.",
)


async def past_links(
    database: Database, scope: Scope, ids: Sequence[str], direction: Literal["out", "in"]
) -> list[Link]:
    """Return every link that leaves or reaches these memories or ever did, as far as the journal tells."""
    params = {"tenant": scope.tenant, "agent": scope.agent, "user": scope.viewer, "ids": uuids(valid_ids(ids))}
    rows = await database.fetch(_erasure[f"past_links_{direction}"], params)
    links = [Link.model_validate_json(text) for (text,) in rows]
    return list({link_key(link): link for link in links}.values())


async def past_ids(database: Database, scope: Scope) -> list[str]:
    """Return the id of every memory of the journal that belongs, or belonged, to the scope's user."""
    params = {"tenant": scope.tenant, "agent": scope.agent, "user": scope.viewer}
    return [id for (id,) in await database.fetch(_erasure["past_ids"], params)]


async def past_scopes(database: Database) -> list[Scope]:
    """Return every tenant and agent that holds something or ever did."""
    rows = await fetch_of_all(database, _erasure["past_scopes"])
    return [Scope(tenant=tenant, agent=agent, all_users=True) for tenant, agent in rows]


async def scrub(database: Database) -> Scrubbed:
    """Rewrite every table of the store into a new file. Readers and writers of a table wait meanwhile."""
    database.require_all_tenants()
    rewrites = [query for name, query in _erasure.items() if name.startswith("rewrite_")]

    async def rewrite(connection: Connection) -> None:
        for query in rewrites:
            await connection.execute(query)

    await database.attempt(rewrite)
    done = [f"Rewrote {len(rewrites)} tables and their indexes into new files (VACUUM FULL): no dead rows are left."]
    not_done = list(NOT_DONE)
    try:
        async with database.connection() as connection:
            await connection.execute(_erasure["checkpoint"])
        done.append("Wrote all changed pages to the files (CHECKPOINT).")
    except psycopg.errors.InsufficientPrivilege:
        not_done.insert(0, "This user may not run CHECKPOINT; an administrator of the database may.")
    return Scrubbed(tuple(done), tuple(not_done))
