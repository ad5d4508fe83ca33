"""Times in statements, and days in words."""

from __future__ import annotations

import calendar
from datetime import UTC, datetime

import pytest

from longmind.text.dates import TIME_PHRASE, format_day, format_month, resolve_phrase

SAID_AT = datetime(2023, 5, 10, 14, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("yesterday", "9 May 2023"),
        ("tomorrow", "11 May 2023"),
        ("two days ago", "8 May 2023"),
        ("3 months ago", "February 2023"),
        ("five years ago", "2018"),
        ("last Friday", "5 May 2023"),
        ("last Wed", "3 May 2023"),
        ("next Friday", "12 May 2023"),
        ("last week", "the week of 1 May 2023"),
        ("last weekend", "the weekend of 6 May 2023"),
        ("this weekend", "the weekend of 13 May 2023"),
        ("last month", "April 2023"),
        ("next month", "June 2023"),
        ("last year", "2022"),
        ("last summer", "summer 2022"),
        ("on June 3rd, 2021", "3 June 2021"),
        ("the 3rd of June", "3 June 2023"),
        ("in March", "March 2023"),
        ("in December", "December 2022"),
        ("in 1999", "1999"),
        ("the day before yesterday", "8 May 2023"),
        ("the day after tomorrow", "12 May 2023"),
        ("on 23.01.2021", "23 January 2021"),
        ("on 1/23/2021", "23 January 2021"),
        ("in late 2022", "late 2022"),
        ("late last year", "late 2022"),
        ("in early March", "early March 2023"),
        ("the last week of October 2022", "the last week of October 2022"),
        ("at the end of last month", "the end of April 2023"),
        ("in the 1990s", "the 1990s"),
        ("in Q3 2021", "Q3 2021"),
        ("on 31.02.2021", None),
        ("recently", None),
        ("on February 31st", None),
    ],
)
def test_a_phrase_as_a_date(phrase: str, expected: str | None) -> None:
    match = TIME_PHRASE.search(f"I did it {phrase}.")
    assert match is not None
    assert resolve_phrase(match, SAID_AT).text == expected


def test_on_a_sunday_last_weekend_is_not_today() -> None:
    match = TIME_PHRASE.search("last weekend")
    assert match is not None
    assert resolve_phrase(match, datetime(2023, 3, 26, tzinfo=UTC)).text == "the weekend of 18 March 2023"


@pytest.mark.parametrize(("month", "name"), list(enumerate(calendar.month_name[1:], start=1)))
def test_a_day_in_words(month: int, name: str) -> None:
    assert format_day(datetime(2024, month, 3, tzinfo=UTC)) == f"3 {name} 2024"
    assert format_month(datetime(987, month, 28, tzinfo=UTC)) == f"{name} 987"


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("in January", "January 2024"),
        ("in May", "May 2023"),
        ("in December", "December 2023"),
        ("on 3 March", "3 March 2024"),
        ("on March 3, 2023", "3 March 2023"),
        ("on June 1st", "1 June 2023"),
    ],
)
def test_ahead_a_month_without_a_year_is_the_next_one(phrase: str, expected: str) -> None:
    match = TIME_PHRASE.fullmatch(phrase)
    assert match is not None
    assert resolve_phrase(match, datetime(2023, 5, 8, tzinfo=UTC), ahead=True).text == expected
