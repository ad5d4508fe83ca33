"""The live rows of the terms that were asked for, cached, since the same words recur."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from longmind.store.search.view import View

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]

_MAX_CACHED_POSTINGS = 1_000_000
"""The most postings in the cache of term rows. A term in a large part of the view is not cached."""


class TermRows(NamedTuple):
    """The live rows that contain a term, its count in each, and its inverse document frequency."""

    rows: Ints
    counts: Floats
    said: int
    """How many of the rows are of kinds that count (not derived from others)."""
    idf: float


class _CachedTerm(NamedTuple):
    """The live rows of a term as they were worked out, and from what."""

    postings: tuple[Ints, NDArray[np.uint8]]
    removals: int
    rows: Ints
    counts: Floats
    said: int


class TermCache:
    """The live rows of terms in one view; worked out again when a row has come to a term or one was removed."""

    def __init__(self) -> None:
        self._cache: dict[int, _CachedTerm] = {}
        self._cached_postings = 0

    def rows_of(self, view: View, term: int) -> TermRows:
        """Return the live rows of a term."""
        postings = view.postings.find(term)
        known = self._cache.get(term)
        if known is None or known.postings is not postings or known.removals != view.removals:
            known = self._live_rows(view, term, postings)
        said = len(known.rows) if view.said == view.living else known.said
        return TermRows(known.rows, known.counts, said, view.idf(said))

    def _live_rows(self, view: View, term: int, postings: tuple[Ints, NDArray[np.uint8]]) -> _CachedTerm:
        rows, counts = postings
        if view.living < view.rows:
            kept = view.column("alive")[rows]
            rows, counts = rows[kept], counts[kept]
        said = int(np.count_nonzero(view.column("said")[rows]))
        found = _CachedTerm(postings, view.removals, rows, counts.astype(np.float32), said)
        before = self._cache.pop(term, None)
        self._cached_postings -= 0 if before is None else len(before.rows) + 1
        if len(rows) <= _MAX_CACHED_POSTINGS // 20:
            self._cached_postings += len(rows) + 1
            if self._cached_postings > _MAX_CACHED_POSTINGS:
                self._cache.clear()
                self._cached_postings = len(rows) + 1
            self._cache[term] = found
        return found
