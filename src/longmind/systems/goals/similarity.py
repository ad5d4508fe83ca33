"""The similarity of short texts, by their words and, with an embedder, by their meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from longmind.systems.scoped_store import ScopedStore
from longmind.text.similarity import covered_words, shared_words

if TYPE_CHECKING:
    from longmind.store.base import Vector

_UNRELATED, _SAME = 0.15, 0.8
"""The cosines at which recall treats two texts as unrelated, and as the same."""


async def similarities(scoped: ScopedStore, texts: Sequence[str], others: Sequence[str]) -> list[list[float]]:
    """Return the similarity of each text to each of the others, from 0 to 1."""
    if not texts or not others:
        return [[] for _ in texts]
    vectors, _ = await scoped.embed([*texts, *others])
    mine, theirs = vectors[: len(texts)], vectors[len(texts) :]
    return [
        [max(shared_words(text, other), _nearness(mine[n], theirs[m])) for m, other in enumerate(others)]
        for n, text in enumerate(texts)
    ]


async def best_match(
    scoped: ScopedStore, text: str, others: Sequence[str], *, least: float, within: bool = False
) -> int | None:
    """Return the index of the most similar text, if it is similar enough; ``within`` also counts containment."""
    (row,) = await similarities(scoped, [text], others)
    if within:
        row = [max(similarity, covered_words(text, other)) for similarity, other in zip(row, others, strict=True)]
    best = max(range(len(row)), key=row.__getitem__, default=None)
    return best if best is not None and row[best] >= least else None


def _nearness(first: Vector | None, second: Vector | None) -> float:
    if first is None or second is None:
        return 0.0
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    cosine = float(np.dot(first, second)) / size if size else 0.0
    return min(max((cosine - _UNRELATED) / (_SAME - _UNRELATED), 0.0), 1.0)
