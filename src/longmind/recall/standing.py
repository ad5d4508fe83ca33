"""Standing memories: what an agent should know whatever its task is.

These are what the user said of health, safety and themselves, their standing instructions, the open goals, and the
traits of the user. They are chosen by type and importance, never by likeness to a task (ADR 0019).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longmind.kinds import group_of
from longmind.store.search.view import View
from longmind.store.store import Store
from longmind.text.index_terms import mark_hash
from longmind.text.standing import (
    LEVELS,
    TYPES,
    StandingType,
    Statement,
    may_stand,
    same_matter,
    standing_mark,
    standing_statements,
)
from longmind.types import Filter, Memory, Scope

STANDING = (
    Filter(kinds=("goal",), states=("active",), metadata={"open": True}),
    Filter(kinds=("trait",), states=("active",), metadata={"about": "user", "established": True}),
)
"""Goals that are not reached yet, and the traits of the user for which there is enough evidence."""
MAX_OF_EACH = 20
"""The most memories of each type that are fetched."""
NEWEST = 10
"""How many of the newest of each type are fetched in any case: they may end what was said before."""
TITLE = "Always keep in mind, said by the user"
_ORDER = ("safety", "health", "instruction", "goal", "identity", "trait")
"""The classes of standing memories. They take turns, so that none crowds out the others."""
_VERY_IMPORTANT = 0.95
"""Importance from which a statement ranks a level higher; only what has every sign of it is estimated so high."""
_SHORT = 180
"""Characters up to which a message is shown whole, since what stands around a statement explains it."""


class StandingLine(NamedTuple):
    """A standing memory, or the statement in it that stands."""

    memory: Memory
    title: str
    """The heading under which it is rendered."""
    type: str
    """The type of a statement; empty for a goal or a trait, which is rendered as it is."""
    text: str


async def standing_memories(store: Store, scope: Scope, *, left_out: Collection[str] = ()) -> list[Memory]:
    """Return the memories of a scope that hold standing statements, its open goals, and the traits of its user.

    Statements are found by the marks that they got when they were stored: one read fetches them, and nothing is
    searched. ``left_out`` are ids that are shown elsewhere.
    """
    view = await store.view(scope)
    ids = [id for id in _marked_ids(view) if id not in left_out]
    memories = await store.get_all(scope, ids) if ids else []
    now = store.clock.now()
    memories = [memory for memory in memories if not memory.has_expired(now)]
    present = set(view.kinds.names)
    for where in STANDING:
        if present.intersection(where.kinds or ()):
            page = await store.scan(scope, where, order="importance", descending=True, limit=MAX_OF_EACH)
            memories += [memory for memory in page.items if memory.id not in left_out]
    return memories


def standing_lines(memories: Sequence[Memory]) -> list[StandingLine]:
    """Return what stands, the most important first; what a later statement repeats, replaces or ends is left out."""
    classes: dict[str, list[StandingLine]] = defaultdict(list)
    for memory, statements in current_statements(memories):
        type = statements[0].type
        classes[type].append(StandingLine(memory, TITLE, type, _text(memory, statements)))
    for memory in memories:
        if memory.kind in ("goal", "trait"):
            classes[memory.kind].append(StandingLine(memory, group_of(memory.kind), "", memory.content))
    turns = zip_longest(*(classes[name] for name in _ORDER))
    return [line for turn in turns for line in turn if line is not None]


def in_order(lines: Iterable[StandingLine]) -> list[StandingLine]:
    """Return lines in the order in which they are rendered, which is the same from call to call."""
    return sorted(lines, key=lambda line: (_place(line), line.memory.occurred_at, line.memory.id))


def _place(line: StandingLine) -> int:
    return TYPES.index(line.type) if line.type in TYPES else len(TYPES)


def _marked_ids(view: View) -> list[str]:
    """Return the ids of memories with standing statements: of each type the surest, and the newest."""
    ids: dict[str, None] = {}
    for type in TYPES:
        surest: list[str] = []
        every: list[int] = []
        for level in LEVELS:
            rows = _rows_of_level(view, type, level)
            newest = rows[np.lexsort((view.column("seq")[rows], view.column("occurred_at")[rows]))[::-1]]
            surest += [view.ids[row] for row in newest[: MAX_OF_EACH - len(surest)]]
            every += [int(row) for row in newest[:NEWEST]]
        every.sort(key=lambda row: (float(view.column("occurred_at")[row]), int(view.column("seq")[row])))
        ids |= dict.fromkeys([*surest, *(view.ids[row] for row in every[-NEWEST:])])
    return list(ids)


def marked_rows(view: View, type: StandingType) -> NDArray[np.int32]:
    """Return the rows of active memories with a standing statement of a type."""
    return np.unique(np.concatenate([_rows_of_level(view, type, level) for level in LEVELS]))


def _rows_of_level(view: View, type: StandingType, level: int) -> NDArray[np.int32]:
    rows = view.postings.find(mark_hash(standing_mark(type, level)))[0]
    active: NDArray[np.int32] = rows[
        view.column("alive")[rows].astype(np.bool_) & (view.column("state")[rows] == View.state_code("active"))
    ]
    return active


def current_statements(memories: Sequence[Memory]) -> list[tuple[Memory, list[Statement]]]:
    """Return the memories with the statements of each that still hold, the most important first, then the newest."""
    said = [memory for memory in memories if memory.state == "active" and may_stand(memory)]
    kept: list[tuple[Memory, list[Statement]]] = []
    for memory in sorted(said, key=lambda m: (m.occurred_at, m.recorded_at, m.id), reverse=True):
        later = [statement for m, statements in kept if _of_one_speaker(memory, m) for statement in statements]
        fresh = [s for s in standing_statements(memory.content) if not any(same_matter(newer, s) for newer in later)]
        if fresh:
            kept.append((memory, fresh))
    return sorted(kept, key=lambda pair: -(pair[1][0].level + (pair[0].importance >= _VERY_IMPORTANT)))


def _text(memory: Memory, statements: Sequence[Statement]) -> str:
    """Return the whole message if it is short and all of it still holds, else the statements."""
    every = len(statements) == len(standing_statements(memory.content))
    if every and len(memory.content) <= _SHORT:
        return memory.content.strip()
    texts = [s.text for s in statements]
    return " ".join(text for n, text in enumerate(texts) if not any(text in other for other in texts[:n]))


def _of_one_speaker(memory: Memory, other: Memory) -> bool:
    return (memory.user, memory.source.name) == (other.user, other.source.name)
