"""The stage ``reconcile``: what was said twice becomes one memory, and the other goes to the archive.

Conflicts between facts are resolved where they are learnt, by semantic memory, on the same subject and predicate only.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longmind.consolidate.reconcile import duplicates
from longmind.consolidate.work import Work
from longmind.kinds import SAID
from longmind.store.base import AddLink, Batch, Update, Write
from longmind.types import Filter, Link, Memory


@dataclass(frozen=True, slots=True)
class Merging:
    """The stage."""

    name: str = "reconcile"

    async def propose(self, work: Work) -> None:
        new = {memory.id for memory in work.sources if memory.session is None and memory.kind in SAID}
        if not new:
            return
        alone = [memory async for memory in _alone(work)]
        vectors = await _vectors(work, alone)
        writes: list[Write] = []
        for same in duplicates(alone, vectors, work.settings.duplicate_similarity, new):
            writes.append(Update(same.other.id, {"state": "archived"}, same.other.version))
            writes.append(AddLink(Link(source=same.keeper.id, relation="supersedes", target=same.other.id)))
            work.notes.why[same.other.id] = (same.keeper.id, same.why)
        if writes:
            await work.draft.apply(Batch(work.scope, work.operation, work.clock.now(), tuple(writes)))


async def _alone(work: Work) -> AsyncIterator[Memory]:
    where = Filter(kinds=SAID, states=("active",))
    async for memory in work.store.scan_all(work.scope, where):
        if memory.session is None:
            yield memory


async def _vectors(work: Work, memories: list[Memory]) -> NDArray[np.float32]:
    """A vector for each, all zero where there is none."""
    if await work.store.backend.space() is None:
        return np.zeros((len(memories), 1), np.float32)
    view = await work.store.view(work.scope)
    made = np.zeros((len(memories), view.vectors.dimensions or 1), np.float32)
    rows = {n: row for n, memory in enumerate(memories) if (row := view.row_of(memory.id)) is not None}
    if rows and view.vectors.dimensions:
        made[list(rows)] = view.vectors.take(np.fromiter(rows.values(), np.int32, len(rows)))
    return made
