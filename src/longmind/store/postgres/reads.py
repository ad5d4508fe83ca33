"""Reads of memories, links and counts. Each is one statement, and so a consistent read."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from longmind.store import cursors
from longmind.store.base import Head
from longmind.store.plan import StoredMemory
from longmind.store.postgres.binary import is_id, texts, uuids, valid_ids
from longmind.store.postgres.database import Database, Row
from longmind.store.postgres.driver import join_queries, load_queries
from longmind.store.postgres.rows import link, stored
from longmind.store.refusals import require_limit, storable
from longmind.types import Direction, Filter, Json, Link, Memory, Order, Page, Scalar, Scope, Stats

_read = load_queries("read.sql")
_BY_IDS = join_queries(_read["select_memories"], _read["and_ids"])
LARGEST = 2**63 - 1
_LISTS = ("kinds", "without_kinds", "states", "sessions", "users", "keys", "tags_any", "tags_all", "roles", "speakers")
_VALUES = ("since", "until", "recorded_since", "recorded_until", "valid_at", "min_importance", "min_trust")
_Place = tuple[Any, str]
"""The value a memory is sorted by, and its id, which breaks ties."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


async def get(database: Database, scope: Scope, ids: Sequence[str]) -> list[Memory]:
    valid = valid_ids(ids)
    if not valid:
        return []
    rows = await database.fetch(_BY_IDS, _names(scope) | {"ids": uuids(valid)})
    records = {row[0]: stored(row, scope.tenant, scope.agent).memory for row in rows}
    return [records[id] for id in valid if id in records and scope.sees(records[id])]


async def scan(
    database: Database,
    scope: Scope,
    where: Filter,
    order: Order,
    descending: bool,
    limit: int,
    cursor: str | None,
) -> Page[Memory]:
    require_limit(limit)
    place = None if cursor is None else _read_cursor(cursor, order, descending)
    filtered = _filtered("select_memories", scope, where)
    if filtered is None:
        return Page[Memory](items=())
    query, params = filtered
    direction = f"{order}_descending" if descending else order
    if place is not None:
        query = join_queries(query, _read[f"and_after_{direction}"])
        params |= {"place": place[0], "place_id": place[1]}
    rows = await database.fetch(join_queries(query, _read[f"order_{direction}"]), params | {"limit": limit + 1})
    records = [stored(row, scope.tenant, scope.agent) for row in rows[:limit]]
    following = _write_cursor(records[-1], order, descending) if len(rows) > limit else None
    return Page[Memory].model_construct(items=tuple(row.memory for row in records), cursor=following)


async def matching(database: Database, scope: Scope, where: Filter) -> set[str]:
    filtered = _filtered("select_ids", scope, where)
    return set() if filtered is None else {row[0] for row in await database.fetch(*filtered)}


async def links(
    database: Database, scope: Scope, ids: Sequence[str], relation: str | None, direction: Direction, limit: int
) -> list[Link]:
    valid = valid_ids(ids)
    if not valid or limit < 1 or (relation is not None and not storable(relation)):
        return []
    parts = [_read["select_links"], _read[f"and_{direction}"]]
    params = _names(scope) | {"ids": uuids(valid), "limit": min(limit, LARGEST)}
    if relation is not None:
        parts.append(_read["and_relation"])
        params["relation"] = relation
    if not scope.all_users:
        parts.append(_read["and_ends_seen"])
        params["user"] = scope.viewer
    return [link(row) for row in await database.fetch(join_queries(*parts, _read["order_links"]), params)]


async def stats(database: Database, scope: Scope) -> Stats:
    rows = await database.fetch(_read["count_all"], _names(scope) | {"user": scope.viewer})
    kinds: Counter[str] = Counter()
    states: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for what, kind, state, count, vectors in rows:
        totals[what] += count
        if what == "memories":
            kinds[kind] += count
            states[state] += count
            totals["vectors"] += vectors
    return Stats(
        memories=totals["memories"],
        links=totals["links"],
        changes=totals["changes"],
        by_kind=dict(sorted(kinds.items())),
        by_state=dict(sorted(states.items())),
        vectors=totals["vectors"],
    )


