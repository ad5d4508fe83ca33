"""The two plain searches of a store: by words, and by vector. Recall has richer ones, over the same view."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from longmind.errors import InvalidInput, ModelMismatch
from longmind.store.search.filtering import passing_rows
from longmind.store.search.okapi import LARGE, best_by_words
from longmind.store.search.view import View
from longmind.text.analysis import term_hash, terms
from longmind.types import Filter, Scored

if TYPE_CHECKING:
    from longmind.store.base import Vector

MAX_QUERY_TERMS = 200
"""A longer query is cut to its rarest terms, so that a pasted page stays cheap."""
MAX_LOOKED_UP = 4_000
"""The terms among which the rarest are looked for: the first of the query."""


def count_terms(text: str) -> dict[int, float]:
    """Return the distinct terms of a query, each with its count in the query."""
    counts: dict[int, float] = {}
    for term in terms(text):
        hashed = term_hash(term)
        counts[hashed] = counts.get(hashed, 0.0) + 1.0
    return counts


def searched_terms(view: View, counts: Mapping[int, float]) -> list[tuple[int, float]]:
    """Return the terms of a query that are searched for: all, or of a long query the rarest of its first thousands."""
    if len(counts) <= MAX_QUERY_TERMS:
        return list(counts.items())
    holders = {h: len(view.postings.find(h)[0]) for h in islice(counts, MAX_LOOKED_UP)}
    rarest = sorted((h for h in holders if holders[h]), key=lambda h: holders[h])[:MAX_QUERY_TERMS]
    return [(h, counts[h]) for h in rarest]


def query_terms(view: View, text: str) -> list[tuple[int, float]]:
    """Return the terms of a text that are searched for, each with its count."""
    return searched_terms(view, count_terms(text))


def by_text(view: View, text: str, k: int, where: Filter, ids: set[str] | None) -> list[Scored]:
    _check(k)
    weighted_terms = query_terms(view, text)
    if view.rows > LARGE:
        rows, scores = best_by_words(view, weighted_terms, passing_rows(view, where, ids), k)
    else:
        rows, scores = view.bm25(weighted_terms)
        passed = passing_rows(view, where, ids)[rows]
        rows, scores = rows[passed], scores[passed]
    return _top(view, rows, scores, k)


def by_vector(view: View, vector: Vector, k: int, where: Filter, ids: set[str] | None) -> list[Scored]:
    _check(k)
    if len(vector) != view.vectors.dimensions:
        raise ModelMismatch(
            f"The question's vector has {len(vector)} numbers and the store's have {view.vectors.dimensions}.",
            hint="Open the store with the embedder it was built with, or run `longmind reembed`.",
        )
    allowed = passing_rows(view, where, ids) & view.column("has_vector")[: view.rows].astype(np.bool_)
    if view.vectors.compressed:
        rows = view.vectors.short_list(vector, allowed)
        scores = view.vectors.cosines(rows, vector)
    else:
        rows = np.flatnonzero(allowed).astype(np.int32)
        scores = view.vectors.scores(vector)[rows]
    return _top(view, rows, scores, k)


def _check(k: int) -> None:
    if k < 1:
        raise InvalidInput(f"k must be at least 1, not {k}.")


def _top(view: View, rows: NDArray[np.int32], scores: NDArray[np.float32], k: int) -> list[Scored]:
    if len(rows) > k:
        kept = np.argpartition(-scores, k - 1)[:k]
        rows, scores = rows[kept], scores[kept]
    order = np.lexsort((rows, -scores))
    return [Scored(id=view.ids[rows[i]], score=float(scores[i])) for i in order]
