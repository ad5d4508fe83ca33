"""Loading what a batch names, inside its transaction."""

from __future__ import annotations

from collections.abc import Sequence

from longmind.store import refusals
from longmind.store.base import Batch, Put, Space, Update
from longmind.store.plan import Required, Snapshot, StoredLink, required
from longmind.store.postgres.binary import is_id, texts, uuids, valid_ids
from longmind.store.postgres.database import Connection
from longmind.store.postgres.driver import join_queries, load_queries
from longmind.store.postgres.rows import link, stored
from longmind.store.refusals import storable
from longmind.types import Memory, Scope

_write, _read = load_queries("write.sql"), load_queries("read.sql")
_INVOLVED = join_queries(_read["select_memories"], _write["load_involved"])
_BY_IDS = join_queries(_read["select_memories"], _read["and_ids"])


async def lock_agent(connection: Connection, batch: Batch) -> Snapshot:
    """Lock the agent against other writers and begin a snapshot: the head of its journal and the active space."""
    vectors = batch.space is not None or any(
        isinstance(write, (Put, Update)) and write.vector is not None for write in batch.writes
    )
    params = {"tenant": batch.scope.tenant, "agent": batch.scope.agent, "vectors": vectors}
    cursor = await connection.execute(_write["lock_scope"], params, prepare=True, binary=True)
    row = await cursor.fetchone()
    assert row is not None
    return Snapshot(row[0], None if row[1] is None else Space(row[1], row[2]))


async def load(connection: Connection, batch: Batch, snapshot: Snapshot) -> None:
    """Add to a snapshot the records that a batch names, locked until the transaction ends."""
    refusals.require_space(batch, snapshot.active)
    needs = required(batch)
    await _load_memories(connection, batch.scope, needs, snapshot)
    await _load_links(connection, batch.scope, needs, snapshot)


async def _load_memories(connection: Connection, scope: Scope, needs: Required, snapshot: Snapshot) -> None:
    keys = texts(key for key in needs.keys if storable(key))
    params = {"tenant": scope.tenant, "agent": scope.agent, "ids": uuids(valid_ids(needs.ids)), "keys": keys}
    cursor = await connection.execute(_INVOLVED, params, prepare=True, binary=True)
    snapshot.rows = {row[0]: stored(row, scope.tenant, scope.agent) for row in await cursor.fetchall()}


async def _load_links(connection: Connection, scope: Scope, needs: Required, snapshot: Snapshot) -> None:
    deleted = valid_ids(needs.deleted)
    named = [key for key in needs.links if is_id(key[0]) and is_id(key[2]) and storable(key[1])]
    if not deleted and not named:
        return
    params = {
        "tenant": scope.tenant,
        "agent": scope.agent,
        "deleted": uuids(deleted),
        "sources": uuids(key[0] for key in named),
        "relations": texts(key[1] for key in named),
        "targets": uuids(key[2] for key in named),
    }
    cursor = await connection.execute(_write["load_links"], params, prepare=True, binary=True)
    for row in await cursor.fetchall():
        snapshot.links[row[0], row[1], row[2]] = StoredLink(link(row), row[7])


async def load_visible(connection: Connection, scope: Scope, ids: Sequence[str]) -> dict[str, Memory]:
    """Those of these memories that the scope may see, by their ids."""
    params = {"tenant": scope.tenant, "agent": scope.agent, "ids": uuids(valid_ids(ids))}
    cursor = await connection.execute(_BY_IDS, params, prepare=True, binary=True)
    memories = (stored(row, scope.tenant, scope.agent).memory for row in await cursor.fetchall())
    return {memory.id: memory for memory in memories if scope.sees(memory)}
