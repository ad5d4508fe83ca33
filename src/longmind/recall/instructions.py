"""Standing instructions beside the hits of a recall: "Always answer in metric units.", "Never call me before nine.".

An instruction applies to questions that share no word with it, so it would hardly be among the hits. A few of them get
places of their own after the hits: those that fit the question best. See ADR 0032.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from longmind.recall.standing import current_statements, marked_rows
from longmind.store.search.view import View
from longmind.types import Hit, Memory, Scope

if TYPE_CHECKING:
    from longmind.store.store import Store

MOST = 3
"""The most instructions beside the hits of one recall."""
_READ = 10
"""The most memories that are read for them: a later one may end or replace an earlier one."""
_WHY = "a standing instruction of the user, beside the hits"


async def fitting_instructions(
    store: Store,
    scope: Scope,
    view: View,
    terms: Sequence[tuple[int, float]],
    vector: NDArray[np.float32] | None,
    left_out: Collection[str],
) -> list[Hit]:
    """Return the instructions that fit a question best and still hold, without those ``left_out``.

    Their score is 0: they are there because they stand, and not because they answer.
    """
    rows = marked_rows(view, "instruction")
    if not len(rows):
        return []
    fits = _fits(view, rows, terms, vector)
    best = [view.ids[row] for row in rows[np.lexsort((-view.column("occurred_at")[rows], -fits))[:_READ]]]
    memories = {memory.id: memory for memory in await store.get_all(scope, best)}
    holding = _still_holding(list(memories.values()), store)
    kept = [memories[id] for id in best if id in holding and id not in left_out][:MOST]
    return [Hit(memory=memory, score=0.0, why=_WHY) for memory in kept]


def _still_holding(memories: Sequence[Memory], store: Store) -> set[str]:
    now = store.clock.now()
    living = [memory for memory in memories if not memory.has_expired(now)]
    return {memory.id for memory, statements in current_statements(living) if statements[0].type == "instruction"}


def _fits(
    view: View, rows: NDArray[np.int32], terms: Sequence[tuple[int, float]], vector: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    """Return how well rows fit a question: by meaning, and by the share of its words that each contains."""
    fits, total = np.zeros(len(rows), np.float32), 0.0
    for term, weight in terms:
        found = view.term_rows(term)
        total += weight * found.idf
        fits[np.isin(rows, found.rows)] += np.float32(weight * found.idf)
    if total > 0:
        fits /= np.float32(total)
    if vector is not None and len(vector) == view.vectors.dimensions:
        fits += view.vectors.take(rows) @ vector
    return fits
