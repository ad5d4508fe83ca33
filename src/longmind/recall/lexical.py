"""The lexical scores of each row: by its own words, the words around it, and the words of its whole session.

Term counts are laid out thread by thread (``store.search.threads``), so the surroundings of a row are its neighbours
in the array. Scores are computed in this layout; only the three results are put in the order of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmind.store.search.okapi import K1, B
from longmind.store.search.term_cache import TermRows
from longmind.store.search.threads import REACH, WEIGHTS, surroundings
from longmind.store.search.view import View
from longmind.text.index_terms import ASKS, mark_hash

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Terms = Sequence[tuple[int, float]]
ASKED = 0.6
"""How much more the turn before counts in the surroundings of a turn if it is a question: a reply belongs to it."""


@dataclass(slots=True)
class WordScores:
    """The lexical scores of rows, and the counts behind them: a matrix of terms (down) by rows (across)."""

    terms: list[int]
    """The terms of the question that occur in the view."""
    places: Ints | None
    """The column of each row in the counts; None if they are in the order of the rows."""
    own_counts: Floats
    near_counts: Floats
    term_weights: Floats
    """How informative each term is: its weight in the question times its inverse document frequency."""
    missing: float
    """The same, summed over the terms that occur nowhere."""
    own_score: Floats
    near_score: Floats
    session_score: Floats

    def own(self, rows: Any) -> Floats:
        """Return how often each term occurs in some of the scored rows."""
        return self.own_counts[:, rows if self.places is None else self.places[rows]]

    def near(self, rows: Any) -> Floats:
        """Return the same counts including the rows around each, the nearer ones weighted more."""
        return self.near_counts[:, rows if self.places is None else self.places[rows]]

    def of_rows(self, rows: Ints) -> WordScores:
        """Return the scores of some of the rows."""
        return replace(
            self,
            places=rows if self.places is None else self.places[rows],
            own_score=self.own_score[rows],
            near_score=self.near_score[rows],
            session_score=self.session_score[rows],
        )

    def coverage(self, row: int) -> float:
        """Return the share of the question's terms, by ``term_weights``, that a row and its surroundings contain."""
        total = float(self.term_weights.sum()) + self.missing
        return float(self.term_weights @ (self.near(row) > 0)) / total if total else 0.0

    def best_coverage(self, allowed: NDArray[np.bool_]) -> float:
        """Return the share of the question's terms that the best of the allowed rows contains itself."""
        total = float(self.term_weights.sum()) + self.missing
        if not total or not len(self.term_weights) or not allowed.any():
            return 0.0
        return float((self.term_weights @ (self.own(np.flatnonzero(allowed)) > 0)).max()) / total


def score_all_rows(view: View, terms: Terms) -> WordScores:
    """Score the words of a question in every row of a view."""
    threads, present_terms = view.threads, _present_terms(view, terms)
    own = np.zeros((len(present_terms), threads.size), np.float32)
    by_unit = np.zeros((len(present_terms), threads.units), np.float32)
    if present_terms:  # all terms at once: one call for each term would cost more
        rows, counts = (np.concatenate([found[part] for *_, found in present_terms]) for part in (0, 1))
        number = np.repeat(np.arange(len(present_terms)), [len(found.rows) for *_, found in present_terms])
        own[number, threads.place[rows]] = counts
        units = np.bincount(number * threads.units + threads.unit[rows], counts, len(present_terms) * threads.units)
        by_unit[:] = units.reshape(by_unit.shape)
    near, replies = surroundings(own), _replies(view)
    near[:, 1:] += own[:, :-1] * replies[1:]
    near_length = threads.near_length.copy()
    near_length[1:] += threads.length[:-1] * replies[1:]
    weights = np.array([weight for _, weight, _ in present_terms], np.float32)
    term_weights = weights * np.array([found.idf for *_, found in present_terms], np.float32)
    holding = np.count_nonzero(by_unit if threads.said_units is None else by_unit[:, threads.said_units], axis=1)
    rarity = np.log1p((threads.counted_units - holding + 0.5) / (holding + 0.5)).astype(np.float32)
    sessions = saturated(by_unit, weights * rarity, threads.unit_length, threads.unit_mean)
    return WordScores(
        terms=[term for term, *_ in present_terms],
        places=threads.place,
        own_counts=own,
        near_counts=near,
        term_weights=term_weights,
        missing=_missing(view, terms, present_terms),
        own_score=saturated(own, term_weights, threads.length, view.mean_length)[threads.place],
        near_score=saturated(near, term_weights, near_length, threads.near_mean)[threads.place],
        session_score=sessions[threads.unit],
    )


