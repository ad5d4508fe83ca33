"""The time that a phrase names."""

from datetime import UTC, datetime

import pytest

from longmind.consolidate.whens import PHRASE, when

SAID = datetime(2023, 5, 10, 14, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("phrase", "told"),
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
        ("recently", None),
        ("on February 31st", None),
    ],
)
def test_a_phrase_as_a_date(phrase: str, told: str | None) -> None:
    found = PHRASE.search(f"I did it {phrase}.")
    assert found is not None
    assert when(found, SAID).told == told


def test_on_a_sunday_last_weekend_is_not_today() -> None:
    found = PHRASE.search("last weekend")
    assert found is not None
    assert when(found, datetime(2023, 3, 26, tzinfo=UTC)).told == "the weekend of 18 March 2023"
