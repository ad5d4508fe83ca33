"""Times in questions, as seen from a fixed now: Sunday 15 November 2026."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind.recall.times import span_in

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
    span = span_in(text, NOW)
    assert span is not None
    assert (span.since and f"{span.since:%Y-%m-%d}", span.until and f"{span.until:%Y-%m-%d}") == (since, until)


@pytest.mark.parametrize(
    "text",
    ["May I ask you something?", "We march on", "How many cats?", "the fall of Rome", "room 2047", "", "99 balloons"],
)
def test_words_that_only_look_like_times_are_none(text: str) -> None:
    assert span_in(text, NOW) is None


def test_a_date_that_does_not_exist_is_read_as_far_as_it_does() -> None:
    span = span_in("on 31 June 2023", NOW)
    assert span is None or span.said == "June 2023"


def test_a_span_holds_its_moments() -> None:
    span = span_in("before 2022", NOW)
    assert span is not None
    assert span.holds(datetime(2021, 12, 31, tzinfo=UTC))
    assert not span.holds(datetime(2022, 1, 1, tzinfo=UTC))


@given(st.text(max_size=80) | st.from_regex(r"(last|in|on) ?\d{0,9} (may|days ago|june \d{0,6}|year)", fullmatch=True))
def test_no_text_makes_it_fail(text: str) -> None:
    span = span_in(text, NOW)
    assert span is None or span.since is not None or span.until is not None
