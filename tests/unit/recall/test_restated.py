"""Seeing that a later statement gives another value for the same thing, and not seeing it where it is not so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from longmind.recall.restated import find_restated, restates
from longmind.testing import memory
from longmind.text.analysis import terms, words
from longmind.types import Source

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("earlier", "later", "question", "expected"),
    [
        ("The capital of X is A.", "The capital of X is Brandenburg.", "capital of X", True),
        (
            "Elvis Presley is married to Priscilla Presley.",
            "Elvis Presley is married to Charles.",
            "Elvis Presley",
            True,
        ),
        ("I moved to Lisbon.", "I moved to Porto.", "where did I move?", True),
        ("Her phone number is 123 now", "Her phone number is 456 now", "phone number", True),
        ("The capital of X is A.", "The capital of Y is B.", "capital of X", False),
        ("The capital of X is A.", "The capital of X is A.", "capital of X", False),
        ("Narendra is a citizen of India.", "The director of the BBC is Narendra.", "Narendra", False),
        ("I like tea", "You hate storms", "tea", False),
        ("The capital of X is A.", "The capital of X is B.", "who likes storms?", False),
    ],
)
def test_later_says(earlier: str, later: str, question: str, expected: bool) -> None:
    assert restates(words(earlier), words(later), set(terms(question))) is expected


def test_a_line_of_values_leads_to_the_last_one() -> None:
    told = [memory(f"The code of the door is {n}", occurred_at=START + timedelta(days=n)) for n in (11, 12, 13)]
    assert find_restated(told, {"code", "door"}) == {0: 2, 1: 2}
    assert find_restated(told[::-1], {"code", "door"}) == {2: 0, 1: 0}


def test_different_speakers_and_kinds_do_not_replace_each_other() -> None:
    told = [
        memory("The code of the door is 11", occurred_at=START, source=Source(name="Ann")),
        memory("The code of the door is 12", occurred_at=START + timedelta(days=1), source=Source(name="Bob")),
        memory("The code of the door is 13", occurred_at=START + timedelta(days=2), kind="fact"),
    ]
    assert find_restated(told, {"code", "door"}) == {}


def test_long_texts_are_no_statements() -> None:
    told = [memory("word " * 500 + end, occurred_at=START) for end in ("one", "two")]
    assert find_restated(told, {"word"}) == {}
