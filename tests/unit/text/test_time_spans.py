"""Times in questions, as seen from a fixed now: Sunday 15 November 2026."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind.text.time_spans import find_span

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
        ("in the last week of October 2023", "2023-10-25", "2023-11-01"),
        ("the first week of May 2024", "2024-05-01", "2024-05-08"),
        ("the second weekend of June 2024", "2024-06-08", "2024-06-10"),
        ("the last weekend of June 2024", "2024-06-29", "2024-07-01"),
        ("the last day of 2022", "2022-12-31", "2023-01-01"),
        ("the first two weeks of last month", "2026-10-01", "2026-10-15"),
        ("the last three months of 2022", "2022-10-01", "2023-01-01"),
        ("the second half of 2022", "2022-07-01", "2023-01-01"),
        ("the third quarter of 2022", "2022-07-01", "2022-10-01"),
        ("Q2 2021", "2021-04-01", "2021-07-01"),
        ("late 2022", "2022-09-01", "2023-01-01"),
        ("in early March", "2026-03-01", "2026-03-12"),
        ("mid-October 2023", "2023-10-11", "2023-10-22"),
        ("late last year", "2025-09-01", "2026-01-01"),
        ("at the end of last month", "2026-10-24", "2026-11-01"),
        ("at the beginning of the year", "2026-01-01", "2026-04-01"),
        ("early summer 2021", "2021-06-01", "2021-07-02"),
        ("in the late 1990s", "1996-09-01", "2000-01-01"),
        ("in the 1980s", "1980-01-01", "1990-01-01"),
        ("in the spring", "2026-03-01", "2026-06-01"),
        ("on 23.01.2024", "2024-01-23", "2024-01-24"),
        ("on 3.4.2024", "2024-04-03", "2024-04-04"),
        ("on 23. 1. 2024", "2024-01-23", "2024-01-24"),
        ("on 1/23/2024", "2024-01-23", "2024-01-24"),
        ("on 23/1/2024", "2024-01-23", "2024-01-24"),
        ("on 4/3/2024", "2024-04-03", "2024-04-04"),
        ("on 03-04-2024", "2024-04-03", "2024-04-04"),
        ("on 2024/01/23", "2024-01-23", "2024-01-24"),
        ("before 23.01.2024", None, "2024-01-23"),
        ("since late 2022", "2022-09-01", None),
        ("a fortnight ago", "2026-10-28", "2026-11-05"),
        ("two weeks back", "2026-10-28", "2026-11-05"),
        ("a decade ago", "2016-05-16", "2017-05-17"),
        ("the day before yesterday", "2026-11-13", "2026-11-14"),
        ("the week before last", "2026-10-26", "2026-11-02"),
        ("between March and May 2023", "2023-03-01", "2023-06-01"),
        ("from 3 May to 7 May 2023", "2023-05-03", "2023-05-08"),
        ("between 2019 and 2021", "2019-01-01", "2022-01-01"),
    ],
)
def test_a_time_is_read(text: str, since: str | None, until: str | None) -> None:
    span = find_span(text, NOW)
    assert span is not None
    assert (span.since and f"{span.since:%Y-%m-%d}", span.until and f"{span.until:%Y-%m-%d}") == (since, until)


@pytest.mark.parametrize(
    "text",
    [
        "May I ask you something?",
        "We march on",
        "How many cats?",
        "the fall of Rome",
        "in the fall of Rome",
        "room 2047",
        "",
        "99 balloons",
        "from Anna to Ben",
        "version 23.01.2024.1",
        "on 31.02.2024",
        "the end of the story",
        "I was late",
    ],
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
