"""The vectors of a view: exact while there are few; compressed, short-listed and rescored when there are many.

Up to ``EXACT_ROWS`` rows the vectors are one matrix in half precision, as the database holds them, and a query is one
product with it. The product needs single precision, so a view that is in use keeps a widened copy, until others are
used more recently (``views.WIDENED``); widening loses nothing. Past that number of rows, each vector is kept as its
signs (one bit a dimension) and as eight-bit integers with a scale: the signs give a short-list by Hamming distance (the
signs of the query's largest numbers count twice), the integers score it. Both are derived from what the database holds
and are rebuilt from it.

Past ``LARGE`` rows the plain Hamming distance, which costs less than half as much, first leaves a twentieth of the
rows. Of so few the signs can be weighed more finely (in steps, by how large the query's number is), which makes up
for the nearest that the first step loses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]
Halves = NDArray[np.float16]
Bits = NDArray[np.uint64]
"""A bit for each dimension, 64 to a word: words down, rows across."""
Distances = NDArray[np.unsignedinteger[Any]]

EXACT_ROWS = 20_000
SHORT_LIST = 3_000
SHARE = 125
"""One row in ``SHARE`` is short-listed if that is more than ``SHORT_LIST``: of a million, 8,000."""
HEAVY = (0.4,)
"""The share of a query's numbers, the largest, whose signs count twice. On 150,000 texts whose vectors are hard to tell
apart the short-list then holds 0.995 of the ten nearest, against 0.968 when all signs count alike."""
LARGE = 100_000
"""The number of rows past which the plain distance is computed first."""
COARSE = 24_000
COARSE_SHARE = 20
"""As ``SHORT_LIST`` and ``SHARE``, for the rows that pass the plain distance."""
LARGE_HEAVY = (0.7, 0.45, 0.2)
"""As ``HEAVY`` for these: the signs of the largest fifth count four times."""
_BLOCK = 32_768
_SCORED = 512
"""Rows of a large view that are scored together, so that their floats stay in the processor's cache."""
_SIGN_AND_NUMBER = np.int32(-0x70000001)
"""The bits of a number in single precision that one in half precision has: not the three highest of the exponent."""
_BIAS = np.float32(2.0**112)
_SAMPLED = 31
"""One row in so many is sampled to choose the limit of the plain distance."""


def grown(array: NDArray[np.generic], rows: int) -> NDArray[np.generic]:
    """Return the array with a capacity of at least so many rows; new rows are zero."""
    if rows <= len(array):
        return array
    scoped = max(rows, 64, len(array) + (len(array) >> (1 if len(array) < 4096 else 2)))
    wider = np.zeros((scoped, *array.shape[1:]), array.dtype)
    wider[: len(array)] = array
    return wider


