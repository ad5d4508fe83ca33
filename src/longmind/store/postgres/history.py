"""Reading the journal. A line keeps only what was before, so what came after is derived from what is known later.

For the memories on a page, all their later lines are read newest first, beginning with the record as it is now. The
counters of reads are not journalled: they are told as they are now, or as they were when the memory was deleted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from longmind.store.postgres.binary import is_id, uuids
from longmind.store.postgres.database import Connection, Database, Row
from longmind.store.postgres.driver import join_queries, load_queries
from longmind.store.postgres.reads import LARGEST
from longmind.store.postgres.rows import stored
from longmind.store.refusals import storable
from longmind.types import Change, Json, Link, Scope

_read = load_queries("read.sql")
_BY_IDS = join_queries(_read["select_memories"], _read["and_ids"])


async def journal(
    database: Database, scope: Scope, after: int, limit: int, memory_id: str | None, operation: str | None
) -> list[Change]:
    """The lines a scope may see, in order, each with what came after it."""
    parts = [_read["select_lines"]]
    params: Json = {"tenant": scope.tenant, "agent": scope.agent}
    params |= {"after": max(-1, min(after, LARGEST)), "limit": min(limit, LARGEST)}
    if limit < 1 or not (memory_id is None or is_id(memory_id)) or not (operation is None or storable(operation)):
        return []
    if not scope.all_users:
        parts.append(_read["and_line_seen"])
        params["user"] = scope.viewer
    if memory_id is not None:
        parts.append(_read["and_memory"])
        params["memory_id"] = memory_id
    if operation is not None:
        parts.append(_read["and_operation"])
        params["operation"] = operation
    query = join_queries(*parts, _read["order_lines"])

    async def work(connection: Connection) -> list[Change]:
        async with database.transaction(connection, scope.tenant, first=_read["one_reading"]):
            cursor = await connection.execute(query, params, prepare=True, binary=True)
            lines = await cursor.fetchall()
            afters = await _afters(connection, scope, lines)
        return [_change_of(line, afters) for line in lines]

    return await database.attempt(work)


async def _afters(connection: Connection, scope: Scope, lines: Sequence[Row]) -> dict[int, Json | None]:
    """What each put and update among these lines left behind, by its number."""
    changed = [line for line in lines if line[5] in ("put", "update")]
    if not changed:
        return {}
    params: dict[str, Any] = {
        "tenant": scope.tenant,
        "agent": scope.agent,
        "ids": uuids(dict.fromkeys(line[6] for line in changed)),
        "after": min(line[0] for line in changed) - 1,
    }
    cursor = await connection.execute(_BY_IDS, params, prepare=True, binary=True)
    now = [stored(row, scope.tenant, scope.agent).memory for row in await cursor.fetchall()]
    cursor = await connection.execute(_read["later_lines"], params, prepare=True, binary=True)
    return _wound_back({memory.id: memory.model_dump(mode="json") for memory in now}, await cursor.fetchall())


def _wound_back(records: dict[str, Json], newest_first: Sequence[Row]) -> dict[int, Json | None]:
    """What each line left behind. ``records`` holds each memory as the line before it in this order found it."""
    afters: dict[int, Json | None] = {}
    for seq, action, id, text in newest_first:
        before: Json | None = None if text is None else json.loads(text)
        record = records.pop(id, None)
        if action == "put":
            afters[seq] = record
        elif action in ("delete", "erase"):
            if before is not None:
                records[id] = before
        elif record is not None and before is not None:
            afters[seq] = {name: record[name] for name in before}
            records[id] = {**record, **before, "version": record["version"] - 1}
    return afters


def _change_of(line: Row, afters: dict[int, Json | None]) -> Change:
    seq, operation, at, actor, reason, action, memory_id, before, link = line
    linked = None if link is None else Link.model_validate_json(link)
    after = linked.model_dump(mode="json") if action == "link" and linked is not None else afters.get(seq)
    return Change(
        seq=seq,
        operation=operation,
        at=at,
        actor=actor,
        reason=reason,
        action=action,
        memory_id=memory_id,
        before=None if before is None else json.loads(before),
        after=after,
        link=linked,
    )
