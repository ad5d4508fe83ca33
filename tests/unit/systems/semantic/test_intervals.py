"""Painting a statement onto a timeline: what it joins, what it cuts, and where it ends."""

from __future__ import annotations

from datetime import UTC, datetime

from longmind.systems.semantic.intervals import Interval, apply_interval


def at(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def span(what: str, start: int, end: int | None = None) -> Interval[str]:
    return Interval(what, at(start), None if end is None else at(end))


def test_first_statement_is_open() -> None:
    change = apply_interval([], [], at(2020), None)
    assert (change.start, change.end, change.joins, change.cuts) == (at(2020), None, (), ())


def test_new_value_ends_the_open_one() -> None:
    change = apply_interval([], [span("Porto", 2010)], at(2020), None)
    assert [(c.span.what, c.head, c.tail) for c in change.cuts] == [("Porto", True, False)]
    assert change.end is None


def test_statement_about_the_past_reaches_to_the_next_thing_known() -> None:
    change = apply_interval([], [span("Lisbon", 2020)], at(2010), None)
    assert change.end == at(2020)
    assert change.cuts == ()
    assert change.late == span("Lisbon", 2020)


def test_same_value_that_began_earlier_grows_the_known_one() -> None:
    change = apply_interval([span("Lisbon", 2020)], [], at(2015), None)
    assert change.joins == (span("Lisbon", 2020),)
    assert (change.joined_start, change.joined_end) == (at(2015), None)


def test_closed_statement_inside_another_value_leaves_both_its_sides() -> None:
    change = apply_interval([], [span("Lisbon", 2020)], at(2021), at(2022))
    assert [(c.head, c.tail) for c in change.cuts] == [(True, True)]


def test_correction_of_the_same_moment_empties_what_was_there() -> None:
    change = apply_interval([], [span("Porto", 2020)], at(2020), None)
    assert [(c.head, c.tail) for c in change.cuts] == [(False, False)]


def test_neighbours_of_the_same_value_become_one() -> None:
    change = apply_interval([span("A", 2010, 2012), span("A", 2014, 2016)], [span("B", 2012, 2014)], at(2012), at(2014))
    assert (change.joined_start, change.joined_end) == (at(2010), at(2016))
    assert [c.span.what for c in change.cuts] == ["B"]


def test_touching_other_values_are_left_alone() -> None:
    change = apply_interval([], [span("A", 2010, 2012), span("B", 2014)], at(2012), at(2014))
    assert change.cuts == ()
