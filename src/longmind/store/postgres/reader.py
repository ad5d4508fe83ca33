"""Everything that reads memories, links and counts. Each is one statement, and so one moment of the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from longmind.store.base import Head
from longmind.store.postgres import pages
from longmind.store.postgres.binary import uuids
from longmind.store.postgres.database import Database
from longmind.store.postgres.filters import narrowed
from longmind.store.postgres.ids import well_formed
from longmind.store.postgres.queries import queries, together
from longmind.store.postgres.rows import link, stored
from longmind.store.refusals import require_limit, storable
from longmind.types import Direction, Filter, Json, Link, Memory, Order, Page, Scope, Stats

_read = queries("read.sql")
_BY_IDS = together(_read["select_memories"], _read["and_ids"])
LARGEST = 2**63 - 1


async def get(database: Database, scope: Scope, ids: Sequence[str]) -> list[Memory]:
    wanted = well_formed(ids)
    if not wanted:
        return []
    rows = await database.fetch(_BY_IDS, _names(scope) | {"ids": uuids(wanted)})
    found = {row[0]: stored(row, scope.tenant, scope.agent).memory for row in rows}
    return [found[id] for id in wanted if id in found and scope.sees(found[id])]


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
    place = None if cursor is None else pages.read(cursor, order, descending)
    asked = narrowed("select_memories", scope, where)
    if asked is None:
        return Page[Memory](items=())
    query, params = asked
    direction = f"{order}_descending" if descending else order
    if place is not None:
        query = together(query, _read[f"and_after_{direction}"])
        params |= {"place": place[0], "place_id": place[1]}
    rows = await database.fetch(together(query, _read[f"order_{direction}"]), params | {"limit": limit + 1})
    found = [stored(row, scope.tenant, scope.agent) for row in rows[:limit]]
    following = pages.write(found[-1], order, descending) if len(rows) > limit else None
    return Page[Memory].model_construct(items=tuple(row.memory for row in found), cursor=following)


async def matching(database: Database, scope: Scope, where: Filter) -> set[str]:
    asked = narrowed("select_ids", scope, where)
    return set() if asked is None else {row[0] for row in await database.fetch(*asked)}


async def links(
    database: Database, scope: Scope, ids: Sequence[str], relation: str | None, direction: Direction, limit: int
) -> list[Link]:
    wanted = well_formed(ids)
    if not wanted or limit < 1 or (relation is not None and not storable(relation)):
        return []
    parts = [_read["select_links"], _read[f"and_{direction}"]]
    params = _names(scope) | {"ids": uuids(wanted), "limit": min(limit, LARGEST)}
    if relation is not None:
        parts.append(_read["and_relation"])
        params["relation"] = relation
    if scope.user is not None:
        parts.append(_read["and_ends_seen"])
        params["user"] = scope.user
    return [link(row) for row in await database.fetch(together(*parts, _read["order_links"]), params)]


async def stats(database: Database, scope: Scope) -> Stats:
    rows = await database.fetch(_read["count_all"], _names(scope) | {"user": scope.user})
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
    return [Scope(tenant=tenant, agent=agent) for tenant, agent in await database.fetch(_read["list_scopes"])]


def _names(scope: Scope) -> Json:
    return {"tenant": scope.tenant, "agent": scope.agent}
