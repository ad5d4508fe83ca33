"""Rerankers: models that read the question together with each text. They score only the best candidates.

A ``ContextReranker`` reads what was said before and after a text as well, and as many candidates as its budget allows;
it changes their order. ``longmind.models.rerank_small`` is one. A ``Reranker`` is anything with ``rerank``:
``longmind.models.rerank_http`` asks a server; ``LocalReranker`` wraps a function of yours, which runs in a thread.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from longmind.errors import ModelError
from longmind.models.rerank_small import Reranked, TextInContext

DEPTH = 50
"""The number of candidates that are reranked."""
SHARE = 0.5
"""The reranker's weight in the final score; the rest is the score of the arms."""


@runtime_checkable
class Reranker(Protocol):
    """Scores how well each text answers a question; on any scale, higher is better."""

    @property
    def name(self) -> str: ...

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]: ...


@runtime_checkable
class ContextReranker(Protocol):
    """Reads the best candidates with what was said around them, within a budget of its own."""

    @property
    def name(self) -> str: ...

    async def depth(self) -> int:
        """Return how many candidates may fit the budget: so many are fetched."""
        ...

    async def read(self, question: str, texts: Sequence[TextInContext]) -> Reranked:
        """Return the numbers of the first texts, as many as fit the budget."""
        ...


class LocalReranker:
    """A reranker from a function that takes the question and the texts and returns a number for each text."""

    def __init__(self, score: Callable[[str, Sequence[str]], Sequence[float]], *, name: str = "local") -> None:
        self.name = name
        self._score = score

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return await asyncio.to_thread(self._score, query, texts)


async def shares(reranker: Reranker, query: str, texts: Sequence[str]) -> list[float]:
    """Return a reranker's scores, scaled so that the best is 1 and the worst 0."""
    scores = [float(score) for score in await reranker.rerank(query, texts)]
    if len(scores) != len(texts) or any(score != score for score in scores):
        raise ModelError(
            f"The reranker {reranker.name} answered {len(scores)} numbers for {len(texts)} texts, or not numbers.",
            hint="Check the reranker; recall works without one.",
        )
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]


WEIGHT = 0.3
"""How much the small reranker's number counts beside the score of the arms."""
LENGTH = 60.0
"""The median length of candidates, in word pieces, at which it counts half: it learnt from short texts."""
DOUBT = -2.0
"""Its best number at which it counts half: where it is low, no single text answers the question."""
SCALE = 4.0
"""The usual distance between its number for a text that answers and for one that does not."""


def trust_in(read: Reranked) -> float:
    """Return how much the small reranker's numbers count for texts of this length, from 0 to 1."""
    median = sorted(read.lengths)[len(read.lengths) // 2]
    return 1 / (1 + (median / LENGTH) ** 2)


def new_order(scores: Sequence[float], read: Reranked) -> list[int]:
    """Return the places of the candidates that were read, the best first: by both scores.

    ``scores`` are those of the arms, the best first. The weights were chosen by ``python -m training.weigh``.
    """
    if not read.numbers:
        return []
    best = max(scores[0], 1e-9)
    share = WEIGHT * trust_in(read) / (1 + math.exp(min(DOUBT - max(read.numbers), 50.0)))
    total = [score / best + share * number / SCALE for score, number in zip(scores, read.numbers, strict=False)]
    return sorted(range(len(total)), key=lambda place: -total[place])
