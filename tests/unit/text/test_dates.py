"""Times in questions, as seen from a fixed now (Sunday 15 November 2026), times in statements, and days in words."""

from __future__ import annotations

import calendar
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind.text.dates import TIME_PHRASE, find_span, format_day, format_month, resolve_phrase

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("What did I do last May?", "2026-05-01", "2026-06-01"),
        ("What happened last December?", "2025-12-01", "2026-01-01"),
        ("what happened three weeks ago", "2026-10-21", "2026-10-29"),
        ("a couple of days ago", "2026-11-13", "2026-11-14"),
        ("When did she go on 27 June, 2023?", "2023-06-27", "2023-06-28"),
        ("What about June 2023?", "2023-06-01", "2023-07-01"),
        ("on the 3rd of May 2024", "2024-05-03", "2024-05-04"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("what of 2023-05-08?", "2023-05-08", "2023-05-09"),
        ("events before 2022", None, "2022-01-01"),
        ("since March", "2026-03-01", None),
        ("after May 3rd", "2026-05-03", None),
        ("what did I say yesterday", "2026-11-14", "2026-11-15"),
        ("last week", "2026-11-02", "2026-11-09"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("in the last 3 months", "2026-08-15", "2026-11-15"),
        ("last summer", "2026-06-01", "2026-09-01"),
        ("during winter 2021", "2021-12-01", "2022-03-01"),
        ("on Friday", "2026-11-13", "2026-11-14"),
        ("last weekend", "2026-11-07", "2026-11-09"),
        ("this month", "2026-11-01", "2026-11-16"),
        ("on 20 December", "2025-12-20", "2025-12-21"),
    ],
)
def test_a_time_is_read(text: str, since: str | None, until: str | None) -> None:
    span = find_span(text, NOW)
    assert span is not None
    assert (span.since and f"{span.since:%Y-%m-%d}", span.until and f"{span.until:%Y-%m-%d}") == (since, until)


@pytest.mark.parametrize(
    "text",
    ["May I ask you something?", "We march on", "How many cats?", "the fall of Rome", "room 2047", "", "99 balloons"],
)
def test_words_that_only_look_like_times_are_none(text: str) -> None:
    assert find_span(text, NOW) is None


def test_a_date_that_does_not_exist_is_read_as_far_as_it_does() -> None:
    span = find_span("on 31 June 2023", NOW)
    assert span is None or span.text == "June 2023"


def test_a_span_holds_its_moments() -> None:
    span = find_span("before 2022", NOW)
    assert span is not None
    assert span.holds(datetime(2021, 12, 31, tzinfo=UTC))
    assert not span.holds(datetime(2022, 1, 1, tzinfo=UTC))


@given(st.text(max_size=80) | st.from_regex(r"(last|in|on) ?\d{0,9} (may|days ago|june \d{0,6}|year)", fullmatch=True))
def test_no_text_makes_it_fail(text: str) -> None:
    span = find_span(text, NOW)
    assert span is None or span.since is not None or span.until is not None


@pytest.mark.parametrize("text", ["in \u017fpring", "\u017fix days ago", "in \u017feptember"])
def test_a_letter_that_only_looks_like_another_names_no_time(text: str) -> None:
    assert find_span(text, NOW) is None


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
