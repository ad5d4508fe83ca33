"""Irregular forms and spellings: both are found by each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind.text.analysis import stem
from longmind.text.word_forms import base_form


@pytest.mark.parametrize(
    ("form", "other"),
    [
        ("went", "going"),
        ("bought", "buy"),
        ("written", "writes"),
        ("children", "child"),
        ("wives", "wife"),
        ("criteria", "criterion"),
        ("colour", "color"),
        ("neighbourhood", "neighborhood"),
        ("favourites", "favorite"),
        ("organised", "organizing"),
        ("organisation", "organizations"),
        ("analyse", "analyzed"),
        ("theatre", "theaters"),
        ("kilometres", "kilometer"),
        ("dialogue", "dialog"),
        ("paediatrician", "pediatrician"),
        ("travelled", "traveling"),
        ("grey", "gray"),
    ],
)
def test_two_forms_of_a_word_have_one_stem(form: str, other: str) -> None:
    assert stem(form) == stem(other)


@pytest.mark.parametrize(
    ("word", "other"),
    [("founded", "found"), ("hour", "hor"), ("four", "for"), ("rose", "rise"), ("lives", "life"), ("thought", "think")],
)
def test_other_words_stay_apart(word: str, other: str) -> None:
    assert stem(word) != stem(other)


@given(st.text(max_size=30))
def test_a_base_form_is_its_own(word: str) -> None:
    assert base_form(base_form(word)) == base_form(word)