class Vectors:
    """Unit vectors by row; a row without one scores 0."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.rows = 0
        self._exact: Halves = np.zeros((0, dimensions), np.float16)
        self._widened: Floats | None = None
        """The rows of ``_exact`` in single precision, with room for more; only of a view that is in use."""
        self._widened_rows = 0
        self._signs: Bits | None = None
        self._small: NDArray[np.int8] = np.zeros((0, dimensions), np.int8)
        self._scale: Floats = np.zeros(0, np.float32)

    @property
    def compressed(self) -> bool:
        return self._signs is not None

    @property
    def nbytes(self) -> int:
        signs = 0 if self._signs is None else self._signs.nbytes
        return int(self._exact.nbytes + self._small.nbytes + self._scale.nbytes + signs)

    @property
    def widened_bytes(self) -> int:
        """How much memory the copy in single precision takes."""
        return 0 if self._widened is None else int(self._widened.nbytes)

    def narrow(self) -> None:
        """Drop the copy in single precision; it is made again when it is needed."""
        self._widened, self._widened_rows = None, 0

    def add(self, first: int, block: Halves) -> None:
        """Add the vectors of the rows from ``first`` on; all-zero where a row has none."""
        end = first + len(block)
        if self._signs is None and end > EXACT_ROWS:
            self._compress()
        if self._signs is None:
            self._exact = grown(self._exact, end)  # type: ignore[assignment]
            self._exact[first:end] = block
        else:
            self._add_compressed(first, end, block)
        self.rows = max(self.rows, end)

    def compressed_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the compressed vectors; nothing if there are no dimensions."""
        if self._signs is None:
            return {}
        return {
            "signs": self._signs[:, : self.rows],
            "small": self._small[: self.rows],
            "scale": self._scale[: self.rows],
        }

    def restore(self, rows: int, signs: Bits, small: NDArray[np.int8], scale: Floats) -> None:
        """Take in compressed vectors. There must be no others."""
        self.rows, self._signs, self._small, self._scale = rows, signs, small, scale

    def take(self, rows: Ints) -> Floats:
        """Return the vectors of these rows."""
        if self._signs is None:
            wide = self._widened
            if wide is not None and self._widened_rows == self.rows:
                return wide[rows]
            return self._exact[rows].astype(np.float32)
        taken: Floats = self._small[rows].astype(np.float32)
        taken *= self._scale[rows, None]
        return taken

    def scores(self, query: Floats) -> Floats:
        """Return the cosine of every row with the query; only while exact."""
        return self._wide()[: self.rows] @ query

    def _wide(self) -> Floats:
        """Return the vectors in single precision; only the rows that are new since the last time are widened."""
        wide = np.zeros((0, self.dimensions), np.float32) if self._widened is None else self._widened
        if self._widened_rows < self.rows:
            wide = grown(wide, len(self._exact))  # type: ignore[assignment]
            _widen(self._exact[self._widened_rows : self.rows], wide[self._widened_rows : self.rows])
            self._widened, self._widened_rows = wide, self.rows
        return wide

    def cosines(self, rows: Ints, query: Floats) -> Floats:
        """Return the cosine of each of these rows with the query."""
        if self.rows <= LARGE:
            return self.take(rows) @ query
        cosines_found = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _SCORED):
            part = slice(start, start + _SCORED)
            cosines_found[part] = self.take(rows[part]) @ query
        return cosines_found

    def short_list(self, query: Floats, allowed: Flags) -> Ints:
        """Return the allowed rows that are most likely nearest, in ascending order; only when compressed."""
        assert self._signs is not None
        signs, allowed = self._signs[:, : self.rows], allowed[: self.rows]
        masks = _masks(query, HEAVY if self.rows <= LARGE else LARGE_HEAVY)
        sifted = max(COARSE, self.rows // COARSE_SHARE)
        if self.rows > LARGE and np.count_nonzero(allowed) > sifted:
            rows = _sifted(signs, masks[:, 0], allowed, sifted)
        else:
            rows = np.flatnonzero(allowed).astype(np.int32)
        distance = _weighed(signs, rows, masks)
        return rows[distance <= _reaching(distance, max(SHORT_LIST, self.rows // SHARE))]

    def _compress(self) -> None:
        words = -(-self.dimensions // 64)
        self._signs = np.zeros((words, 0), np.uint64)
        block, self._exact = self._exact[: self.rows], np.zeros((0, self.dimensions), np.float16)
        self.narrow()
        if len(block):
            self._add_compressed(0, len(block), block)

    def _add_compressed(self, first: int, end: int, halves: Halves) -> None:
        assert self._signs is not None
        block = halves.astype(np.float32)
        if end > self._signs.shape[1]:
            capacity = max(end, self._signs.shape[1] + (self._signs.shape[1] >> 2))
            wider = np.zeros((self._signs.shape[0], capacity), np.uint64)
            wider[:, : self._signs.shape[1]] = self._signs
            self._signs = wider
        self._small = grown(self._small, end)  # type: ignore[assignment]
        self._scale = grown(self._scale, end)  # type: ignore[assignment]
        largest = np.abs(block).max(axis=1) / 127.0
        self._scale[first:end] = largest
        self._small[first:end] = np.rint(block / np.where(largest == 0, 1, largest)[:, None]).astype(np.int8)
        self._signs[:, first:end] = _signs_of(block).T


def _widen(halves: Halves, wide: Floats) -> None:
    """Write numbers of half precision in single precision.

    Done on the bits, which is several times faster than numpy's own conversion: the exponent and the fraction are moved
    to their places, and the product corrects the bias of the exponent. Infinities and NaN, which no vector has, would
    come out wrong.
    """
    bits = wide.view(np.int32)
    np.copyto(bits, halves.view(np.int16), casting="safe")
    np.left_shift(bits, 13, out=bits)
    np.bitwise_and(bits, _SIGN_AND_NUMBER, out=bits)
    np.multiply(wide, _BIAS, out=wide)


def _signs_of(block: Floats) -> NDArray[np.uint64]:
    bits = np.packbits(block > 0, axis=1)
    missing = -bits.shape[1] % 8
    if missing:
        bits = np.pad(bits, ((0, 0), (0, missing)))
    return np.ascontiguousarray(bits).view(np.uint64)


def _sifted(signs: Bits, query_signs: Bits, allowed: Flags, wanted: int) -> Ints:
    """Return about ``wanted`` allowed rows, those that differ from the query in the fewest signs."""
    distance: Distances = np.zeros(len(allowed), np.uint8 if len(signs) <= 4 else np.uint16)
    # with 256 signs and all of them wrong a byte says 0: such a row is let through here and falls at the next step
    for start in range(0, len(distance), _BLOCK):
        block = distance[start : start + _BLOCK]
        for bits, word in zip(signs, query_signs, strict=True):
            block += np.bitwise_count(bits[start : start + _BLOCK] ^ word)
    for step in (_SAMPLED, 1):
        reach = _reaching(distance[::step][allowed[::step]], wanted // step)
        rows = np.flatnonzero((distance <= reach) & allowed)
        if len(rows) >= wanted // 2:  # if not, the rows of the sample were not like the others
            break
    return rows.astype(np.int32)


def _weighed(signs: Bits, rows: Ints, masks: Bits) -> Distances:
    """Return the weighted number of signs in which each of these rows differs from the query."""
    distance = np.zeros(len(rows), np.uint16)
    for bits, (query_signs, *again) in zip(signs, masks, strict=True):
        differing = bits.take(rows) ^ query_signs
        distance += np.bitwise_count(differing)
        for mask in again:
            distance += np.bitwise_count(differing & mask)
    return distance


def _masks(query: Floats, heavy: Sequence[float]) -> Bits:
    """Return the signs of a query and, for each share in ``heavy``, a mask of its largest numbers."""
    lines = np.zeros((1 + len(heavy), len(query)), np.float32)
    lines[0] = query
    largest = np.argsort(-np.abs(query))
    for line, share in zip(lines[1:], heavy, strict=True):
        line[largest[: int(share * len(query))]] = 1
    return _signs_of(lines).T


def _reaching(distances: Distances, wanted: int) -> int:
    """Return the distance within which ``wanted`` rows lie, or the greatest if there are fewer."""
    return int(np.searchsorted(np.cumsum(np.bincount(distances)), wanted))
