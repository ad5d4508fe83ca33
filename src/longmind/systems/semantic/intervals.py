"""The intervals in which facts held, and how a new statement changes them. Pure functions.

A timeline is the sequence of intervals ``[start, end)`` in which the values of one subject and predicate held. They
never overlap, and only the last may be open. ``apply_interval`` computes what a new statement changes: within its
interval it replaces other values, it joins adjacent intervals of the same value, and it leaves the rest alone.
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
"""The start of an interval without a beginning."""
NEVER = datetime.max.replace(tzinfo=UTC)
"""The end of an interval that is still open."""


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
    """An interval that loses a part, and whether something remains before (``head``) or after (``tail``) it."""

    span: Interval[T]
    head: bool
    tail: bool


@dataclass(frozen=True, slots=True)
class IntervalChange(Generic[T]):
    """The effect of a statement: its own interval, the joined interval, and the intervals that it joins and cuts."""

    start: datetime
    end: datetime | None
    """The end of the statement: as stated, or else the start of the next known interval, or None."""
    late: Interval[T] | None
    """The later interval that ended a statement about the past that was given no end."""
    joined_start: datetime
    joined_end: datetime | None
    joins: tuple[Interval[T], ...]
    """Intervals of the same value that touch it, oldest first. The last is extended; the others are merged into it."""
    cuts: tuple[Cut[T], ...]


def interval_of(record: Memory) -> Interval[Memory]:
    """Return the interval of a stored fact; one without a beginning always held."""
    return Interval(record, record.valid_from or EVER, record.valid_to)


def is_current(record: Memory) -> bool:
    """Whether a stored fact is part of its timeline: not retracted, and its interval is not empty."""
    span = interval_of(record)
    return record.body.get("retracted_at") is None and span.start < span.until


def latest(records: Iterable[Memory]) -> Memory | None:
    """Return the last fact of a timeline, the open one if there is one. It holds the timeline's key."""
    return max(filter(is_current, records), key=lambda r: (r.valid_from or EVER, r.id), default=None)


def overlapping(records: Iterable[Memory]) -> tuple[Memory, Memory] | None:
    """Return two facts that held at the same time, or None."""
    ordered = sorted(map(interval_of, filter(is_current, records)), key=lambda s: s.start)
    for earlier, later in pairwise(ordered):
        if later.start < earlier.until:
            return earlier.what, later.what
    return None


def apply_interval(
    same: Sequence[Interval[T]], others: Sequence[Interval[T]], start: datetime, end: datetime | None
) -> IntervalChange[T]:
    """Compute what stating a value for ``[start, end)`` changes in the intervals of the same value and of others.

    A statement without an end lasts until the next known interval, so a late statement about the past does not change
    the present.
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
