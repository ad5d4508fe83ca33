"""Rerankers: models that read the question together with each text. They score only the best candidates.

A reranker is anything with ``rerank``. ``longmind.models.rerank_http`` asks a server; ``LocalReranker`` wraps a
function of yours, which runs in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from longmind.errors import ModelError

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
