"""How long a stay lasts, as seen from when it was told."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from longmind.text.durations import resolve_end

WEDNESDAY = datetime(2026, 6, 3, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "month", "day"),
    [
        ("for two weeks", 6, 17),
        ("for the next ten days", 6, 13),
        ("for a month", 7, 3),
        ("another week or so", 6, 10),
        ("until Friday", 6, 6),
        ("til wednesday", 6, 11),
        ("until tomorrow", 6, 5),
        ("til tmrw", 6, 5),
        ("this week", 6, 8),
        ("until the end of the month", 7, 1),
        ("until the 9th", 6, 10),
        ("till the 2nd", 7, 3),
        ("until September", 9, 1),
    ],
)
def test_an_end_is_resolved(words: str, month: int, day: int) -> None:
    end = resolve_end(words, WEDNESDAY)
    assert end is not None
    assert (end.year, end.month, end.day) == (2026, month, day)


@pytest.mark.parametrize(
    "words", ["for now", "until I find the leak", "in 2015", "last month", "", "until the 31st of June"]
)
def test_what_names_no_later_date_has_no_end(words: str) -> None:
    assert resolve_end(words, WEDNESDAY) is None


def test_a_month_that_has_come_is_that_of_next_year() -> None:
    end = resolve_end("until May", WEDNESDAY)
    assert end == datetime(2027, 5, 1, tzinfo=UTC)
