"""Rerankers: models that compare the question with each text. They score only the best candidates.

A ``ContextReranker`` reads what was said before and after a text as well, and as many candidates as its budget allows;
it changes their order. ``longmind.models.rerank_small`` is one. A ``Reranker`` is anything with ``rerank``:
``longmind.models.rerank_http`` asks a server; ``LocalReranker`` wraps a function of yours, which runs in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Protocol, runtime_checkable

from longmind.errors import ModelError
from longmind.models.rerank_small import Numbers, TextInContext

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
        """Return how many candidates it compares: so many are fetched."""
        ...

    async def read(self, question: str, texts: Sequence[TextInContext]) -> Numbers:
        """Return numbers for the first texts, None for those that the budget did not allow."""
        ...


@runtime_checkable
class KeepsTexts(Protocol):
    """Keeps something of the texts that it has read."""

    async def close(self) -> None:
        """Stop what goes on in the background."""
        ...

    def forget(self) -> None:
        """Let go of everything that was kept: something was erased."""
        ...


@runtime_checkable
class ReadsAhead(Protocol):
    """Reads texts before a question asks for them, and keeps what it needs of them."""

    @property
    def has_room(self) -> bool:
        """Whether more can be kept; while it cannot, nothing is given to ``read_ahead``."""
        ...

    async def read_ahead(self, texts: Sequence[TextInContext]) -> None:
        """Read texts, the first ones first, while nothing is asked. What was read before costs nothing."""
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


WEIGHT = 0.4
"""How much the small reranker's number counts beside the score of the arms."""
SCALE = 4.0
"""The usual distance between its number for a text that answers and for one that does not."""
ENOUGH = 10
"""How many candidates must have been read for its numbers to count in full: two or three say little of the others."""
COVERED = 0.15
"""How much the share of the question's words that a text and those around it contain counts beside its number, which
says little of names, dates and other rare words."""


def new_order(scores: Sequence[float], numbers: Numbers, covered: Sequence[float] = ()) -> list[int]:
    """Return the places of the first candidates, as many as there are numbers, the best first by both scores.

    ``scores`` are those of the arms, the best first, and ``covered`` the shares of the question's words. A candidate
    that was not read counts like one that a quarter of those that were read fall below. ``WEIGHT`` was chosen
    by ``python -m training.weigh``.
    """
    known = sorted(number for number in numbers if number is not None)
    if not known:
        return list(range(len(numbers)))
    best, unread = max(scores[0], 1e-9), known[len(known) // 4]
    counted = [unread if number is None else number for number in numbers]
    enough = min(1.0, len(known) / ENOUGH)
    total = [
        score / best + enough * (WEIGHT * number / SCALE + COVERED * share)
        for score, number, share in zip(scores, counted, covered or repeat(0.0), strict=False)
    ]
    return sorted(range(len(total)), key=lambda place: -total[place])
