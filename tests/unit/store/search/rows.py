"""Rows of a view, made by hand, and what a view should say of them, worked out the long way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from longmind.store.base import Feed, Head, IndexRow
from longmind.store.search.view import View
from longmind.testing import FakeClock
from longmind.text.index_terms import index_terms
from longmind.types import Memory, Scope, Source

DIMENSIONS = 8
EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
CLOCK = FakeClock(seed=7)
SCOPE = Scope(agent="a")


def made(
    content: str, *, session: str | None = None, day: int = 0, speaker: str | None = None, **more: object
) -> Memory:
    when = EPOCH + timedelta(days=day)
    fields: dict[str, object] = {
        "id": CLOCK.new_id(),
        "tenant": "default",
        "agent": "a",
        "content": content,
        "session": session,
        "occurred_at": when,
        "recorded_at": when,
        "source": Source(name=speaker),
    }
    return Memory.model_validate(fields | more)


def vector_of(memory: Memory) -> np.ndarray:
    """A unit vector that follows from the content."""
    rng = np.random.default_rng(abs(hash(memory.content)) % 2**32)
    vector = rng.standard_normal(DIMENSIONS).astype(np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float16).astype(np.float32)


def row(memory: Memory, seq: int, *, with_vector: bool = True) -> IndexRow:
    return IndexRow(
        id=memory.id,
        seq=seq,
        user=memory.user,
        session=memory.session,
        kind=memory.kind,
        state=memory.state,
        importance=memory.importance,
        trust=memory.trust,
        occurred_at=memory.occurred_at.timestamp(),
        recorded_at=memory.recorded_at.timestamp(),
        valid_from=None if memory.valid_from is None else memory.valid_from.timestamp(),
        valid_to=None if memory.valid_to is None else memory.valid_to.timestamp(),
        expires_at=None if memory.expires_at is None else memory.expires_at.timestamp(),
        terms=index_terms(memory),
        vector=vector_of(memory).astype("<f2").tobytes() if with_vector else None,
    )


def view_of(memories: Sequence[Memory]) -> View:
    view = View(DIMENSIONS)
    view.take_in(Feed(Head(len(memories), 1), [row(m, i + 1) for i, m in enumerate(memories)]))
    return view


def idf(living: int, holders: int) -> float:
    return math.log(1 + (living - holders + 0.5) / (holders + 0.5))
