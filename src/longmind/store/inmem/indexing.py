"""A memory as search wants to know it."""

from __future__ import annotations

from datetime import datetime

from longmind.store.base import IndexRow, Space
from longmind.store.inmem.state import AgentState, Row


def index_row(row: Row, agent: AgentState, active: Space | None) -> IndexRow:
    """What ``feed`` tells of a memory, with its vector in the active space."""
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
        terms=row.terms,
        vector=agent.vectors.get((active.name, memory.id)) if active else None,
    )


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
