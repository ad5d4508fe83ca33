"""What a model claims to quote is really there, or it is rejected and told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind.models.quotes import find_quote

SOURCE = (
    "Alice said: “I moved to Lisbon in May.”\nHer brother\tplays   football – every Sunday. "
    "彼女はリスボンに住んでいます。"
)


@pytest.mark.parametrize(
    ("span", "found"),
    [
        ("I moved to Lisbon in May.", "I moved to Lisbon in May."),
        ("i MOVED to lisbon", "I moved to Lisbon"),
        ('"I moved to Lisbon"', "I moved to Lisbon"),
        ("brother plays football - every sunday", "brother\tplays   football – every Sunday"),
        ("… moved to Lisbon …", "moved to Lisbon"),
        ("リスボン", "リスボン"),
        ("said: 'I moved", None),
        ('said: "I moved', "said: “I moved"),
    ],
)
def test_tidying_is_forgiven(span: str, found: str | None) -> None:
    place = find_quote(SOURCE, span)
    assert (SOURCE[slice(*place)] if place else None) == found


@pytest.mark.parametrize(
    "span",
    [
        "I moved to Porto",
        "moved Lisbon",
        "",
        "   ",
        '""',
        "a",
        "I",
        "lisb",
        "isbon in May",
        "moved to Lisbon in Ma",
        "…",
    ],
)
def test_other_words_parts_of_words_and_nothing_are_not(span: str) -> None:
    assert find_quote(SOURCE, span) is None


def test_a_word_found_first_inside_another_is_found_later() -> None:
    assert find_quote("The party had art.", "art") == (14, 17)


@given(st.text(), st.text())
def test_what_is_found_is_a_part_of_the_source(source: str, span: str) -> None:
    place = find_quote(source, span)
    assert place is None or 0 <= place[0] < place[1] <= len(source)


@given(st.lists(st.text("abcdefgh", min_size=2), min_size=1, max_size=20), st.data())
def test_whole_words_of_the_source_are_always_found(words: list[str], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    span = " ".join(words[first : last + 1])
    place = find_quote(" ".join(words), span)
    assert place is not None
    assert " ".join(words)[slice(*place)] == span
