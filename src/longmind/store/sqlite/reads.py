"""The reads of the contract, each on a connection that the caller lends."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import apsw

from longmind.store import cursors
from longmind.store.base import Feed, Head
from longmind.store.sqlite import rows
from longmind.store.sqlite.queries import FEW, FILTERS, QUERIES, SLOTS, Row, fetch, of_slot
from longmind.store.sqlite.rows import SEQ_BITS, SEQ_MASK, json_list, micros
from longmind.store.sqlite.writer import read_spaces
from longmind.types import Change, Direction, Filter, Json, Link, Memory, Order, Page, Scope, Stats

CHUNK = 5_000
ID_LENGTH = 36
_NONE = (None,) * FEW

LISTS = ("ids", "without_kinds", "states", "users", "keys", "roles", "speakers", "tags_any", "tags_all")
SINGLE_OR_LIST = (("kind", "kinds"), ("session", "sessions"))
"""A single value is compared by equality, so that the index returns its rows in order."""

TIMES = ("since", "until", "recorded_since", "recorded_until", "valid_at")
FLOORS = ("min_importance", "min_trust")

Params = dict[str, Any]


def valid_ids(ids: Iterable[str]) -> list[str]:
    """Return those that have the length of an id, each once, in order. No memory has another."""
    return [id_ for id_ in dict.fromkeys(ids) if len(id_) == ID_LENGTH and id_.isascii()]


def bounds(number: int, viewer: str | None) -> dict[str, Any]:
    """Return the parameters that keep a query inside a scope."""
    return {"scope": number, "begin": number << SEQ_BITS, "end": (number + 1) << SEQ_BITS, "user": viewer}


def get(connection: apsw.Connection, scope: Scope, number: int, ids: Sequence[str]) -> list[Memory]:
    valid = valid_ids(ids)
    if len(valid) == 1:
        fetched = fetch(connection, QUERIES["memory"], (number, valid[0]))
    elif len(valid) <= FEW:
        fetched = fetch(connection, QUERIES["memories_few"], (number, *valid, *_NONE[len(valid) :]))
    else:
        fetched = fetch(connection, QUERIES["memories"], (number, rows.json_list(valid)))
    tenant, agent, viewer = scope.tenant, scope.agent, scope.viewer
    build_memory = rows.memory
    seen = {row[0]: build_memory(row, tenant, agent) for row in fetched if viewer is None or row[1] in ("", viewer)}
    return [seen[id_] for id_ in valid if id_ in seen]


def scan(
    connection: apsw.Connection,
    scope: Scope,
    number: int,
    where: Filter,
    order: Order,
    descending: bool,
    limit: int,
    cursor: str | None,
) -> Page[Memory]:
    query, params = page_query(scope, number, where, order, descending, limit, cursor)
    fetched = fetch(connection, query, params)
    items = tuple([rows.memory(row[1:], scope.tenant, scope.agent) for row in fetched[:limit]])
    following = None
    if len(fetched) > limit:
        following = write_cursor(fetched[limit - 1][0], items[-1].id, order, descending)
    return Page[Memory].model_construct(items=items, cursor=following)


def matching(connection: apsw.Connection, scope: Scope, number: int, where: Filter) -> set[str]:
    clause, params = conditions(scope, number, where)
    return {row[0] for row in fetch(connection, QUERIES["matching"].format(clause=clause), params)}


def links(
    connection: apsw.Connection,
    scope: Scope,
    number: int,
    ids: Sequence[str],
    relation: str | None,
    direction: Direction,
    limit: int,
) -> list[Link]:
    params = {
        "scope": number,
        "user": scope.viewer,
        "ids": rows.json_list(valid_ids(ids)),
        "relation": rows.lookup_text(relation),
        "limit": max(limit, 0),
    }
    return [rows.link(row) for row in fetch(connection, QUERIES[f"links_{direction}"], params)]


def journal(
    connection: apsw.Connection,
    scope: Scope,
    number: int,
    after: int,
    limit: int,
    memory_id: str | None,
    operation: str | None,
) -> list[Change]:
    params = bounds(number, scope.viewer) | {
        "after": (number << SEQ_BITS) + min(max(after, 0), SEQ_MASK),
        "limit": max(limit, 0),
        "memory_id": rows.lookup_text(memory_id),
        "operation": rows.lookup_text(operation),
    }
    of_memory = "journal" if memory_id is None else "journal_of_memory"
    name = of_memory if operation is None else "journal_of_operation"
    with connection:
        fetched = fetch(connection, QUERIES[name], params)
        past = _Past(connection, scope, number, fetched)
    return [_change(row, past) for row in fetched]


class _Past:
    """The memories of some journal lines after each of their changes: the record now, with later changes undone."""

    def __init__(self, connection: apsw.Connection, scope: Scope, number: int, lines: Sequence[Row]) -> None:
        wanted = {row[6]: row[0] for row in reversed(lines) if row[5] in ("put", "update")}
        self._later: dict[str, list[Row]] = defaultdict(list)
        self._now: dict[str, Json] = {}
        if wanted:
            params = bounds(number, None) | {"ids": rows.json_list(wanted), "after": min(wanted.values())}
            for line in fetch(connection, QUERIES["later_lines"], params):
                self._later[line[2]].append(line)
            for row in fetch(connection, QUERIES["memories"], (number, rows.json_list(wanted))):
                self._now[row[0]] = rows.record_json(rows.memory(row, scope.tenant, scope.agent))

    def record_after(self, place: int, memory_id: str) -> Json | None:
        """Return the whole record as a line left it; None if it was erased since."""
        undone: list[str | None] = []
        record = self._now.get(memory_id)
        for line_place, action, _, before in self._later[memory_id]:
            if line_place <= place:
                continue
            if action != "update":
                record = None if before is None else json.loads(before)
                break
            undone.append(before)
        if record is None or None in undone:
            return None
        for before in reversed(undone):
            record = {**record, **json.loads(before or ""), "version": record["version"] - 1}
        return record


def _change(row: Row, past: _Past) -> Change:
    place, operation, at, actor, reason, action, memory_id, before_text, link_text = row
    before = None if before_text is None else json.loads(before_text)
    link = None if link_text is None else Link.model_validate_json(link_text)
    after: Json | None = None
    if action == "link":
        after = None if link is None else link.model_dump(mode="json")
    elif action == "put":
        after = past.record_after(place, memory_id)
    elif action == "update" and before is not None:
        record = past.record_after(place, memory_id)
        after = None if record is None else {name: record[name] for name in before}
    return Change(
        seq=place & SEQ_MASK,
        operation=operation,
        at=rows.moment(at),
        actor=actor,
        reason=reason,
        action=action,
        memory_id=memory_id,
        before=before,
        after=after,
        link=link,
    )


def stats(connection: apsw.Connection, scope: Scope, number: int) -> Stats:
    params = bounds(number, scope.viewer)
    by_kind: Counter[str] = Counter()
    by_state: Counter[str] = Counter()
    with connection:
        active = read_spaces(connection.execute).active
        for kind, state, count in fetch(connection, QUERIES["count_memories"], params):
            by_kind[kind] += count
            by_state[state] += count
        links = _count(connection, QUERIES["count_links"], params)
        changes = _count(connection, QUERIES["count_lines"], params)
        vectors = _count(connection, of_slot("count_vectors", active[0]), params) if active else 0
    memories = by_kind.total()
    return Stats(memories=memories, links=links, changes=changes, by_kind=by_kind, by_state=by_state, vectors=vectors)


def head(connection: apsw.Connection, number: int | None) -> Head:
    seq, epoch = fetch(connection, QUERIES["head"], (number,))[0]
    return Head(seq or 0, epoch or 0)


def feed(connection: apsw.Connection, scope: Scope, number: int | None, after: int, head_now: Head) -> Iterator[Feed]:
    """Yield the chunks of a feed. The caller keeps one read transaction open until the last, with this head."""
    if number is None:
        yield Feed(head_now)
        return
    active = read_spaces(connection.execute).active
    slot = active[0] if active else SLOTS[0]
    params = bounds(number, scope.viewer)
    if after <= 0:
        name = "feed_agent" if scope.all_users else "feed_user"
        cursor = connection.execute(of_slot(name, slot), params)
        fetched = list(map(rows.index_row, islice(cursor, CHUNK)))
        yield Feed(head_now, fetched)
        while len(fetched) == CHUNK:
            fetched = list(map(rows.index_row, islice(cursor, CHUNK)))
            if fetched:
                yield Feed(head_now, fetched)
        return
    params["after"] = params["begin"] + min(after, SEQ_MASK)
    changed = [row[0] for row in fetch(connection, QUERIES["feed_ids"], params)]
    for start in range(0, max(len(changed), 1), CHUNK):
        ids = changed[start : start + CHUNK]
        params["ids"] = rows.json_list(ids)
        fetched = list(map(rows.index_row, fetch(connection, of_slot("feed_rows", slot), params)))
        present = {row.id for row in fetched}
        yield Feed(head_now, fetched, [id_ for id_ in ids if id_ not in present])


def _count(connection: apsw.Connection, query: str, params: dict[str, Any]) -> int:
    return int(fetch(connection, query, params)[0][0])


# -- filters and cursors -----------------------------------------------------------------------------------------------


def conditions(scope: Scope, number: int, where: Filter) -> tuple[str, Params]:
    """Return the WHERE clause of a filter and its parameters."""
    names = ["agent"]
    params: Params = {"scope": number, "begin": number << SEQ_BITS, "end": (number + 1) << SEQ_BITS}
    if not scope.all_users:
        names.append("viewer")
        params["viewer"] = scope.viewer
    for single, many in SINGLE_OR_LIST:
        values = getattr(where, many)
        if values is not None:
            names.append(single if len(values) == 1 else many)
            params[names[-1]] = values[0] if len(values) == 1 else json_list(values)
    for name in LISTS:
        values = getattr(where, name)
        if values is not None:
            names.append(name)
            params[name] = json_list(values)
    if where.tags_all is not None:
        params["tags_all_count"] = len(set(where.tags_all))
    for name in TIMES:
        if (moment := getattr(where, name)) is not None:
            names.append(name)
            params[name] = micros(moment)
    if where.expired is not None and where.expired_at is not None:
        names.append("expired" if where.expired else "not_expired")
        params["expired_at"] = micros(where.expired_at)
    for name in FLOORS:
        if (floor := getattr(where, name)) is not None:
            names.append(name)
            params[name] = floor
    if values := where.metadata_values():
        names.append("metadata")
        params["metadata"] = json.dumps(values)
    if ranges := where.metadata_ranges():
        names.append("metadata_ranges")
        params["metadata_ranges"] = json.dumps(ranges)
    return " AND ".join(FILTERS[name] for name in names), params


def page_query(
    scope: Scope, number: int, where: Filter, order: Order, descending: bool, limit: int, cursor: str | None
) -> tuple[str, Params]:
    """Return the query for a page and one row more, each row preceded by the value it is sorted by.

    Row numbers are sorted first and texts fetched after, so that no text is carried through the sort.
    """
    clause, params = conditions(scope, number, where)
    by, direction = FILTERS[f"by_{order}"], "DESC" if descending else "ASC"
    if order == "occurred":
        clause = f"m.scope = :scope AND {clause}"
    if cursor is not None:
        value, params["id"] = read_cursor(cursor, order, descending)
        params["value"] = (number << SEQ_BITS) + value if order == "recorded" else value
        clause += f" AND ({by}, m.id) {'<' if descending else '>'} (:value, :id)"
    params["limit"] = limit + 1
    ordering = f"ORDER BY {by} {direction}" + ("" if order == "recorded" else f", m.id {direction}")
    return QUERIES["page"].format(by=by, clause=clause, ordering=ordering), params


def write_cursor(value: Any, id_: str, order: Order, descending: bool) -> str:
    return cursors.write_cursor(value & SEQ_MASK if order == "recorded" else value, id_, order, descending)


def read_cursor(cursor: str, order: Order, descending: bool) -> tuple[Any, str]:
    """Return the sort value and id after which a page begins."""
    value, id_ = cursors.read_cursor(cursor, order, descending)
    if order == "recorded" and not 0 <= value <= SEQ_MASK:
        raise cursors.damaged()
    return value, id_
