"""Times in answers."""

from datetime import UTC, datetime

import pytest

from longmind.answering.times import duration_in, number_in, times_in, vague_time

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
    ],
)
def test_a_relative_time_is_resolved(text: str, resolved: str) -> None:
    assert [words for _, _, words in times_in(text, SAID)] == [resolved]


def test_the_place_of_a_time_is_exact() -> None:
    text = "We met two days ago."
    ((start, end, _),) = times_in(text, SAID)
    assert text[start:end] == "two days ago"


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
    assert duration_in("for ever") is None
    assert number_in("some cats") is None
