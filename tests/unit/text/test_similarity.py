"""Measures of how alike texts are."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind.text.similarity import (
    cosine,
    count_cosine,
    coverage,
    covered_words,
    dice,
    jaccard,
    overlap,
    shared_words,
)


def test_the_measures_of_two_sets() -> None:
    assert jaccard("abc", "bcd") == pytest.approx(2 / 4)
    assert dice("abc", "bcd") == pytest.approx(4 / 6)
    assert overlap("ab", "bcd") == pytest.approx(1 / 2)
    assert coverage("abcd", "bc") == pytest.approx(2 / 4)


@pytest.mark.parametrize("measure", [jaccard, dice, overlap, coverage])
def test_nothing_is_like_nothing(measure: object) -> None:
    assert callable(measure)
    assert measure("", "") == measure("", "a") == measure("a", "") == 0.0


@given(st.frozensets(st.sampled_from("abcdef")), st.frozensets(st.sampled_from("abcdef")))
def test_order_and_repetition_change_nothing(a: frozenset[str], b: frozenset[str]) -> None:
    assert jaccard(a, b) == jaccard([*b, *b], a)
    assert dice(a, b) == dice([*b, *b], a)
    assert 0.0 <= jaccard(a, b) <= dice(a, b) <= overlap(a, b) <= 1.0 or not a or not b


def test_cosines_of_terms() -> None:
    assert cosine({"a": 0.6, "b": 0.8}, {"b": 1.0}) == pytest.approx(0.8)
    assert cosine({}, {"b": 1.0}) == 0.0
    assert count_cosine(Counter("aab"), Counter("aab")) == pytest.approx(1.0)
    assert count_cosine(Counter("ab"), Counter()) == 0.0


def test_texts_are_compared_by_their_stems_without_stop_words() -> None:
    assert shared_words("The cats are painting", "a cat paints") == 1.0
    assert covered_words("paint the boat", by="painting boats and houses") == 1.0
    assert covered_words("the", by="the") == 0.0
