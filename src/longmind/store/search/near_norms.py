"""The neighbours of rows in their threads, and the norms of vectors that are summed with their neighbours'."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from longmind.store.search.columns import NONE
from longmind.store.search.threads import REACH, WEIGHTS

if TYPE_CHECKING:
    from longmind.store.search.view import View

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]

_FEW_ROWS = 8
_TINY = np.float32(1e-9)
"""The norm stored for a zero vector, since 0 means that the norm is not known."""


def lines(view: View, rows: Ints, reach: int) -> Ints:
    """Return, for each row, its neighbours in its thread: ``reach`` before, itself, ``reach`` after.

    Where there is none, the number is ``view.rows``: one past the last, where every scratch array holds zero.
    """
    around = np.full((len(rows), 2 * reach + 1), view.rows, np.int32)
    around[:, reach] = rows
    if len(rows) <= _FEW_ROWS:  # numpy costs more for each call than for these rows
        for step, name in ((-1, "before"), (1, "after")):
            column = view.column(name)
            for number, at in enumerate(rows.tolist()):
                for distance in range(1, reach + 1):
                    at = int(column[at])
                    if at == NONE:
                        break
                    around[number, reach + step * distance] = at
        return around
    for step, name in ((-1, "before"), (1, "after")):
        at, column = rows, view.column(name)
        for distance in range(1, reach + 1):
            at = np.where(at == NONE, NONE, column[at])
            around[:, reach + step * distance] = np.where(at == NONE, view.rows, at)
    return around


def near_vectors_of(view: View, rows: Ints) -> Floats:
    """Return the vectors of these rows, each summed with its neighbours', not normalised."""
    around = lines(view, rows, REACH)
    total = np.zeros((len(rows), view.vectors.dimensions), np.float32)
    for column, weight in enumerate(WEIGHTS):
        there = np.flatnonzero(around[:, column] < view.rows)
        total[there] += np.float32(weight) * view.vectors.take(around[there, column])
    return total


class NearNorms:
    """The norms of one view, in its column ``near_norm``."""

    def __init__(self) -> None:
        self.moved: set[int] = set()
        """Rows whose neighbours have changed since their norms were computed."""
        self.settled = 0
        """Rows from this one on are new since then."""
        self._known = (0, 0)
        """For how many rows, and after how many removals, all norms were known."""

    def of(self, view: View, rows: Ints | None = None) -> Floats:
        """Return the norm of each row's vector summed with its neighbours', for these rows or for all.

        It is kept, and worked out again only where the surroundings have changed: of a view that is scored whole for
        every row at once, of a compressed one for a row when it is first asked for.
        """
        norms = view.column("near_norm")
        if self.moved:
            changed = lines(view, np.fromiter(self.moved, np.int32, len(self.moved)), REACH).ravel()
            norms[changed[changed < view.rows]] = 0
            self.moved.clear()
            self._known = (0, 0)
        unknown = self._unknown(view) if rows is None else rows[(norms[rows] == 0) & view.column("alive")[rows]]
        self.settled = view.rows
        for start in range(0, len(unknown), 2_000):
            part = unknown[start : start + 2_000]
            norms[part] = np.maximum(np.linalg.norm(near_vectors_of(view, part), axis=1), _TINY)
        return norms[: view.rows] if rows is None else norms[rows]

    def _unknown(self, view: View) -> Ints:
        if self._known == (view.rows, view.removals):
            return np.empty(0, np.int32)
        self._known = (view.rows, view.removals)
        unknown = (view.column("near_norm")[: view.rows] == 0) & view.column("alive")[: view.rows]
        return np.flatnonzero(unknown).astype(np.int32)
