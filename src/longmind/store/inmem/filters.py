"""Whether a memory passes a filter, one plain question after the other."""

from __future__ import annotations

import math
from collections.abc import Collection
from datetime import datetime
from typing import Any

from longmind.types import Filter, Memory, Scalar


def matches(memory: Memory, where: Filter) -> bool:
    """Whether a memory has everything the filter asks for."""
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
        and (where.min_importance is None or memory.importance >= where.min_importance)
        and (where.min_trust is None or memory.trust >= where.min_trust)
        and all(_equals(memory.metadata.get(key), value) for key, value in (where.metadata or {}).items())
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
