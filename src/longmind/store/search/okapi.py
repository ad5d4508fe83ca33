"""Okapi BM25: the score of a term in a row, and the best rows of a large view without scoring every row.

In a large view almost all rows that contain a word of a question contain a common one, and almost none of them can be
among the best. So the rare terms are scored first. Once the terms that are left cannot together lift a row that has
none of the others over the k-th best so far, they are looked up only in the rows that can still win (MaxScore: Turtle
and Flood, 1995). The bounds have slack for rounding, and what is left is scored anew, in the order of the question and
with the same arithmetic as ``View.bm25``: the answer is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from longmind.store.search.view import View

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

K1, B = 1.2, 0.75
LARGE = 100_000
"""The number of rows past which not every row is scored to find the best."""
_SLACK = 1e-4
"""More than the relative rounding error of a sum of single-precision numbers."""


class _Term(NamedTuple):
    rows: Ints
    counts: Floats
    weight: float
    """Its weight in the query times its inverse document frequency."""
    bound: float
    """An upper bound of its BM25 score in any row."""


def impacts(weight: float, counts: Floats, lengths: Floats, mean: float) -> Floats:
    """Return the BM25 scores of a term in rows with these counts and lengths."""
    impact = weight * counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths / mean))
    return impact.astype(np.float32, copy=False)


def best_by_words(view: View, terms: Iterable[tuple[int, float]], allowed: Flags, k: int) -> tuple[Ints, Floats]:
    """Return the k best allowed rows of a large view by these weighted terms, best first; of equals the older."""
    query_terms = _load_terms(view, terms)
    rows = _contenders(view, sorted(query_terms, key=lambda term: len(term.rows)), allowed, k)
    scores, lengths = np.zeros(len(rows), np.float32), view.column("length")[rows]
    for term in query_terms:
        at, counts = _where(term, rows)
        scores[at] += impacts(term.weight, counts, lengths[at], view.mean_length)
    best = np.lexsort((rows, -scores))[:k]
    return rows[best], scores[best]


def _load_terms(view: View, terms: Iterable[tuple[int, float]]) -> list[_Term]:
    query_terms = []
    for term, weight in terms:
        rows, counts, _, idf = view.term_rows(term)
        if len(rows):
            weighted, most = weight * idf, float(counts.max())
            query_terms.append(
                _Term(rows, counts, weighted, weighted * (K1 + 1) * most / (most + K1 * (1 - B)) * (1 + _SLACK))
            )
    return query_terms


def _contenders(view: View, rare_first: Sequence[_Term], allowed: Flags, k: int) -> Ints:
    """Return the rows that can be among the k best, in ascending order."""
    scores, lengths, mean = view.blank(), view.column("length"), view.mean_length
    left = sum(term.bound for term in rare_first)
    scored, reach = 0, 0.0
    for term in rare_first:
        if left < reach:
            break
        sums = scores[term.rows] + impacts(term.weight, term.counts, lengths[term.rows], mean)
        scores[term.rows] = sums
        scored, left = scored + 1, left - term.bound
        reach = _reach(term.rows, sums, allowed, k, reach)
    rows, sums = _over(scores, [term.rows for term in rare_first[:scored]], allowed, reach - left)
    for term in rare_first[:scored]:
        scores[term.rows] = 0
    for term in rare_first[scored:]:
        at, counts = _where(term, rows)
        sums[at] += impacts(term.weight, counts, lengths[rows[at]], mean)
        left -= term.bound
        reach = _reach(rows, sums, allowed, k, reach)
        kept = sums >= reach - left
        rows, sums = rows[kept], sums[kept]
    return rows


def _over(scores: Floats, lists: Sequence[Ints], allowed: Flags, least: float) -> tuple[Ints, Floats]:
    """Return the allowed rows of these lists with a score of at least ``least``, each once, and their scores."""
    kept_rows: list[Ints] = []
    for rows in lists:
        there = scores[rows]
        kept = rows[(there >= least) & (there > 0)]
        kept_rows.append(kept[allowed[kept]])
        scores[kept_rows[-1]] *= -1  # so that a later list passes it by
    unique_rows = np.concatenate(kept_rows) if kept_rows else np.empty(0, np.int32)
    unique_rows.sort()
    return unique_rows, -scores[unique_rows]


def _reach(rows: Ints, sums: Floats, allowed: Flags, k: int, least: float) -> float:
    """Return the score that a row needs to be among the k best: the k-th highest less the slack, or ``least``."""
    ahead = np.flatnonzero(sums > least)
    ahead = ahead[allowed[rows[ahead]]]
    if len(ahead) < k:
        return least
    return max(least, float(np.partition(sums[ahead], len(ahead) - k)[len(ahead) - k]) * (1 - _SLACK))


def _where(term: _Term, rows: Ints) -> tuple[NDArray[np.intp], Floats]:
    """Return the positions in ``rows`` (ascending) of those that contain a term, and the counts of the term."""
    place = np.minimum(np.searchsorted(term.rows, rows), len(term.rows) - 1)
    at = np.flatnonzero(term.rows[place] == rows)
    return at, term.counts[place[at]]
