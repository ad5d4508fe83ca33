"""What looks personal: when in doubt, it does."""

from __future__ import annotations

import pytest

from longmind.systems.shared.personal import find_personal


@pytest.mark.parametrize(
    "text",
    [
        "Write to ana@example.org for help.",
        "Follow @ana on the network.",
        "See https://example.org/ana for more.",
        "The server is at 192.168.1.20 today.",
        "Pay to DE89 3704 0044 0532 0130 00.",
        "Call 555 123 4567 for help.",
        "Call +351 912-345-678.",
        "The code is 48213.",
        "Born on 12/03/1984.",
        "The office is at 12 Baker Street.",
        "I prefer tea.",
        "My favourite drink is tea.",
        "We moved last year.",
        "They said I'm late.",
        "Her husband drinks tea.",
        "Ask Dr. House about it.",
        "mr smith likes tea.",
        "The plan was made by Alice.",
        "Alice likes tea.",
        "Alice's tea is green.",
        "Tea is what John Smith drinks.",
        "People such as McDonald drink tea.",
        "the user alice drinks tea",
        "It rains in Lisbon.",
    ],
)
def test_it_is_refused(text: str) -> None:
    assert find_personal(text, names=["alice"]) is not None


@pytest.mark.parametrize(
    "text",
    [
        "Tomatoes need six hours of sun.",
        "Retry a request after a timeout of 30 seconds.",
        "An index makes SQL joins on PostgreSQL faster.",
        "Meetings on Monday are shorter.",
        "Coffee is a stimulant; coffee keeps people awake.",
        "Use 4 litres of water for 10 plants.",
        "",
    ],
)
def test_it_is_let_through(text: str) -> None:
    assert find_personal(text) is None


def test_what_it_says_does_not_repeat_the_text() -> None:
    told = find_personal("Write to ana@example.org")
    assert told is not None
    assert "ana" not in told.replace("an ", "")


def test_names_that_are_not_of_people_can_be_allowed() -> None:
    assert find_personal("Backups go to Amazon at night.") == "a word that looks like a name"
    assert find_personal("Backups go to Amazon at night.", allowed=["amazon"]) is None
    assert find_personal("Backups go to Amazon at night.", names=["Amazon"], allowed=["amazon"]) is not None
