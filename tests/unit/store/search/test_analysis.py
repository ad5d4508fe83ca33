"""From text to terms, in more than one language; and the marks that recall reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.store.search.rows import made

from recollect.store.search.analysis import (
    ASKS,
    COUNTED,
    DATED,
    HEADER,
    MAX_TERMS,
    by,
    fold,
    index_terms,
    mark_hash,
    marks,
    term_hash,
    terms,
    words,
)
from recollect.types import Memory, Source


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cats' running shoes", ["cat", "run", "shoe"]),
        ("Caroline’s café, naïve", ["carolin", "cafe", "naiv"]),
        ("ＦＵＬＬ　ｗｉｄｔｈ", ["full", "width"]),
        ("東京都に住む", ["東京", "京都", "都に", "に住", "住む"]),
        ("猫", ["猫"]),
        ("Straße", ["strass"]),
        ("Привет, мир", ["привет", "мир"]),
        ("I'm at work; don't", ["im", "work", "dont"]),
        ("", []),
        ("!!! ???", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(st.text(max_size=300))
def test_any_text_can_be_analysed(text: str) -> None:
    assert all(w for w in words(text))
    assert fold(fold(text)) == fold(text)
    assert len(index_terms(made(text.replace("\x00", "").encode("utf-8", "ignore").decode()))) >= HEADER.size


def test_a_huge_text_keeps_a_bounded_number_of_terms() -> None:
    stored = index_terms(made(" ".join(f"w{i}" for i in range(MAX_TERMS + 500))))
    assert (len(stored) - HEADER.size) // 5 == MAX_TERMS


def marked(memory: Memory) -> set[str]:
    return set(marks(memory, frozenset(words(memory.content))))


def test_marks_tell_who_spoke_and_what_kind_of_turn_it_is() -> None:
    memory = made("Did we meet two days ago?", source=Source(role="assistant", name="Dr. Maria Lopez"))
    assert marked(memory) == {"role assistant", by("maria"), by("lopez"), by("dr"), ASKS, DATED, COUNTED}
    assert marked(made("Lovely colours")) == {"role user"}


def test_no_word_can_pretend_to_be_a_mark() -> None:
    assert mark_hash(ASKS) not in {term_hash(t) for t in terms("\x01asks asks \x01 asks")}