def score_some_rows(view: View, terms: Terms, rows: Ints, around: Ints) -> WordScores:
    """Score the words of a question in some rows of a large view; their surroundings are looked up one by one."""
    present_terms = _present_terms(view, terms)
    own, near = (
        np.zeros((len(present_terms), len(rows)), np.float32),
        np.zeros((len(present_terms), len(rows)), np.float32),
    )
    by_unit = np.zeros((len(present_terms), len(rows)), np.float32)
    kernel = np.array(WEIGHTS, np.float32)
    scratch, thread = view.blank(), view.column("thread")
    codes, unit_of_row = np.unique(thread[rows], return_inverse=True)
    place = np.full(view.thread_codes + 1, len(codes), np.int32)  # the last one is that of rows in no thread
    place[codes] = np.arange(len(codes))
    holding = np.zeros(len(present_terms), np.float32)
    units = max(view.units, 1)
    before = around[:, REACH - 1]
    asked = np.float32(ASKED) * np.isin(before, view.postings.find(mark_hash(ASKS))[0])
    for number, (_, _, (at, counts, said, _)) in enumerate(present_terms):
        found_around = _counted(at, counts, around, scratch)
        own[number] = found_around[:, REACH]
        near[number] = found_around @ kernel + asked * found_around[:, REACH - 1]
        totals = np.bincount(place[thread[at]], weights=counts, minlength=len(codes)).astype(np.float32)
        by_unit[number] = np.where(codes[unit_of_row] < 0, own[number], totals[unit_of_row])
        holding[number] = units * -math.expm1(-said / units)
    weights = np.array([weight for _, weight, _ in present_terms], np.float32)
    term_weights = weights * np.array([found.idf for *_, found in present_terms], np.float32)
    rarity = np.log1p((units - holding + 0.5) / (holding + 0.5)).astype(np.float32)
    lengths = view.column("length")
    lengths_around = np.where(around < view.rows, lengths[np.minimum(around, view.rows - 1)], 0)
    near_lengths = lengths_around @ kernel + asked * lengths_around[:, REACH - 1]
    reach = float(kernel.sum()) if units < view.said else 1.0
    return WordScores(
        terms=[term for term, *_ in present_terms],
        places=None,
        own_counts=own,
        near_counts=near,
        term_weights=term_weights,
        missing=_missing(view, terms, present_terms),
        own_score=saturated(own, term_weights, lengths[rows], view.mean_length),
        near_score=saturated(near, term_weights, near_lengths, view.mean_length * reach),
        session_score=saturated(
            by_unit, weights * rarity, view.unit_lengths_of(rows), view.mean_length * view.said / units
        ),
    )


def _replies(view: View) -> Floats:
    """Return ``ASKED`` at the places after a question, in the layout of the threads; 0 elsewhere."""
    threads, asking = view.threads, view.postings.find(mark_hash(ASKS))[0]
    replies = np.zeros(threads.size, np.float32)
    replies[np.minimum(threads.place[asking] + 1, threads.size - 1)] = ASKED
    replies[-1] = 0
    return replies


def _counted(at: Ints, counts: Floats, rows: Ints, scratch: Floats) -> Floats:
    """Return how often a term occurs in some rows, given all rows ``at`` which it occurs; few rows are searched for."""
    if len(at) > 16 * rows.size:
        place = np.minimum(np.searchsorted(at, rows), len(at) - 1)
        return np.where(at[place] == rows, counts[place], np.float32(0))
    scratch[at] = counts
    row_counts = scratch[rows]
    scratch[at] = 0
    return row_counts


def saturated(counts: Floats, term_weights: Floats, lengths: Floats, mean: float) -> Floats:
    """Return Okapi BM25 scores from the counts by term and row, the weight of each term and the length of each row."""
    slack = np.float32(K1 * B / mean) * lengths
    slack += np.float32(K1 * (1 - B))
    shares = counts + slack
    np.divide(counts, shares, out=shares)
    return (term_weights * np.float32(K1 + 1)) @ shares


def _present_terms(view: View, terms: Terms) -> list[tuple[int, float, TermRows]]:
    """Return the terms that occur in live rows, each with its weight in the question and its postings."""
    return [(term, weight, found) for term, weight in terms if len((found := view.term_rows(term)).rows)]


def _missing(view: View, terms: Terms, present_terms: list[tuple[int, float, TermRows]]) -> float:
    if len(present_terms) == len(terms):
        return 0.0
    here = {term for term, *_ in present_terms}
    return view.idf(0) * sum(weight for term, weight in terms if term not in here)
