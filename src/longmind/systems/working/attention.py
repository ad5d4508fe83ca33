"""Scores of items: importance, recency, and relevance to the focus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import combinations

import numpy as np

from longmind.systems.scoped_store import ScopedStore
from longmind.systems.working.entities import entities
from longmind.text.analysis import stem, terms, words
from longmind.text.similarity import count_cosine, coverage, overlap

IMPORTANCE, RECENCY = 0.7, 0.3
HORIZON = timedelta(hours=1)
RELATED_BY_WORDS = 0.4
RELATED_BY_VECTOR = 0.6
RELATED_BY_NAMES = 0.5
"""The similarity from which two texts are related: by words, by vectors, and by shared names."""


def recency(now: datetime, attended: datetime) -> float:
    """Return 1 for what was attended just now, falling linearly to 0 within an hour."""
    age = max(now - attended, timedelta(0))
    return max(0.0, 1.0 - age / HORIZON)


def score(importance: float, recent: float) -> float:
    return min(1.0, IMPORTANCE * importance + RECENCY * recent)


async def score_relevance(scoped: ScopedStore, query: str, texts: Sequence[str]) -> list[float]:
    """Return how well each text matches the query, from 0 to 1.

    This is the share of the query's words in the text, or the cosine if it is higher.
    """
    shares = word_relevance(query, texts)
    vectors, _ = await scoped.embed([query, *texts])
    if any(vector is None for vector in vectors):
        return shares
    rows = np.stack([np.asarray(vector, np.float64) for vector in vectors])
    cosines = np.clip(rows[1:] @ rows[0], 0.0, 1.0)
    return [max(share, float(cosine)) for share, cosine in zip(shares, cosines, strict=True)]


def word_relevance(query: str, texts: Sequence[str]) -> list[float]:
    """Return the share of the query's words in each text."""
    query_terms = set(terms(query))
    return [coverage(query_terms, terms(text)) for text in texts]


async def find_relations(scoped: ScopedStore, texts: Sequence[str]) -> dict[tuple[int, int], float]:
    """Return the pairs of related texts, by index, with a strength relative to the threshold of the measure.

    Texts are related if they share names, or are similar in their words, or in their vectors if there is an embedder.
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


def common_label(texts: Sequence[str]) -> str:
    """Return a short label of what texts have in common: the names in at least two of them, or else the words."""
    named = Counter(name for own in entities(texts) for name in own)
    spoken = Counter(term for text in texts for term in set(terms(text)))
    written = {stem(word): word for text in reversed(texts) for word in reversed(words(text))}
    for counts in (named, spoken):
        common = [term for term, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n > 1]
        if common:
            return ", ".join(written.get(term, term) for term in common[:3])
    return "together"
