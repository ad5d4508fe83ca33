"""A view as plain arrays and names, to be written to a file and made a view again.

Only living rows are packed: of a memory that was removed nothing is left, neither its terms nor its vector, nor the
name of a session or user that no other row has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmind.store.base import Head
from longmind.store.search.columns import NONE
from longmind.store.search.postings import PostingSegment
from longmind.store.search.view import View

Array = NDArray[Any]
CODED = {"kind": "kinds", "user": "users", "session": "sessions", "thread": "threads"}
"""Columns that hold codes, and the names they stand for."""
_NEIGHBOURS = ("before", "after")


@dataclass(frozen=True, slots=True)
class CapturedView:
    """A view at one moment. Later changes of the view do not change it."""

    head: Head
    space: str | None
    dimensions: int
    ids: Sequence[str]
    names: Mapping[str, Sequence[str]]
    columns: Mapping[str, Array]
    """Copies: the fields of a row change when its neighbours do."""
    segments: Sequence[PostingSegment]
    vectors: Mapping[str, Array]
    """The view's own arrays: what they hold of a row never changes."""


@dataclass(frozen=True, slots=True)
class PackedView:
    """The living rows of a view."""

    head: Head
    space: str | None
    dimensions: int
    names: Mapping[str, Sequence[str]]
    """The ids of the rows, and the names of the codes in ``CODED``."""
    arrays: Mapping[str, Array]

    @property
    def rows(self) -> int:
        return len(self.names["ids"])


def capture(view: View, segments: Sequence[PostingSegment]) -> CapturedView:
    """Copy what can change of a view. Nothing may be taken in by the view meanwhile."""
    return CapturedView(
        head=view.head,
        space=view.space,
        dimensions=view.vectors.dimensions,
        ids=view.ids[: view.rows],
        names={name: list(codes.names) for name, codes in view.coded.items()},
        columns={name: column[: view.rows].copy() for name, column in view.columns.items() if name != "near_norm"},
        segments=segments,
        vectors=view.vectors.compressed_arrays(),
    )


def pack(captured: CapturedView) -> PackedView:
    """Return the living rows of a view."""
    alive = captured.columns["alive"]
    living = np.flatnonzero(alive)
    # the new number of each row
    place = np.where(alive, np.cumsum(alive) - 1, NONE).astype(np.int32)
    whole = len(living) == len(alive)
    columns = {name: column if whole else column[living] for name, column in captured.columns.items()}
    names: dict[str, Sequence[str]] = {"ids": captured.ids if whole else [captured.ids[row] for row in living.tolist()]}
    for column, name in CODED.items():
        columns[column], names[name] = _recoded(columns[column], captured.names[name])
    if not whole:
        for name in _NEIGHBOURS:  # a living row has living neighbours
            neighbours = columns[name]
            columns[name] = np.where(neighbours == NONE, NONE, place[neighbours]).astype(np.int32)
    vectors: dict[str, Array] = {
        name: array if whole else array[:, living] if name == "signs" else array[living]
        for name, array in captured.vectors.items()
    }
    segment = _one_segment(captured.segments, None if whole else alive, place)
    postings: dict[str, Array] = {
        "keys": segment.keys,
        "starts": segment.starts,
        "rows": segment.rows,
        "counts": segment.counts,
    }
    arrays: dict[str, Array] = {
        **{f"column {name}": array for name, array in columns.items()},
        **{f"vectors {name}": array for name, array in vectors.items()},
        **{f"postings {name}": array for name, array in postings.items()},
    }
    return PackedView(captured.head, captured.space, captured.dimensions, names, arrays)


def unpack(packed: PackedView) -> View:
    """Return the view of packed rows. It owns the arrays, which may be longer than there are rows."""

    def named(prefix: str) -> dict[str, Array]:
        return {name.removeprefix(prefix): array for name, array in packed.arrays.items() if name.startswith(prefix)}

    view = View(packed.dimensions, packed.space)
    view.restore(packed.head, packed.names, named("column "), PostingSegment(**named("postings ")))
    if packed.dimensions:
        view.vectors.restore(packed.rows, **named("vectors "))
    return view


def _recoded(codes: Array, names: Sequence[str]) -> tuple[Array, list[str]]:
    """Return codes that stand only for names that occur."""
    occurs = np.zeros(len(names) + 1, np.bool_)
    occurs[codes] = True
    occurs[NONE] = False
    if occurs[:-1].all():
        return codes, list(names)
    new = np.cumsum(occurs) - 1
    new[NONE] = NONE
    return new[codes].astype(codes.dtype), [name for name, used in zip(names, occurs[:-1], strict=True) if used]


def _one_segment(segments: Sequence[PostingSegment], alive: Array | None, place: Array) -> PostingSegment:
    """Return the postings of the living rows in one segment."""
    if len(segments) == 1 and alive is None:
        return segments[0]
    triples = []
    for segment in segments:
        hashes, rows, counts = segment.triples()
        if alive is not None:
            kept = alive[rows]
            hashes, rows, counts = hashes[kept], place[rows[kept]], counts[kept]
        triples.append((hashes, rows, counts))
    if not triples:
        return PostingSegment.build(np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.uint8))
    hashes, rows, counts = (np.concatenate(parts) for parts in zip(*triples, strict=True))
    return PostingSegment.build(hashes, rows, counts)
