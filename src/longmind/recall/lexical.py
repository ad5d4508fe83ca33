"""How the words of a question fit each row: the row's own words, those around it, those of its whole session.

Counts stand in line, thread by thread (``store.search.threads``), so that what surrounds a row is what stands beside
it. They are scored in line as well; only the three scores are put in the order of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmind.store.search.okapi import K1, B
from longmind.store.search.threads import REACH, WEIGHTS, surroundings
from longmind.store.search.view import Held, View

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Terms = Sequence[tuple[int, float]]


@dataclass(slots=True)
class WordScores:
    """How the words of a question fit: how often each term (down) occurs in each row (across)."""

    terms: list[int]
    """Those that occur at all."""
    places: Ints | None
    """Where each row stands among the counts; None when they are in the order of the rows."""
    own_counts: Floats
    near_counts: Floats
    telling: Floats
    """How much each term tells: its weight in the question times its rarity."""
    missing: float
    """What the terms that occur nowhere would tell."""
    own_score: Floats
    near_score: Floats
    session_score: Floats

    def own(self, rows: Any) -> Floats:
        """How often each term occurs in some of the rows that were looked at."""
        return self.own_counts[:, rows if self.places is None else self.places[rows]]

    def near(self, rows: Any) -> Floats:
        """The same with what surrounds each row, the nearer counting more."""
        return self.near_counts[:, rows if self.places is None else self.places[rows]]

    def coverage(self, row: int) -> float:
        """The share of the question, by what its terms tell, that a row and its surroundings contain."""
        total = float(self.telling.sum()) + self.missing
        return float(self.telling @ (self.near(row) > 0)) / total if total else 0.0


def score_all_rows(view: View, terms: Terms) -> WordScores:
    """Score the words of a question in every row of a view."""
    threads, held_terms = view.threads, _held(view, terms)
    own = np.zeros((len(held_terms), threads.size), np.float32)
    by_unit = np.zeros((len(held_terms), threads.units), np.float32)
    if held_terms:  # all terms at once: a call for each would cost more than what it does
        rows, counts = (np.concatenate([held[part] for *_, held in held_terms]) for part in (0, 1))
        number = np.repeat(np.arange(len(held_terms)), [len(held.rows) for *_, held in held_terms])
        own[number, threads.place[rows]] = counts
        units = np.bincount(number * threads.units + threads.unit[rows], counts, len(held_terms) * threads.units)
        by_unit[:] = units.reshape(by_unit.shape)
    near = surroundings(own)
    weights = np.array([weight for _, weight, _ in held_terms], np.float32)
    telling = weights * np.array([held.telling for *_, held in held_terms], np.float32)
    holding = np.count_nonzero(by_unit if threads.said_units is None else by_unit[:, threads.said_units], axis=1)
    rarity = np.log1p((threads.counted_units - holding + 0.5) / (holding + 0.5)).astype(np.float32)
    sessions = saturated(by_unit, weights * rarity, threads.unit_length, threads.unit_mean)
    return WordScores(
        terms=[term for term, *_ in held_terms],
        places=threads.place,
        own_counts=own,
        near_counts=near,
        telling=telling,
        missing=_missing(view, terms, held_terms),
        own_score=saturated(own, telling, threads.length, view.mean_length)[threads.place],
        near_score=saturated(near, telling, threads.near_length, threads.near_mean)[threads.place],
        session_score=sessions[threads.unit],
    )


def score_some_rows(view: View, terms: Terms, rows: Ints, around: Ints) -> WordScores:
    """The same for some rows of a large view, whose surroundings are looked up one by one."""
    held_terms = _held(view, terms)
    own, near = np.zeros((len(held_terms), len(rows)), np.float32), np.zeros((len(held_terms), len(rows)), np.float32)
    by_unit = np.zeros((len(held_terms), len(rows)), np.float32)
    kernel = np.array(WEIGHTS, np.float32)
    scratch, thread = view.blank(), view.column("thread")
    codes, unit_of_row = np.unique(thread[rows], return_inverse=True)
    place = np.full(view.thread_codes + 1, len(codes), np.int32)  # the last one is that of rows in no thread
    place[codes] = np.arange(len(codes))
    holding = np.zeros(len(held_terms), np.float32)
    units = max(view.units, 1)
    for number, (_, _, (at, counts, said, _)) in enumerate(held_terms):
        found_around = _counted(at, counts, around, scratch)
        own[number] = found_around[:, REACH]
        near[number] = found_around @ kernel
        totals = np.bincount(place[thread[at]], weights=counts, minlength=len(codes)).astype(np.float32)
        by_unit[number] = np.where(codes[unit_of_row] < 0, own[number], totals[unit_of_row])
        holding[number] = units * -math.expm1(-said / units)
    weights = np.array([weight for _, weight, _ in held_terms], np.float32)
    telling = weights * np.array([held.telling for *_, held in held_terms], np.float32)
    rarity = np.log1p((units - holding + 0.5) / (holding + 0.5)).astype(np.float32)
    lengths = view.column("length")
    near_lengths = np.where(around < view.rows, lengths[np.minimum(around, view.rows - 1)], 0) @ kernel
    reach = float(kernel.sum()) if units < view.said else 1.0
    return WordScores(
        terms=[term for term, *_ in held_terms],
        places=None,
        own_counts=own,
        near_counts=near,
        telling=telling,
        missing=_missing(view, terms, held_terms),
        own_score=saturated(own, telling, lengths[rows], view.mean_length),
        near_score=saturated(near, telling, near_lengths, view.mean_length * reach),
        session_score=saturated(
            by_unit, weights * rarity, view.unit_lengths_of(rows), view.mean_length * view.said / units
        ),
    )


def _counted(at: Ints, counts: Floats, rows: Ints, scratch: Floats) -> Floats:
    """How often a term that stands in these places occurs in some rows; few rows are looked up one by one."""
    if len(at) > 16 * rows.size:
        place = np.minimum(np.searchsorted(at, rows), len(at) - 1)
        return np.where(at[place] == rows, counts[place], np.float32(0))
    scratch[at] = counts
    row_counts = scratch[rows]
    scratch[at] = 0
    return row_counts


def saturated(counts: Floats, telling: Floats, lengths: Floats, mean: float) -> Floats:
    """Okapi BM25: counts by term and row, what each term tells, the length of each row."""
    slack = np.float32(K1 * B / mean) * lengths
    slack += np.float32(K1 * (1 - B))
    shares = counts + slack
    np.divide(counts, shares, out=shares)
    return (telling * np.float32(K1 + 1)) @ shares


def _held(view: View, terms: Terms) -> list[tuple[int, float, Held]]:
    """The terms that occur in living rows, each with its weight in the question and where it stands."""
    return [(term, weight, held) for term, weight in terms if len((held := view.held(term)).rows)]


def _missing(view: View, terms: Terms, held_terms: list[tuple[int, float, Held]]) -> float:
    if len(held_terms) == len(terms):
        return 0.0
    here = {term for term, *_ in held_terms}
    return view.idf(0) * sum(weight for term, weight in terms if term not in here)
