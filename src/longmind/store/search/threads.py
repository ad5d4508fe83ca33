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

    @classmethod
    def of(cls, view: View) -> Threads:
        rows = view.rows
        alive = np.flatnonzero(view.column("alive")[:rows])
        lengths = view.column("length")[:rows]
        unit, units = _units(view.column("thread")[:rows])
        order = alive[np.lexsort((view.column("seq")[alive], view.column("occurred_at")[alive], unit[alive]))]
        begins = np.concatenate(([False], unit[order][1:] != unit[order][:-1])) if len(order) else np.zeros(0, np.bool_)
        places = REACH + np.arange(len(order)) + REACH * np.cumsum(begins)
        size = int(places[-1]) + REACH + 2 if len(order) else REACH + 2
        place = np.full(rows, size - 1, np.int32)
        place[order] = places
        counted = np.bincount(unit[alive], minlength=units)
        unit_length = np.bincount(unit[alive], weights=lengths[alive], minlength=units).astype(np.float32)
        mean = unit_length / np.maximum(counted, 1)
        spread = np.zeros(size, np.float32)
        spread[place[alive]] = lengths[alive]
        near_length = surroundings(spread)
        said = np.flatnonzero(view.said_rows())
        of_said = np.bincount(unit[said], minlength=units) > 0
        counted_units = max(int(np.count_nonzero(of_said)), 1)
        return cls(
            size=size,
            place=place,
            unit=unit,
            units=units,
            unit_length=unit_length,
            length=spread,
            near_length=near_length,
            near_mean=float(near_length[place[said]].sum()) / max(len(said), 1) or 1.0,
            unit_mean=float(unit_length[of_said].sum()) / counted_units or 1.0,
            said_units=None if len(said) == len(alive) else of_said,
            counted_units=counted_units,
            context_weight=(SHORT / (SHORT + mean)).astype(np.float32)[unit],
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


def _units(thread: NDArray[Any]) -> tuple[Ints, int]:
    """Number every thread, and every row without a thread."""
    unit = thread.astype(np.int32)
    alone = np.flatnonzero(unit < 0)
    threads = int(unit.max()) + 1 if len(unit) and unit.max() >= 0 else 0
    unit[alone] = threads + np.arange(len(alone), dtype=np.int32)
    return unit, threads + len(alone)
