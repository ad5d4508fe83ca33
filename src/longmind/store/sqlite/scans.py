"""From a ``Filter`` to SQL, and the cursor that remembers where a page ended."""

from __future__ import annotations

import json
from typing import Any

from longmind.store import cursors
from longmind.store.sqlite.queries import FILTERS, QUERIES
from longmind.store.sqlite.rows import SEQ_BITS, SEQ_MASK, listed, micros
from longmind.types import Filter, Order, Scope

LISTS = ("ids", "states", "users", "keys", "roles", "speakers", "tags_any", "tags_all")
ONE_OR_LIST = (("kind", "kinds"), ("session", "sessions"))
"""One value is asked for by equality: its rows then come out of the index in the order of their numbers."""

TIMES = ("since", "until", "recorded_since", "recorded_until", "valid_at")
FLOORS = ("min_importance", "min_trust")

Params = dict[str, Any]


def conditions(scope: Scope, number: int, where: Filter) -> tuple[str, Params]:
    """The WHERE clause of a filter and its parameters."""
    names = ["agent"]
    params: Params = {"scope": number, "begin": number << SEQ_BITS, "end": (number + 1) << SEQ_BITS}
    if scope.user is not None:
        names.append("viewer")
        params["viewer"] = scope.user
    for one, many in ONE_OR_LIST:
        values = getattr(where, many)
        if values is not None:
            names.append(one if len(values) == 1 else many)
            params[names[-1]] = values[0] if len(values) == 1 else listed(values)
    for name in LISTS:
        values = getattr(where, name)
        if values is not None:
            names.append(name)
            params[name] = listed(values)
    for name in TIMES:
        if (moment := getattr(where, name)) is not None:
            names.append(name)
            params[name] = micros(moment)
    for name in FLOORS:
        if (floor := getattr(where, name)) is not None:
            names.append(name)
            params[name] = floor
    if where.metadata:
        names.append("metadata")
        params["metadata"] = json.dumps(dict(where.metadata))
    return " AND ".join(FILTERS[name] for name in names), params


def page_query(
    scope: Scope, number: int, where: Filter, order: Order, descending: bool, limit: int, cursor: str | None
) -> tuple[str, Params]:
    """One row more than the page holds: each with the value it is sorted by in front.

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
    return cursors.write(value & SEQ_MASK if order == "recorded" else value, id_, order, descending)


def read_cursor(cursor: str, order: Order, descending: bool) -> tuple[Any, str]:
    """The value and id after which a page begins."""
    value, id_ = cursors.read(cursor, order, descending)
    if order == "recorded" and not 0 <= value <= SEQ_MASK:
        raise cursors.damaged()
    return value, id_
