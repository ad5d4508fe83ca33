"""Lexical similarity of two texts: the measures that the memory systems share. All run from 0 to 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set

from longmind.text.analysis import terms

Weights = Mapping[str, float]


def jaccard(first: Iterable[str], second: Iterable[str]) -> float:
    """Return the share of the terms of either that both have; 0 if one has none."""
    a, b = _as_set(first), _as_set(second)
    return len(a & b) / len(a | b) if a and b else 0.0


def dice(first: Iterable[str], second: Iterable[str]) -> float:
    """Return twice the number of common terms over the number of all terms (the Dice coefficient)."""
    a, b = _as_set(first), _as_set(second)
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else 0.0


def overlap(first: Iterable[str], second: Iterable[str]) -> float:
    """Return the share of the terms of the smaller set that the other has (the overlap coefficient)."""
    a, b = _as_set(first), _as_set(second)
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def coverage(wanted: Iterable[str], by: Iterable[str]) -> float:
    """Return the share of the wanted terms that another set has."""
    a = _as_set(wanted)
    return len(a & _as_set(by)) / len(a) if a else 0.0


def cosine(first: Weights, second: Weights) -> float:
    """Return the cosine of two sparse vectors of length 1."""
    if len(second) < len(first):
        first, second = second, first
    return min(sum(value * second[term] for term, value in first.items() if term in second), 1.0)


def count_cosine(first: Counter[str], second: Counter[str]) -> float:
    """Return the cosine of two texts given as counts of their terms."""
    dot = sum(count * second[term] for term, count in first.items())
    lengths = sum(count * count for count in first.values()) * sum(count * count for count in second.values())
    return float(dot / lengths**0.5) if lengths else 0.0


def shared_words(first: str, second: str) -> float:
    """Return how many of their words two texts share, stemmed and without stop words, by Dice."""
    return dice(terms(first), terms(second))


def covered_words(text: str, by: str) -> float:
    """Return the share of the words of a text that another text has."""
    return coverage(terms(text), terms(by))


def _as_set(items: Iterable[str]) -> Set[str]:
    return items if isinstance(items, Set) else set(items)
