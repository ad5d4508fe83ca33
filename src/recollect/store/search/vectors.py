"""The vectors of a view: exact while there are few, a compressed short-list and a rescore when there are many.

Up to ``EXACT_ROWS`` rows the vectors are one float32 matrix and a query is one product with it. Past that, each vector
is kept as its signs (one bit a dimension) and as eight-bit integers with a scale: the signs give a short-list by
Hamming distance, the integers score it. Both are derived from what the database holds and are rebuilt from it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

EXACT_ROWS = 20_000
SHORT_LIST = 3_000


def grown(array: NDArray[np.generic], rows: int) -> NDArray[np.generic]:
    """The array with room for at least so many rows; new room is zero."""
    if rows <= len(array):
        return array
    room = max(rows, 64, len(array) + (len(array) >> (1 if len(array) < 4096 else 2)))
    wider = np.zeros((room, *array.shape[1:]), array.dtype)
    wider[: len(array)] = array
    return wider


class Vectors:
    """Unit vectors by row; a row without one scores 0."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.rows = 0
        self._exact: Floats = np.zeros((0, dimensions), np.float32)
        self._signs: NDArray[np.uint64] | None = None
        self._small: NDArray[np.int8] = np.zeros((0, dimensions), np.int8)
        self._scale: Floats = np.zeros(0, np.float32)

    @property
    def compressed(self) -> bool:
        return self._signs is not None

    @property
    def nbytes(self) -> int:
        signs = 0 if self._signs is None else self._signs.nbytes
        return int(self._exact.nbytes + self._small.nbytes + self._scale.nbytes + signs)

    def add(self, first: int, block: Floats) -> None:
        """Vectors of the rows from ``first`` on; all-zero where a row has none."""
        end = first + len(block)
        if self._signs is None and end > EXACT_ROWS:
            self._compress()
        if self._signs is None:
            self._exact = grown(self._exact, end)  # type: ignore[assignment]
            self._exact[first:end] = block
        else:
            self._add_compressed(first, end, block)
        self.rows = max(self.rows, end)

    def take(self, rows: Ints) -> Floats:
        """The vectors of these rows."""
        if self._signs is None:
            return self._exact[rows]
        taken: Floats = self._small[rows].astype(np.float32)
        taken *= self._scale[rows, None]
        return taken

    def scores(self, query: Floats) -> Floats:
        """The cosine of every row with the query; only while exact."""
        return self._exact[: self.rows] @ query

    def short_list(self, query: Floats, allowed: Flags) -> Ints:
        """The rows most likely to be nearest, of those allowed, when compressed."""
        assert self._signs is not None
        asked = _signs_of(query[None, :])[0]
        distance = np.zeros(self.rows, np.uint16)
        for word in range(self._signs.shape[0]):
            distance += np.bitwise_count(self._signs[word, : self.rows] ^ asked[word])
        distance[~allowed[: self.rows]] = self.dimensions + 64
        reach = np.searchsorted(np.cumsum(np.bincount(distance, minlength=self.dimensions + 65)), SHORT_LIST)
        rows = np.flatnonzero(distance <= min(int(reach), self.dimensions + 63))
        return rows.astype(np.int32)

    def _compress(self) -> None:
        words = -(-self.dimensions // 64)
        self._signs = np.zeros((words, 0), np.uint64)
        block, self._exact = self._exact[: self.rows], np.zeros((0, self.dimensions), np.float32)
        if len(block):
            self._add_compressed(0, len(block), block)

    def _add_compressed(self, first: int, end: int, block: Floats) -> None:
        assert self._signs is not None
        if end > self._signs.shape[1]:
            room = max(end, self._signs.shape[1] + (self._signs.shape[1] >> 2))
            wider = np.zeros((self._signs.shape[0], room), np.uint64)
            wider[:, : self._signs.shape[1]] = self._signs
            self._signs = wider
        self._small = grown(self._small, end)  # type: ignore[assignment]
        self._scale = grown(self._scale, end)  # type: ignore[assignment]
        largest = np.abs(block).max(axis=1) / 127.0
        self._scale[first:end] = largest
        self._small[first:end] = np.rint(block / np.where(largest == 0, 1, largest)[:, None]).astype(np.int8)
        self._signs[:, first:end] = _signs_of(block).T


def _signs_of(block: Floats) -> NDArray[np.uint64]:
    bits = np.packbits(block > 0, axis=1)
    missing = -bits.shape[1] % 8
    if missing:
        bits = np.pad(bits, ((0, 0), (0, missing)))
    return np.ascontiguousarray(bits).view(np.uint64)
