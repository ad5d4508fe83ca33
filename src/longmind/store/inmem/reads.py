"""Reading an agent's state: filters, pages, index rows, and the journal as changes.

A journal line keeps only what was before. What came after an update is what a later line of the same memory has as
those fields' values before, or else what the record says now; what came after a put is the whole record, with later
updates undone the same way. Reads are not journalled: their counts are given as they are now, or as they were when the
memory was deleted.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from longmind.store import cursors
from longmind.store.base import IndexRow, Space
from longmind.store.inmem.state import AgentState, Row
from longmind.store.plan import JournalLine
from longmind.store.refusals import require_limit
from longmind.types import Change, Filter, Json, Memory, Order, Page, Scalar

Place = tuple[float, str]
"""The value a row is sorted by, and its id, which breaks ties."""

_COMPARISONS = {"gt": operator.gt, "gte": operator.ge, "lt": operator.lt, "lte": operator.le}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


# -- filters -----------------------------------------------------------------------------------------------------------


def matches(memory: Memory, where: Filter) -> bool:
    """Return whether a memory has everything the filter asks for."""
    return (
        _any_of(memory.id, where.ids)
        and _any_of(memory.kind, where.kinds)
        and _any_of(memory.state, where.states)
        and _any_of(memory.session, where.sessions)
        and _any_of(memory.user, where.users)
        and _any_of(memory.key, where.keys)
        and _any_of(memory.source.role, where.roles)
        and _any_of(memory.source.name, where.speakers)
        and (where.tags_any is None or any(tag in memory.tags for tag in where.tags_any))
        and (where.tags_all is None or all(tag in memory.tags for tag in where.tags_all))
        and _within(memory.occurred_at, where.since, where.until)
        and _within(memory.recorded_at, where.recorded_since, where.recorded_until)
        and (where.valid_at is None or _valid(memory, where.valid_at))
        and where.matches_expiry(memory)
        and (where.min_importance is None or memory.importance >= where.min_importance)
        and (where.min_trust is None or memory.trust >= where.min_trust)
        and (where.without_kinds is None or memory.kind not in where.without_kinds)
        and all(_equals(memory.metadata.get(key), value) for key, value in where.metadata_values().items())
        and all(_compares(memory.metadata.get(key), name, bound) for key, name, bound in where.metadata_ranges())
    )


def _any_of(value: str | None, wanted: Collection[str] | None) -> bool:
    return wanted is None or (value is not None and value in wanted)


def _within(moment: datetime, since: datetime | None, until: datetime | None) -> bool:
    return (since is None or moment >= since) and (until is None or moment < until)


def _valid(memory: Memory, at: datetime) -> bool:
    return (memory.valid_from is None or memory.valid_from <= at) and (memory.valid_to is None or memory.valid_to > at)


def _equals(stored: Any, wanted: Scalar) -> bool:
    """Equality as JSON has it: a number is not a truth value nor a string, but 1 and 1.0 are one number."""
    if isinstance(wanted, bool) or isinstance(stored, bool):
        return stored is wanted
    if isinstance(wanted, str):
        return isinstance(stored, str) and stored == wanted
    return isinstance(stored, (int, float)) and math.isfinite(wanted) and stored == wanted


def _compares(stored: Any, comparison: str, bound: Any) -> bool:
    """Return whether a value is within a bound. Numbers are compared with numbers, texts with texts."""
    if isinstance(bound, str) != isinstance(stored, str) or isinstance(stored, bool):
        return False
    return isinstance(stored, (str, int, float)) and bool(_COMPARISONS[comparison](stored, bound))


# -- pages -------------------------------------------------------------------------------------------------------------


def page(rows: Iterable[Row], order: Order, descending: bool, limit: int, cursor: str | None) -> Page[Memory]:
    """Return a page of rows in an order, beginning after the cursor."""
    require_limit(limit)
    start = None if cursor is None else cursors.read_cursor(cursor, order, descending)
    ordered = sorted(((_place(row, order), row) for row in rows), key=lambda pair: pair[0], reverse=descending)
    if start is not None:
        ordered = [(place, row) for place, row in ordered if (place < start if descending else place > start)]
    shown = ordered[:limit]
    following = cursors.write_cursor(*shown[-1][0], order, descending) if len(ordered) > limit else None
    return Page(items=tuple(row.memory for _, row in shown), cursor=following)


def _place(row: Row, order: Order) -> Place:
    memory = row.memory
    match order:
        case "recorded":
            return row.seq, memory.id
        case "occurred":
            return _microseconds(memory.occurred_at), memory.id
        case "importance":
            return memory.importance, memory.id
        case "accessed":
            accessed = memory.last_accessed_at
            return (cursors.NEVER if accessed is None else _microseconds(accessed)), memory.id


def _microseconds(moment: datetime) -> int:
    """Return exact microseconds; float seconds would merge neighbouring moments."""
    return (moment - EPOCH) // timedelta(microseconds=1)


# -- index rows --------------------------------------------------------------------------------------------------------


def index_row(row: Row, agent: AgentState, active: Space | None) -> IndexRow:
    """Return a memory as ``feed`` gives it, with its vector in the active space."""
    memory = row.memory
    return IndexRow(
        id=memory.id,
        seq=row.seq,
        user=memory.user,
        session=memory.session,
        kind=memory.kind,
        state=memory.state,
        importance=memory.importance,
        trust=memory.trust,
        occurred_at=memory.occurred_at.timestamp(),
        recorded_at=memory.recorded_at.timestamp(),
        valid_from=_seconds(memory.valid_from),
        valid_to=_seconds(memory.valid_to),
        expires_at=_seconds(memory.expires_at),
        terms=row.terms,
        vector=agent.vectors.get((active.name, memory.id)) if active else None,
    )


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()


# -- the journal -------------------------------------------------------------------------------------------------------


def change_of(line: JournalLine, journal: Sequence[JournalLine], row: Row | None) -> Change:
    """Return a line as a change. ``row`` is the memory as it is now, if it exists."""
    return Change(
        seq=line.seq,
        operation=line.operation,
        at=line.at,
        actor=line.actor,
        reason=line.reason,
        action=line.action,
        memory_id=line.memory_id,
        before=line.before,
        after=_after(line, journal, row),
        link=line.link,
    )


def _after(line: JournalLine, journal: Sequence[JournalLine], row: Row | None) -> Json | None:
    if line.action == "link":
        return None if line.link is None else line.link.model_dump(mode="json")
    if line.action == "put":
        return _record_after(line, journal, row)
    if line.action == "update" and line.before is not None:
        record = _record_after(line, journal, row)
        return None if record is None else {name: record[name] for name in line.before}
    return None


def _record_after(line: JournalLine, journal: Sequence[JournalLine], row: Row | None) -> Json | None:
    """Return the whole record as a line left it: the newest known, with every later update undone."""
    later = []
    record: Json | None = None if row is None else row.memory.model_dump(mode="json")
    for following in journal[line.seq :]:
        if following.memory_id == line.memory_id and following.action in ("update", "delete", "erase"):
            if following.action != "update":
                record = following.before
                break
            later.append(following.before)
    if record is None or None in later:
        return None
    for before in reversed(later):
        record = {**record, **(before or {}), "version": record["version"] - 1}
    return record
