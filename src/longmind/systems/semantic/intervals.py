"""How a new statement changes the intervals in which values held.

A timeline is the intervals ``[start, end)`` in which the values of one subject and predicate held. They never overlap,
and only the last may be open. ``apply_interval`` decides what a new statement changes: in its own interval it replaces
other values, it joins intervals of the same value, and it leaves all else as it was. Nothing here reads or writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Generic, TypeVar

from longmind.types import Memory

T = TypeVar("T")
EVER = datetime.min.replace(tzinfo=UTC)
"""The start of what always held."""
NEVER = datetime.max.replace(tzinfo=UTC)
"""Where what is open would end."""


@dataclass(frozen=True, slots=True)
class Interval(Generic[T]):
    """An interval in which something held; ``end`` is None while it still holds."""

    what: T
    start: datetime
    end: datetime | None

    @property
    def until(self) -> datetime:
        return NEVER if self.end is None else self.end


@dataclass(frozen=True, slots=True)
class Cut(Generic[T]):
    """A span that loses part of its interval, and which parts remain on either side. With neither it is empty now."""

    span: Interval[T]
    head: bool
    tail: bool


@dataclass(frozen=True, slots=True)
class IntervalChange(Generic[T]):
    """What a statement does: the interval it says, the one that results, what it joins and what it cuts."""

    start: datetime
    end: datetime | None
    """Where the statement ends: as it said, or at the next thing known, or not at all."""
    late: Interval[T] | None
    """The later span that ended an open statement about the past."""
    joined_start: datetime
    joined_end: datetime | None
    joins: tuple[Interval[T], ...]
    """Spans of the same value that it touches, oldest first. The last one is kept and grows; the others end in it."""
    cuts: tuple[Cut[T], ...]


def interval_of(record: Memory) -> Interval[Memory]:
    """When a stored fact held; one without a beginning always did."""
    return Interval(record, record.valid_from or EVER, record.valid_to)


def is_current(record: Memory) -> bool:
    """Whether a stored fact is part of its timeline: not taken back, and left with some time in which it held."""
    span = interval_of(record)
    return record.body.get("retracted_at") is None and span.start < span.until


def latest(records: Iterable[Memory]) -> Memory | None:
    """The last fact of a timeline: the open one if there is one. It holds the timeline's key."""
    return max(filter(is_current, records), key=lambda r: (r.valid_from or EVER, r.id), default=None)


def overlapping(records: Iterable[Memory]) -> tuple[Memory, Memory] | None:
    """Two facts that held at the same time, if there are such."""
    ordered = sorted(map(interval_of, filter(is_current, records)), key=lambda s: s.start)
    for earlier, later in pairwise(ordered):
        if later.start < earlier.until:
            return earlier.what, later.what
    return None


def apply_interval(
    same: Sequence[Interval[T]], others: Sequence[Interval[T]], start: datetime, end: datetime | None
) -> IntervalChange[T]:
    """What stating a value for ``[start, end)`` does to the spans of the same value and of others.

    A statement with no end is about the time until the next thing that is known: what arrives late about the past does
    not touch the present.
    """
    late = None
    if end is None:
        late = min((s for s in (*same, *others) if s.start > start), key=lambda s: s.start, default=None)
    stop = end if late is None else late.start
    until = NEVER if stop is None else stop
    joins = sorted((s for s in same if s.start <= until and start <= s.until), key=lambda s: s.start)
    cuts = tuple(
        Cut(s, head=s.start < start, tail=s.until > until)
        for s in sorted(others, key=lambda s: s.start)
        if s.start < until and start < s.until
    )
    joined_until = max([until, *(s.until for s in joins)])
    return IntervalChange(
        start=start,
        end=stop,
        late=late,
        joined_start=min([start, *(s.start for s in joins)]),
        joined_end=None if joined_until == NEVER else joined_until,
        joins=tuple(joins),
        cuts=cuts,
    )
