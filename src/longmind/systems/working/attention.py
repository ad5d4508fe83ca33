"""Scores of items: importance, recency, and relevance to the focus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import combinations

import numpy as np

from longmind.systems.scoped_store import ScopedStore
from longmind.systems.working.entities import entities
from longmind.text.analysis import terms
from longmind.text.similarity import count_cosine, coverage, overlap

IMPORTANCE, RECENCY = 0.7, 0.3
HORIZON = timedelta(hours=1)
RELATED_BY_WORDS = 0.4
RELATED_BY_VECTOR = 0.6
RELATED_BY_NAMES = 0.5
"""How alike two texts must be to belong together: by words, by vectors, by the names they share."""


def recency(now: datetime, attended: datetime) -> float:
    """1 for what was in mind just now, falling evenly to 0 within an hour."""
    age = max(now - attended, timedelta(0))
    return max(0.0, 1.0 - age / HORIZON)


def score(importance: float, recent: float) -> float:
    return min(1.0, IMPORTANCE * importance + RECENCY * recent)


async def relevances(scoped: ScopedStore, query: str, texts: Sequence[str]) -> list[float]:
    """How well each text fits the query, 0 to 1: the share of its words that the text has, or the cosine if higher."""
    asked = set(terms(query))
    shares = [coverage(asked, terms(text)) for text in texts]
    vectors, _ = await scoped.embed([query, *texts])
    if any(vector is None for vector in vectors):
        return shares
    rows = np.stack([np.asarray(vector, np.float64) for vector in vectors])
    cosines = np.clip(rows[1:] @ rows[0], 0.0, 1.0)
    return [max(share, float(cosine)) for share, cosine in zip(shares, cosines, strict=True)]


async def relations(scoped: ScopedStore, texts: Sequence[str]) -> dict[tuple[int, int], float]:
    """Pairs of texts that belong together, by their numbers, and how closely: 1 is the threshold of its measure.

    They share names, or are alike in their words, or in their vectors where there is an embedder.
    """
    names = entities(texts)
    counts = [Counter(terms(text)) for text in texts]
    vectors, _ = await scoped.embed(texts)
    relatedness: dict[tuple[int, int], float] = {}
    for a, b in combinations(range(len(texts)), 2):
        close = max(
            overlap(names[a], names[b]) / RELATED_BY_NAMES,
            count_cosine(counts[a], counts[b]) / RELATED_BY_WORDS,
        )
        first, second = vectors[a], vectors[b]
        if first is not None and second is not None:
            close = max(close, float(np.dot(first, second)) / RELATED_BY_VECTOR)
        if close >= 1.0:
            relatedness[a, b] = close
    return relatedness


def shared(texts: Sequence[str]) -> str:
    """What texts have in common, in a few words: the names in at least two of them, or else the words."""
    named = Counter(name for own in entities(texts) for name in own)
    spoken = Counter(term for text in texts for term in set(terms(text)))
    for counts in (named, spoken):
        common = [word for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n > 1]
        if common:
            return ", ".join(common[:3])
    return "together"
