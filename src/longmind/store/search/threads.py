"""Rows in the order of their threads: the turns of a session and the passages of a document, in one array.

A turn is understood by what was said around it. Here every living row has a place in one long array, in the order of
its thread, with empty places between two threads. What surrounds a row is then what stands beside it, and a weighted
sum over the surroundings is a sum of shifted copies of the array: no table of neighbours, no loop over rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from longmind.store.search.view import View

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]

REACH = 2
WEIGHTS = (0.3, 0.6, 1.0, 0.4, 0.2)
"""How much the two turns before, the turn itself and the two after count. What went before counts more: a question
comes before its answer."""
MOST_INSERTED = 32
"""New rows that are inserted into a layout one by one; more are laid out anew with all others."""
SHORT = 40.0
"""The length in terms at which the surroundings of a text count half."""


@dataclass(frozen=True, slots=True)
class Threads:
    """The position of each row, and the statistics of its surroundings that do not depend on a query."""

    size: int
    place: Ints
    """The position of each row. Removed rows share the last position, which stays empty."""
    unit: Ints
    """The thread number of each row. A row without a thread is a thread of its own."""
    units: int
    unit_length: Floats
    length: Floats
    """The length of the row at each position."""
    near_length: Floats
    """The weighted length of each row with its surroundings."""
    near_mean: float
    unit_mean: float
    said_units: Flags | None
    """Which threads hold kinds that count (not derived ones); None if all do."""
    counted_units: int
    """The number of those threads."""
    context_weight: Floats
    """How much the surroundings of each row count, 0 to 1: more for short texts than for long ones."""

    counted: NDArray[np.int64]
    """How many rows each thread has."""
    total_length: NDArray[np.float64]
    """The length of each thread in double precision, to which new rows are added."""
    threads: int
    """The number of threads that are sessions or documents; those of single rows come after them."""
    first_alone: int
    """The position at which the rows without a thread begin."""

    @classmethod
    def of(cls, view: View) -> Threads:
        """Lay out all living rows."""
        rows = view.rows
        alive = np.flatnonzero(view.column("alive")[:rows])
        lengths = view.column("length")[:rows]
        unit, threads, units = _units(view.column("thread")[:rows])
        order = alive[np.lexsort((view.column("seq")[alive], view.column("occurred_at")[alive], unit[alive]))]
        begins = np.concatenate(([False], unit[order][1:] != unit[order][:-1])) if len(order) else np.zeros(0, np.bool_)
        places = REACH + np.arange(len(order)) + REACH * np.cumsum(begins)
        size = int(places[-1]) + REACH + 2 if len(order) else REACH + 2
        place = np.full(rows, size - 1, np.int32)
        place[order] = places
        spread = np.zeros(size, np.float32)
        spread[place[alive]] = lengths[alive]
        at_alone = int(np.searchsorted(unit[order], threads))
        return _described(
            view,
            place,
            unit,
            spread,
            np.bincount(unit[alive], minlength=units),
            np.bincount(unit[alive], weights=lengths[alive], minlength=units).astype(np.float64, copy=False),
            threads,
            int(places[at_alone]) if at_alone < len(places) else size - 1,
        )

    def with_new_rows(self, view: View) -> Threads | None:
        """Return the layout with the rows that were appended since, or None if it has to be laid out anew.

        That is so if a row does not stand at the end of its thread, and for many rows. No row may have been removed.
        """
        first, new = len(self.place), view.rows - len(self.place)
        if not first or self.size == REACH + 2 or new > MOST_INSERTED:
            return None
        before, after, thread = (view.column(name) for name in ("before", "after", "thread"))
        place = np.concatenate((self.place, np.zeros(new, np.int32)))
        unit = np.concatenate((self.unit, np.zeros(new, np.int32)))
        spread, counted, total = self.length, self.counted, self.total_length
        threads, first_alone = self.threads, self.first_alone
        for row in range(first, view.rows):
            of_thread, length = int(thread[row]), float(view.column("length")[row])
            follows, starts = int(before[row]), of_thread < 0 or of_thread == threads
            if follows >= row or 0 <= after[row] < row or (follows < 0 and not starts):
                return None
            gap = REACH if starts else 0
            if of_thread < 0:
                at, of_unit = len(spread) - 1, len(counted)
            elif starts:
                at, of_unit, threads = first_alone, threads, threads + 1
                unit[:row][unit[:row] >= of_unit] += 1
            else:
                at, of_unit = int(place[follows]) + 1, of_thread
            if starts:
                counted, total = np.insert(counted, of_unit, 0), np.insert(total, of_unit, 0.0)
            else:
                counted, total = counted.copy(), total.copy()
            counted[of_unit] += 1
            total[of_unit] += length
            place[:row][place[:row] >= at] += 1 + gap
            place[row], unit[row] = at, of_unit
            spread = np.concatenate((spread[:at], np.array([length] + [0.0] * gap, np.float32), spread[at:]))
            first_alone += 0 if of_thread < 0 else 1 + gap
        return _described(view, place, unit, spread, counted, total, threads, first_alone)


def _described(
    view: View,
    place: Ints,
    unit: Ints,
    spread: Floats,
    counted: NDArray[np.int64],
    total: NDArray[np.float64],
    threads: int,
    first_alone: int,
) -> Threads:
    """Return a layout with the statistics that follow from it."""
    unit_length = total.astype(np.float32)
    near_length = surroundings(spread)
    said = np.flatnonzero(view.said_rows())
    of_said = np.bincount(unit[said], minlength=len(counted)) > 0
    counted_units = max(int(np.count_nonzero(of_said)), 1)
    return Threads(
        size=len(spread),
        place=place,
        unit=unit,
        units=len(counted),
        unit_length=unit_length,
        length=spread,
        near_length=near_length,
        near_mean=float(near_length[place[said]].sum()) / max(len(said), 1) or 1.0,
        unit_mean=float(unit_length[of_said].sum()) / counted_units or 1.0,
        said_units=None if len(said) == view.living else of_said,
        counted_units=counted_units,
        context_weight=(SHORT / (SHORT + unit_length / np.maximum(counted, 1))).astype(np.float32)[unit],
        counted=counted,
        total_length=total,
        threads=threads,
        first_alone=first_alone,
    )


def surroundings(values: NDArray[Any]) -> Floats:
    """Return the weighted sum of each position's value and those beside it, along the last axis."""
    total: Floats = values.astype(np.float32)
    for offset, weight in zip(range(-REACH, REACH + 1), WEIGHTS, strict=True):
        if offset < 0:
            total[..., -offset:] += np.float32(weight) * values[..., :offset]
        elif offset > 0:
            total[..., :-offset] += np.float32(weight) * values[..., offset:]
    return total


def _units(thread: NDArray[Any]) -> tuple[Ints, int, int]:
    """Number every thread, and every row without a thread; return also how many threads and how many in all."""
    unit = thread.astype(np.int32)
    alone = np.flatnonzero(unit < 0)
    threads = int(unit.max()) + 1 if len(unit) and unit.max() >= 0 else 0
    unit[alone] = threads + np.arange(len(alone), dtype=np.int32)
    return unit, threads, threads + len(alone)