async def head(database: Database, scope: Scope) -> Head:
    return Head(*(await database.fetch(_read["read_head"], _names(scope)))[0])


async def scopes(database: Database) -> list[Scope]:
    rows = await fetch_of_all(database, _read["list_scopes"])
    return [Scope(tenant=tenant, agent=agent, all_users=True) for tenant, agent in rows]


async def fetch_of_all(database: Database, query: bytes) -> list[Row]:
    """Return the rows of a query about all tenants; a role that sees one at a time asks for each."""
    if database.unrestricted:
        return await database.fetch(query)
    names = await database.fetch(_read["tenant_names"])
    return [row for (tenant,) in names for row in await database.fetch(query, {"tenant": tenant})]


def _names(scope: Scope) -> Json:
    return {"tenant": scope.tenant, "agent": scope.agent}


# -- filters and cursors -----------------------------------------------------------------------------------------------


def _filtered(beginning: str, scope: Scope, where: Filter) -> tuple[bytes, Json] | None:
    """A query of ``read.sql`` narrowed to what a scope sees and a filter asks for. None: nothing can match."""
    parts = [_read[beginning]]
    params: Json = {"tenant": scope.tenant, "agent": scope.agent}
    if not scope.all_users:
        parts.append(_read["and_seen"])
        params["user"] = scope.viewer
    if where.ids is not None:
        parts.append(_read["and_ids"])
        params["ids"] = uuids(valid_ids(where.ids))
    for name in _LISTS:
        if (value := getattr(where, name)) is not None:
            parts.append(_read[f"and_{name}"])
            params[name] = list(value)
    for name in _VALUES:
        if (value := getattr(where, name)) is not None:
            parts.append(_read[f"and_{name}"])
            params[name] = value
    if where.expired is not None and where.expired_at is not None:
        parts.append(_read["and_expired" if where.expired else "and_not_expired"])
        params["expired_at"] = where.expired_at
    if where.metadata and not all(map(storable, where.metadata)):
        return None
    if values := where.metadata_values():
        if not all(map(_storable_value, values.values())):
            return None
        parts.append(_read["and_metadata"])
        params["metadata_keys"] = texts(values)
        params["metadata_values"] = texts(json.dumps(value) for value in values.values())
    if ranges := where.metadata_ranges():
        parts.append(_read["and_metadata_ranges"])
        params["range_keys"] = texts(key for key, _, _ in ranges)
        params["range_comparisons"] = texts(comparison for _, comparison, _ in ranges)
        params["range_bounds"] = texts(json.dumps(bound) for _, _, bound in ranges)
    return join_queries(*parts), params


def _storable_value(value: Scalar) -> bool:
    if isinstance(value, str):
        return storable(value)
    return not isinstance(value, float) or math.isfinite(value)


def _write_cursor(last: StoredMemory, order: Order, descending: bool) -> str:
    """The cursor that goes on after a memory."""
    memory = last.memory
    value: float
    match order:
        case "recorded":
            value = last.seq
        case "occurred":
            value = _microseconds(memory.occurred_at)
        case "importance":
            value = memory.importance
        case "accessed":
            accessed = memory.last_accessed_at
            value = cursors.NEVER if accessed is None else _microseconds(accessed)
    return cursors.write_cursor(value, memory.id, order, descending)


def _read_cursor(cursor: str, order: Order, descending: bool) -> _Place:
    """Where a cursor points."""
    value, id = cursors.read_cursor(cursor, order, descending)
    if not is_id(id):
        raise cursors.damaged()
    if order == "importance":
        return float(value), id
    if order == "recorded":
        return value, id
    if order == "accessed" and value == cursors.NEVER:
        return None, id
    try:
        return _EPOCH + timedelta(microseconds=value), id
    except OverflowError as error:
        raise cursors.damaged() from error


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
