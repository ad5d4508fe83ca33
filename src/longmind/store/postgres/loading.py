"""Reading what a batch names, inside its transaction."""

from __future__ import annotations

from collections.abc import Sequence

from longmind.store import refusals
from longmind.store.base import AddLink, Batch, Delete, Put, RemoveLink, Space, Touch, Update
from longmind.store.postgres.binary import texts, uuids
from longmind.store.postgres.database import Connection
from longmind.store.postgres.ids import is_id, well_formed
from longmind.store.postgres.plan import Loaded
from longmind.store.postgres.queries import queries, together
from longmind.store.postgres.rows import link, stored
from longmind.store.refusals import storable
from longmind.types import Memory, Scope

_write, _read = queries("write.sql"), queries("read.sql")
_INVOLVED = together(_read["select_memories"], _write["load_involved"])
_BY_IDS = together(_read["select_memories"], _read["and_ids"])


async def hold(connection: Connection, batch: Batch) -> Loaded:
    """Keep other writers of the agent out; how far its journal has come, and the space that vectors must fit."""
    vectors = batch.space is not None or any(
        isinstance(write, (Put, Update)) and write.vector is not None for write in batch.writes
    )
    params = {"tenant": batch.scope.tenant, "agent": batch.scope.agent, "vectors": vectors}
    cursor = await connection.execute(_write["lock_scope"], params, prepare=True, binary=True)
    row = await cursor.fetchone()
    assert row is not None
    return Loaded(row[0], None if row[1] is None else Space(row[1], row[2]))


async def load(connection: Connection, batch: Batch, loaded: Loaded) -> Loaded:
    """Add the records a batch names, held until the transaction ends."""
    refusals.require_space(batch, loaded.active)
    await _load_memories(connection, batch, loaded)
    await _load_links(connection, batch, loaded)
    return loaded


async def _load_memories(connection: Connection, batch: Batch, loaded: Loaded) -> None:
    ids: list[str] = []
    keys: list[str] = []
    for write in batch.writes:
        match write:
            case Put(memory=memory):
                ids.append(memory.id)
                if memory.key is not None:
                    keys.append(memory.key)
            case Update(id=id, changes=changes):
                ids.append(id)
                if isinstance(key := changes.get("key"), str) and storable(key):
                    keys.append(key)
            case Delete(id=id):
                ids.append(id)
            case AddLink(link=new):
                ids += (new.source, new.target)
            case RemoveLink():
                ids += (write.source, write.target)
            case Touch():
                ids += write.ids
    scope = batch.scope
    params = {"tenant": scope.tenant, "agent": scope.agent, "ids": uuids(well_formed(ids)), "keys": texts(keys)}
    cursor = await connection.execute(_INVOLVED, params, prepare=True, binary=True)
    loaded.rows = {row[0]: stored(row, scope.tenant, scope.agent) for row in await cursor.fetchall()}


async def _load_links(connection: Connection, batch: Batch, loaded: Loaded) -> None:
    deleted = well_formed(write.id for write in batch.writes if isinstance(write, Delete))
    named: list[tuple[str, str, str]] = []
    for write in batch.writes:
        if isinstance(write, AddLink):
            named.append((write.link.source, write.link.relation, write.link.target))
        elif isinstance(write, RemoveLink) and is_id(write.source) and is_id(write.target) and storable(write.relation):
            named.append((write.source, write.relation, write.target))
    if not deleted and not named:
        return
    params = {
        "tenant": batch.scope.tenant,
        "agent": batch.scope.agent,
        "deleted": uuids(deleted),
        "sources": uuids(key[0] for key in named),
        "relations": texts(key[1] for key in named),
        "targets": uuids(key[2] for key in named),
    }
    cursor = await connection.execute(_write["load_links"], params, prepare=True, binary=True)
    for row in await cursor.fetchall():
        key = (row[0], row[1], row[2])
        loaded.links[key] = link(row)
        loaded.link_users[key] = row[7]


async def seen(connection: Connection, scope: Scope, ids: Sequence[str]) -> dict[str, Memory]:
    """Those of these memories that the scope may see, by their ids."""
    params = {"tenant": scope.tenant, "agent": scope.agent, "ids": uuids(well_formed(ids))}
    cursor = await connection.execute(_BY_IDS, params, prepare=True, binary=True)
    found = (stored(row, scope.tenant, scope.agent).memory for row in await cursor.fetchall())
    return {memory.id: memory for memory in found if scope.sees(memory)}
