"""``apply``: one batch, one transaction, whatever happens to the connection.

Three ways lead through it. A batch of nothing but new memories is a single statement. A batch that only counts reads
is another. Everything else locks the agent's row of ``scopes``, loads what it names, works out the outcome (``plan``)
and stores it.

When the connection breaks before the server can have committed, the batch is tried again. When it breaks later, nobody
knows whether it was committed, so the journal is asked: the agent's lock is taken first, which waits until the lost
transaction has ended either way.
"""

from __future__ import annotations

from typing import Any

from longmind.clock import as_utc
from longmind.errors import StoreUnavailable
from longmind.store import refusals
from longmind.store.base import Batch, Put, Receipt, Touch, erases
from longmind.store.plan import WritePlan, as_stored, plan_batch
from longmind.store.postgres import flush, snapshots
from longmind.store.postgres.binary import halfvecs, uuids, valid_ids
from longmind.store.postgres.database import ATTEMPTS, Connection, Database
from longmind.store.postgres.driver import load_queries, psycopg
from longmind.store.postgres.failures import RETRY, is_lost, translate
from longmind.store.postgres.loading import load, load_visible, lock_agent
from longmind.store.postgres.rows import memory_columns
from longmind.text.index_terms import index_terms
from longmind.types import Json, Memory

_write = load_queries("write.sql")


async def apply(database: Database, batch: Batch) -> Receipt:
    """Apply all writes of a batch, durably, or none of them."""
    refusals.require_storable(batch)
    if not batch.idempotent:
        if not batch.writes and batch.space is None:
            return Receipt(batch.operation, (), ())
        if len(batch.writes) == 1 and isinstance(batch.writes[0], Touch) and batch.space is None:
            return await _touch(database, batch, batch.writes[0])
        puts = [write for write in batch.writes if isinstance(write, Put)]
        if puts and len(puts) == len(batch.writes) and flush.fits_one_statement([put.memory for put in puts]):
            receipt = await _put_all(database, batch, puts)
            if receipt is not None:
                return receipt
    return await _transact(database, batch)


# -- reads that are counted ------------------------------------------------------------------------------------------


async def _touch(database: Database, batch: Batch, write: Touch) -> Receipt:
    params = _names(batch) | {
        "user": batch.scope.viewer,
        "ids": uuids(valid_ids(write.ids)),
        "at": as_utc(write.at),
        "interaction": float(write.interaction),
    }

    async def work(connection: Connection) -> None:
        await database.execute(connection, _write["touch"], params)

    await database.attempt(work)
    return Receipt(batch.operation, (), ())


# -- nothing but new memories ----------------------------------------------------------------------------------------


async def _put_all(database: Database, batch: Batch, puts: list[Put]) -> Receipt | None:
    """Store new memories in one statement. Return None, with nothing stored, if ids or keys may be taken."""
    for put in puts:
        refusals.require_in_scope(batch.scope, put.memory)
    lengths = {len(put.vector) for put in puts if put.vector is not None}
    keys = [(put.memory.user, put.memory.key) for put in puts if put.memory.key is not None]
    ids = {put.memory.id for put in puts}
    if len(lengths) > 1 or 0 in lengths or len(set(keys)) < len(keys) or len(ids) < len(puts):
        return None
    memories = [as_stored(put.memory) for put in puts]
    params = memory_columns(memories, [index_terms(memory) for memory in memories]) | _names(batch)
    params |= _why(batch) | {
        "count": len(puts),
        "dimensions": lengths.pop() if lengths else 0,
        "space": batch.space,
        "vector": halfvecs(database.halfvec, [put.vector for put in puts]),
    }
    if await _put_once(database, batch, memories[0], params):
        return Receipt(batch.operation, tuple(memories), (True,) * len(memories))
    return None


async def _put_once(database: Database, batch: Batch, first: Memory, params: Json) -> bool:
    """Run the statement until its outcome is known. Return True if it stored everything, False if nothing."""
    unsure = False
    for left in reversed(range(ATTEMPTS)):
        try:
            async with database.connection() as connection:
                if unsure and await _was_put(database, connection, batch, first):
                    return True
                try:
                    cursor = await database.execute(connection, _write["put_all"], params)
                    done = await cursor.fetchone() is not None
                except psycopg.errors.UniqueViolation:
                    done = False
                # A statement that was thought lost may have come through at last and taken the ids first.
                return done or (unsure and await _was_put(database, connection, batch, first))
        except psycopg.Error as error:
            unsure = unsure or is_lost(error)
            if not left or not (is_lost(error) or error.sqlstate in RETRY):
                raise _outcome_unknown(database, error) if unsure else translate(error, database.where) from error
            await database.heal(error)
    raise AssertionError("the last attempt returns or raises")


