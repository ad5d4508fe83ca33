"""The arms of recall: score each row of a view by words, meaning, time and speaker.

All rows of a small view are scored. In a larger one a short list is made first (the best rows by their words, by the
words around them, and by meaning), and only these are scored in full. A row gets the same scores either way; only a row
that is on no list can be missed. In a very large view the words around a row are no list of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmind.recall.lexical import Floats, Ints, Terms, WordScores, score_all_rows, score_some_rows
from longmind.recall.policy import Weights
from longmind.recall.query import Query
from longmind.store.search.near_norms import lines
from longmind.store.search.okapi import LARGE, best_by_words
from longmind.store.search.threads import REACH, WEIGHTS, surroundings
from longmind.store.search.view import View
from longmind.text.index_terms import ASKS, COUNTED, DATED, mark_hash, speaker_mark

WHOLE = 20_000
"""Rows up to which all rows of a view are scored."""
LISTED = 250
"""Rows that each arm puts on the short list of a larger view."""
CELLS = 4_000_000
"""The limit on terms times rows; a longer question is cut to its rarest terms."""
USUAL = Weights()
"""The weights by which the words around a row and those of its session are added up for the short list."""
FADES = 14 * 86_400.0
"""Seconds of exponential decay after the time asked for: people tell of things after they happen."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Features of rows that do not depend on the question."""

    fullness: Floats
    """How much a row says, from 0 to 1."""
    asks: Floats
    dated: Floats
    counted: Floats
    reply: Floats

    def joined(self, more: Marks) -> Marks:
        """Return these marks and those of the rows that follow."""
        return Marks(*(np.concatenate((getattr(self, f.name), getattr(more, f.name))) for f in fields(self)))


@dataclass(slots=True)
class ArmScores:
    """The scores that the arms give some rows of a view, each array in the order of ``rows``."""

    rows: Ints
    words: WordScores
    cosine: Floats
    near_cosine: Floats
    context_weight: Floats
    marks: Marks
    speaker: Floats
    time: Floats


def score_rows(view: View, query: Query, terms: Terms, vector: Floats | None, allowed: NDArray[np.bool_]) -> ArmScores:
    """Score the rows of a view that may fit a question."""
    if vector is not None and (view.vectors.dimensions == 0 or not vector.any()):
        vector = None
    whole = view.rows <= WHOLE
    if whole:
        rows = np.arange(view.rows, dtype=np.int32)
        words = score_all_rows(view, terms)
        cosine, near_cosine = _cosines_of_all(view, vector)
        context_weight = view.threads.context_weight
    elif view.rows <= LARGE:  # words are counted in all rows, which costs less than looking them up around many
        all_words = score_all_rows(view, terms)
        rows = _short_list(view, _best_by_scores(all_words, allowed), vector, allowed)
        around = lines(view, rows, REACH)
        words = all_words.of_rows(rows)
        cosine, near_cosine = _cosines_of(view, vector, rows, around)
        context_weight = view.threads.context_weight[rows]
    else:
        best = best_by_words(view, terms, allowed, LISTED)[0]
        rows = _short_list(view, [best], vector, allowed)
        around = lines(view, rows, REACH)
        words = score_some_rows(view, terms, rows, around)
        cosine, near_cosine = _cosines_of(view, vector, rows, around)
        context_weight = view.context_weights_of(rows)
    return ArmScores(
        rows=rows,
        words=words,
        cosine=cosine,
        near_cosine=near_cosine,
        context_weight=context_weight,
        marks=view.kept("marks", lambda first: _marks(view, rows[first:]), Marks.joined)
        if whole
        else _marks(view, rows),
        speaker=_flags(view, [speaker_mark(stem) for stem in query.stems], rows),
        time=_time_scores(view, query, rows),
    )


