"""Times in answers."""

from datetime import UTC, datetime

import pytest

from longmind.answering.times import cardinal, duration_in, in_unit_asked, number_in, times_in, vague_time

SAID = datetime(2023, 7, 12, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("We met two days ago.", "10 July 2023"),
        ("I saw it yesterday!", "11 July 2023"),
        ("It was last week, I think.", "the week before 12 July 2023"),
        ("We go there next month.", "August 2023"),
        ("Back in 2019 we had a boat.", "2019"),
        ("It happened two weekends ago.", "the weekend of 1 July 2023"),
        ("I swam last Friday.", "Friday 7 July 2023"),
        ("I won the race on Friday.", "Friday 7 July 2023"),
        ("We are going to swim on Friday.", "Friday 14 July 2023"),
        ("I won it on Wednesday.", "Wednesday 5 July 2023"),
    ],
)
def test_a_relative_time_is_resolved(text: str, resolved: str) -> None:
    assert [time.text for time in times_in(text, SAID)] == [resolved]


def test_the_place_of_a_time_is_exact() -> None:
    text = "We met two days ago."
    (time,) = times_in(text, SAID)
    assert text[time.start : time.end] == "two days ago"


def test_the_unit_that_is_asked_for() -> None:
    (time,) = times_in("We met two days ago.", SAID)
    assert in_unit_asked("When did they meet?", time) == "10 July 2023"
    assert in_unit_asked("In which month did they meet?", time) == "July 2023"
    assert in_unit_asked("What year did they meet?", time) == "2023"


def test_what_names_no_time() -> None:
    assert times_in("We had soup.", SAID) == []
    assert vague_time("We had soup.", SAID) is None
    assert vague_time("a few years ago", SAID) == "a few years ago, before July 2023"


def test_lengths_and_numbers() -> None:
    text = "I have had him for about three years now, with 2 cats."
    start, end = duration_in(text) or (0, 0)
    assert text[start:end] == "about three years"
    start, end = number_in("we have 2 cats") or (0, 0)
    assert "we have 2 cats"[start:end] == "2"
    assert cardinal("fourth") == "four"
    assert cardinal("3") == "3"
    assert duration_in("for ever") is None
    assert number_in("some cats") is None