async def _was_put(database: Database, connection: Connection, batch: Batch, first: Memory) -> bool:
    async with database.transaction(connection, batch.scope.tenant):
        await lock_agent(connection, batch)
        params = _names(batch) | {"memory_id": first.id, "operation": batch.operation}
        return await _is_true(connection, "was_put", params)


# -- everything else -------------------------------------------------------------------------------------------------


async def _transact(database: Database, batch: Batch) -> Receipt:
    unsure: WritePlan | None = None
    for left in reversed(range(ATTEMPTS)):
        asking = unsure is not None
        try:
            async with database.connection() as connection:
                if unsure is not None and await _was_written(database, connection, batch, unsure):
                    return unsure.receipt()
                asking, unsure = False, None
                async with database.transaction(connection, batch.scope.tenant):
                    known = await _begin(connection, batch)
                    if isinstance(known, Receipt):
                        return known
                    if any(map(erases, batch.writes)):
                        await snapshots.take_back(connection, batch.scope)
                    unsure = known  # from here on a lost connection leaves the outcome open
                    await flush.store(connection, batch, known, database.halfvec)
                return known.receipt()
        except psycopg.Error as error:
            lost = is_lost(error)
            if not lost and not asking:
                unsure = None  # the server answered: it was rolled back
            if not left or not (lost or error.sqlstate in RETRY):
                raise _outcome_unknown(database, error) if unsure else translate(error, database.where) from error
            await database.heal(error)
    raise AssertionError("the last attempt returns or raises")


async def _begin(connection: Connection, batch: Batch) -> WritePlan | Receipt:
    """Lock the agent and plan the batch; return a receipt instead if it was applied before."""
    snapshot = await lock_agent(connection, batch)
    if batch.idempotent and (done := await _replayed(connection, batch)):
        return done
    await load(connection, batch, snapshot)
    return plan_batch(batch, snapshot)


async def _replayed(connection: Connection, batch: Batch) -> Receipt | None:
    params = _names(batch) | {"user": batch.scope.user or "", "operation": batch.operation}
    cursor = await connection.execute(_write["find_operation"], params, prepare=True, binary=True)
    row = await cursor.fetchone()
    if row is None:
        return None
    refusals.require_same_writes(batch.operation, row[0], batch.fingerprint())
    visible = await load_visible(connection, batch.scope, row[1])
    memories = tuple(visible[id] for id in row[1] if id in visible)
    return Receipt(batch.operation, memories, (False,) * len(memories), replayed=True)


async def _was_written(database: Database, connection: Connection, batch: Batch, plan: WritePlan) -> bool:
    """Return whether a batch was committed before its connection broke. An idempotent one is simply repeated."""
    if batch.idempotent or not plan.lines:
        return False
    line = plan.lines[0]
    params = _names(batch) | {
        "seq": plan.snapshot.head + 1,
        "memory_id": line.memory_id,
        "action": line.action,
        "operation": batch.operation,
        "at": as_utc(batch.at),
    }
    async with database.transaction(connection, batch.scope.tenant):
        await lock_agent(connection, batch)
        return await _is_true(connection, "was_written", params)


async def _is_true(connection: Connection, name: str, params: Json) -> bool:
    row = await (await connection.execute(_write[name], params)).fetchone()
    return bool(row and row[0])


def _names(batch: Batch) -> dict[str, Any]:
    return {"tenant": batch.scope.tenant, "agent": batch.scope.agent}


def _why(batch: Batch) -> dict[str, Any]:
    return {"operation": batch.operation, "at": as_utc(batch.at), "actor": batch.actor, "reason": batch.reason}


def _outcome_unknown(database: Database, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(
        f"The connection to {database.where} broke while a change was being committed, and the server cannot be"
        f" asked: {database.where.clean(error)}. It is not known whether the change was kept.",
        hint="When the server is back, look for it in the journal, or repeat it with an operation id of your own.",
        outcome="unknown",
    )