def cut_terms(view: View, terms: Terms) -> Terms:
    """Return the terms of a question; only the rarest if there are too many for a view of this size."""
    most = max(16, CELLS // max(view.rows if view.rows <= LARGE else WHOLE, 1))
    if len(terms) <= most:
        return terms
    return sorted(terms, key=lambda term: len(view.postings.find(term[0])[0]) or view.rows)[:most]


# -- meaning ---------------------------------------------------------------------------------------------------------


def _cosines_of_all(view: View, vector: Floats | None) -> tuple[Floats, Floats]:
    if vector is None:
        nothing = np.zeros(view.rows, np.float32)
        return nothing, nothing
    cosine, threads = view.vectors.scores(vector), view.threads
    spread = np.zeros(threads.size, np.float32)
    spread[threads.place] = cosine
    spread[-1] = 0
    return cosine, _safe_divide(surroundings(spread)[threads.place], view.near_norms())


def _cosines_of(view: View, vector: Floats | None, rows: Ints, around: Ints) -> tuple[Floats, Floats]:
    if vector is None:
        nothing = np.zeros(len(rows), np.float32)
        return nothing, nothing
    every, places = np.unique(around, return_inverse=True)
    there = every < view.rows
    scores = np.zeros(len(every), np.float32)
    scores[there] = view.vectors.take(every[there]) @ vector
    by_place = scores[places.reshape(around.shape)]
    return by_place[:, REACH], _safe_divide(by_place @ np.array(WEIGHTS, np.float32), view.near_norms(rows))


def _safe_divide(sums: Floats, norms: NDArray[np.floating[Any]]) -> Floats:
    """Divide dot products by norms; 0 where there is no vector."""
    cosines: Floats = np.divide(sums, norms, out=np.zeros_like(sums), where=norms > 0)
    return cosines


def _best_by_scores(words: WordScores, allowed: NDArray[np.bool_]) -> list[Ints]:
    """Return the best allowed rows by their own words, and by the words around them and of their session."""
    window, session = USUAL.window, USUAL.session
    around = window * _scaled(words.near_score, allowed) + session * _scaled(words.session_score, allowed)
    lists = []
    for scores in (words.own_score * allowed, around):
        best = _best(scores, LISTED)
        lists.append(best[scores[best] > 0].astype(np.int32))
    return lists


def _scaled(scores: Floats, allowed: NDArray[np.bool_]) -> Floats:
    """Return the scores of allowed rows as shares of the best; 0 for the others."""
    scores = scores * allowed
    most = float(scores.max(initial=0.0))
    scaled: Floats = scores / np.float32(most) if most > 0 else scores
    return scaled


def _short_list(view: View, best_by_words: Sequence[Ints], vector: Floats | None, allowed: NDArray[np.bool_]) -> Ints:
    """Return the best rows by words, the best by meaning, and the neighbours of the very best."""
    best = list(best_by_words)
    if vector is not None:
        flags = allowed & view.column("has_vector")[: view.rows]
        if view.vectors.compressed:
            near = view.vectors.short_list(vector, flags)
            cosines = view.vectors.cosines(near, vector)
        else:
            near = np.flatnonzero(flags).astype(np.int32)
            cosines = view.vectors.scores(vector)[near]
        best.append(near[_best(cosines, LISTED)])
    beside = lines(view, np.concatenate([part[: LISTED // 4] for part in best]), 1).ravel()
    beside = beside[beside < view.rows]
    every = np.unique(np.concatenate([*best, beside[allowed[beside]]]))
    return every.astype(np.int32)


def _best(scores: Floats, most: int) -> NDArray[np.intp]:
    """Return the indexes of the highest scores, the highest first; equal scores keep their order."""
    if len(scores) > most:
        kept = np.sort(np.argpartition(-scores, most - 1)[:most])
        return kept[np.argsort(-scores[kept], kind="stable")]
    return np.argsort(-scores, kind="stable")


# -- the rest --------------------------------------------------------------------------------------------------------


def _marks(view: View, rows: Ints) -> Marks:
    return Marks(
        fullness=np.minimum(np.log1p(view.column("length")[rows]) / np.float32(math.log(16)), 1.0),
        asks=_flags(view, [ASKS], rows),
        dated=_flags(view, [DATED], rows),
        counted=_flags(view, [COUNTED], rows),
        reply=_flags(view, ["role assistant"], rows),
    )


def _flags(view: View, marks: Sequence[str], rows: Ints) -> Floats:
    """Return 1 for rows that have any of these marks, else 0."""
    marked = [view.postings.find(mark_hash(mark))[0] for mark in marks]
    marked = [at for at in marked if len(at)]
    if sum(map(len, marked)) > 16 * len(rows):  # a binary search for few rows is cheaper than flagging many
        near = [at[np.minimum(np.searchsorted(at, rows), len(at) - 1)] == rows for at in marked]
        carried: Floats = np.any(near, axis=0).astype(np.float32)
        return carried
    scratch = view.blank()
    for at in marked:
        scratch[at] = 1
    flags = scratch[rows]
    for at in marked:
        scratch[at] = 0
    return flags


def _time_scores(view: View, query: Query, rows: Ints) -> Floats:
    """Return how surely each row lies in the time the question names, up to 1; less for rows soon after it."""
    span = query.span
    if span is None:
        return np.zeros(len(rows), np.float32)
    when = view.column("occurred_at")[rows]
    since = -math.inf if span.since is None else span.since.timestamp()
    until = math.inf if span.until is None else span.until.timestamp()
    late = np.clip((when - until) / FADES, 0, 50) if span.since is not None else np.full(len(rows), 50.0)
    score = np.where(when < since, 0.0, np.where(when < until, 1.0, 0.6 * np.exp(-late)))
    return (span.confidence * score).astype(np.float32)
