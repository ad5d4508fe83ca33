"""The arms of recall: how well the words of a question, its meaning, its time and its speakers fit each row of a view.

A small view is scored whole. In a large one the rows worth a closer look are found first (the best by words and the
best by meaning), and only these are scored in full. Both ways give a row the same numbers; only a row that neither arm
puts among its best can be missed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recollect.recall.query import Query
from recollect.store.search.analysis import ASKS, COUNTED, DATED, by, mark_hash
from recollect.store.search.threads import REACH, WEIGHTS, surroundings
from recollect.store.search.view import K1, B, View

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Terms = Sequence[tuple[int, float]]

WHOLE = 20_000
"""Rows up to which a view is scored whole."""
LISTED = 250
"""Rows that each of the two arms puts on the list in a larger view."""
CELLS = 4_000_000
"""Terms times rows that are looked at together; a longer question is cut to its rarest terms."""
FADES = 14 * 86_400.0
"""Seconds in which the interest in what came after the time asked for fades: things are told after they happen."""


@dataclass(slots=True)
class Words:
    """How the words of a question fit: for each term (down) and row (across) how often it occurs."""

    terms: list[int]
    """Those that occur at all."""
    own: Floats
    near: Floats
    telling: Floats
    """How much each term tells: its weight in the question times its rarity."""
    missing: float
    """What the terms that occur nowhere would tell."""
    own_score: Floats
    near_score: Floats
    session_score: Floats

    @property
    def coverage(self) -> Floats:
        """The share of the question, by what its terms tell, that each row and its surroundings contain."""
        total = float(self.telling.sum()) + self.missing
        return (
            (self.telling @ (self.near > 0)) / np.float32(total) if total else np.zeros(self.near.shape[1], np.float32)
        )


@dataclass(slots=True)
class Found:
    """What the arms say of some rows of a view, each array in the order of ``rows``."""

    rows: Ints
    words: Words
    cosine: Floats
    near_cosine: Floats
    leaning: Floats
    fullness: Floats
    speaker: Floats
    asks: Floats
    dated: Floats
    counted: Floats
    reply: Floats
    time: Floats


def look(view: View, query: Query, terms: Terms, vector: Floats | None, allowed: NDArray[np.bool_]) -> Found:
    """Score the rows of a view that may fit a question."""
    if vector is not None and (view.vectors.dimensions == 0 or not vector.any()):
        vector = None
    if view.rows <= WHOLE:
        rows = np.arange(view.rows, dtype=np.int32)
        words = _words_of_all(view, terms)
        cosine, near_cosine = _meaning_of_all(view, vector)
        leaning = view.threads.leaning
    else:
        rows = _worth_a_look(view, terms, vector, allowed)
        around = view.lines(rows, REACH)
        words = _words_of(view, terms, rows, around)
        cosine, near_cosine = _meaning_of(view, vector, rows, around)
        leaning = view.leaning_of(rows)
    return Found(
        rows=rows,
        words=words,
        cosine=cosine,
        near_cosine=near_cosine,
        leaning=leaning,
        fullness=np.minimum(np.log1p(view.column("length")[rows]) / np.float32(math.log(16)), 1.0),
        speaker=_flags(view, [by(stem) for stem in query.stems], rows),
        asks=_flags(view, [ASKS], rows),
        dated=_flags(view, [DATED], rows),
        counted=_flags(view, [COUNTED], rows),
        reply=_flags(view, ["role assistant"], rows),
        time=_in_time(view, query, rows),
    )


def cut(view: View, terms: Terms) -> Terms:
    """The terms of a question that occur here, the rarest of them when they are too many for a view of this size."""
    most = max(16, CELLS // max(min(view.rows, WHOLE), 1))
    if len(terms) <= most:
        return terms
    return sorted(terms, key=lambda term: len(view.postings.find(term[0])[0]) or view.rows)[:most]


# -- words -----------------------------------------------------------------------------------------------------------


def _postings(view: View, terms: Terms) -> list[tuple[int, Ints, Floats, float]]:
    """For each term that occurs: the living rows that have it, how often, and how much it tells."""
    alive = view.column("alive")
    found = []
    for term, weight in terms:
        rows, counts = view.postings.find(term)
        if view.living < view.rows:
            kept = alive[rows]
            rows, counts = rows[kept], counts[kept]
        if len(rows):
            found.append((term, rows, counts.astype(np.float32), weight))
    return found


def _missing(view: View, terms: Terms, found: list[tuple[int, Ints, Floats, float]]) -> float:
    here = {term for term, *_ in found}
    return view.idf(0) * sum(weight for term, weight in terms if term not in here)


def saturated(counts: Floats, telling: Floats, lengths: Floats, mean: float) -> Floats:
    """Okapi BM25: counts by term and row, what each term tells, the length of each row."""
    slack = (K1 * (1 - B) + (K1 * B / mean) * lengths).astype(np.float32)
    return (telling * np.float32(K1 + 1)) @ (counts / (counts + slack))


def _words_of_all(view: View, terms: Terms) -> Words:
    threads, rows = view.threads, view.rows
    found = _postings(view, terms)
    spread = np.zeros((len(found), threads.size), np.float32)
    by_unit = np.zeros((len(found), threads.units), np.float32)
    for number, (_, at, counts, _) in enumerate(found):
        spread[number, threads.place[at]] = counts
        by_unit[number] = np.bincount(threads.unit[at], weights=counts, minlength=threads.units)
    own, near = spread[:, threads.place], surroundings(spread)[:, threads.place]
    weights = np.array([weight for _, _, _, weight in found], np.float32)
    telling = weights * np.array([view.idf(len(at)) for _, at, _, _ in found], np.float32)
    holding = np.count_nonzero(by_unit, axis=1)
    rarity = np.log1p((threads.living_units - holding + 0.5) / (holding + 0.5)).astype(np.float32)
    sessions = saturated(by_unit, weights * rarity, threads.unit_length, threads.unit_mean)
    return Words(
        terms=[term for term, *_ in found],
        own=own,
        near=near,
        telling=telling,
        missing=_missing(view, terms, found),
        own_score=saturated(own, telling, view.column("length")[:rows], view.mean_length),
        near_score=saturated(near, telling, threads.near_length, threads.near_mean),
        session_score=sessions[threads.unit],
    )


def _words_of(view: View, terms: Terms, rows: Ints, around: Ints) -> Words:
    """The same for some rows of a large view, whose surroundings are looked up one by one."""
    found = _postings(view, terms)
    own, near = np.zeros((len(found), len(rows)), np.float32), np.zeros((len(found), len(rows)), np.float32)
    by_unit = np.zeros((len(found), len(rows)), np.float32)
    kernel = np.array(WEIGHTS, np.float32)
    scratch, thread = view.blank(), view.column("thread")
    codes, unit_of_row = np.unique(thread[rows], return_inverse=True)
    holding = np.zeros(len(found), np.float32)
    units = max(view.units, 1)
    for number, (_, at, counts, _) in enumerate(found):
        scratch[at] = counts
        own[number] = scratch[rows]
        near[number] = scratch[around] @ kernel
        scratch[at] = 0
        place = np.searchsorted(codes, thread[at])
        here = codes[np.minimum(place, len(codes) - 1)] == thread[at]
        totals = np.bincount(place[here], weights=counts[here], minlength=len(codes)).astype(np.float32)
        by_unit[number] = np.where(codes[unit_of_row] < 0, own[number], totals[unit_of_row])
        holding[number] = units * -math.expm1(-len(at) / units)
    weights = np.array([weight for _, _, _, weight in found], np.float32)
    telling = weights * np.array([view.idf(len(at)) for _, at, _, _ in found], np.float32)
    rarity = np.log1p((units - holding + 0.5) / (holding + 0.5)).astype(np.float32)
    lengths = np.append(view.column("length")[: view.rows], np.float32(0))
    reach = float(kernel.sum()) if view.units < view.living else 1.0
    return Words(
        terms=[term for term, *_ in found],
        own=own,
        near=near,
        telling=telling,
        missing=_missing(view, terms, found),
        own_score=saturated(own, telling, lengths[rows], view.mean_length),
        near_score=saturated(near, telling, lengths[around] @ kernel, view.mean_length * reach),
        session_score=saturated(
            by_unit, weights * rarity, view.unit_lengths_of(rows), view.mean_length * view.living / units
        ),
    )


# -- meaning ---------------------------------------------------------------------------------------------------------


def _meaning_of_all(view: View, vector: Floats | None) -> tuple[Floats, Floats]:
    if vector is None:
        nothing = np.zeros(view.rows, np.float32)
        return nothing, nothing
    cosine, threads = view.vectors.scores(vector), view.threads
    spread = np.zeros(threads.size, np.float32)
    spread[threads.place] = cosine
    spread[-1] = 0
    norms = view.near_norms()
    return cosine, _divided(surroundings(spread)[threads.place], norms)


def _meaning_of(view: View, vector: Floats | None, rows: Ints, around: Ints) -> tuple[Floats, Floats]:
    if vector is None:
        nothing = np.zeros(len(rows), np.float32)
        return nothing, nothing
    every, places = np.unique(around, return_inverse=True)
    there = every < view.rows
    scores = np.zeros(len(every), np.float32)
    scores[there] = view.vectors.take(every[there]) @ vector
    by_place = scores[places.reshape(around.shape)]
    return by_place[:, REACH], _divided(by_place @ np.array(WEIGHTS, np.float32), view.near_norms(rows))


def _divided(sums: Floats, norms: NDArray[np.floating[Any]]) -> Floats:
    """A cosine from a product and a length; 0 where there is no vector."""
    cosines: Floats = np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0)
    return cosines


def _worth_a_look(view: View, terms: Terms, vector: Floats | None, allowed: NDArray[np.bool_]) -> Ints:
    """The best rows by words and the best by meaning, and those beside the best of them."""
    at, scores = view.bm25(terms)
    kept = allowed[at]
    at, scores = at[kept], scores[kept]
    best = [at[_best(scores, LISTED)]]
    if vector is not None:
        flags = allowed & view.column("has_vector")[: view.rows]
        near: Ints = (
            view.vectors.short_list(vector, flags)
            if view.vectors.compressed
            else np.flatnonzero(flags).astype(np.int32)
        )
        best.append(near[_best(view.vectors.take(near) @ vector, LISTED)])
    beside = view.lines(np.concatenate([part[: LISTED // 4] for part in best]), 1).ravel()
    beside = beside[beside < view.rows]
    every = np.unique(np.concatenate([*best, beside[allowed[beside]]]))
    return every.astype(np.int32)


def _best(scores: Floats, most: int) -> NDArray[np.intp]:
    """The places of the highest scores, the highest first; equal ones in their order."""
    if len(scores) > most:
        kept = np.sort(np.argpartition(-scores, most - 1)[:most])
        return kept[np.argsort(-scores[kept], kind="stable")]
    return np.argsort(-scores, kind="stable")


# -- the rest --------------------------------------------------------------------------------------------------------


def _flags(view: View, marks: Sequence[str], rows: Ints) -> Floats:
    """1 for rows that carry any of these marks."""
    scratch = view.blank()
    marked = [view.postings.find(mark_hash(mark))[0] for mark in marks]
    marked = [at for at in marked if len(at)]
    for at in marked:
        scratch[at] = 1
    flags = scratch[rows]
    for at in marked:
        scratch[at] = 0
    return flags


def _in_time(view: View, query: Query, rows: Ints) -> Floats:
    """1 for rows in the time the question names, less for those told soon after."""
    span = query.span
    if span is None:
        return np.zeros(len(rows), np.float32)
    when = view.column("occurred_at")[rows]
    since = -math.inf if span.since is None else span.since.timestamp()
    until = math.inf if span.until is None else span.until.timestamp()
    late = np.clip((when - until) / FADES, 0, 50) if span.since is not None else np.full(len(rows), 50.0)
    score = np.where(when < since, 0.0, np.where(when < until, 1.0, 0.6 * np.exp(-late)))
    return score.astype(np.float32)
