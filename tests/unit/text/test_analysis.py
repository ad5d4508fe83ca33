"""From text to terms, in more than one language; and the marks that recall reads."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.store.search.rows import made

from longmind.text import index_terms as stored_terms
from longmind.text.analysis import (
    analyse,
    fold,
    has_digit,
    term_hash,
    terms,
    words,
)
from longmind.text.index_terms import (
    _NUMBER,
    _NUMBER_WORDS,
    _TIME,
    _TIME_WORDS,
    ASKS,
    COUNTED,
    DATED,
    HEADER,
    MAX_TERMS,
    index_terms,
    mark_hash,
    marks,
    speaker_mark,
)
from longmind.types import Memory, Source


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


def test_words_are_forgotten_when_there_are_too_many_and_their_terms_stay_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = made("The first words, then others, and the first again: " + "long" * 20)
    before = index_terms(told)
    monkeypatch.setattr(stored_terms, "_MOST_WORDS", 3)
    known = stored_terms._Hashes()
    monkeypatch.setattr(stored_terms, "_hash_of", known.__getitem__)
    assert index_terms(told) == before
    assert len(known) <= 3
    assert known["long" * 20] == term_hash(("long" * 20)[:64])
    assert "long" * 20 not in known


@given(st.text(max_size=20))
def test_a_digit_of_any_script_is_seen(text: str) -> None:
    assert has_digit(text) == (re.search(r"\d", text) is not None)


def marked(memory: Memory) -> set[str]:
    return set(marks(memory, analyse(memory.content)))


def test_marks_tell_who_spoke_and_what_kind_of_turn_it_is() -> None:
    memory = made("Did we meet two days ago?", source=Source(role="assistant", name="Dr. Maria Lopez"))
    assert marked(memory) == {
        "role assistant",
        speaker_mark("maria"),
        speaker_mark("lopez"),
        speaker_mark("dr"),
        ASKS,
        DATED,
        COUNTED,
    }
    assert marked(made("Lovely colours")) == {"role user"}


def test_no_word_can_pretend_to_be_a_mark() -> None:
    assert mark_hash(ASKS) not in {term_hash(t) for t in terms("\x01asks asks \x01 asks")}


# -- what is stored must not change: a store holds terms of every release that wrote to it ---------------------------

TURNS = (
    "Hey Caroline! It's so good to see you. How have you been lately?",
    "I went to a LGBTQ support group yesterday and it was so powerful.",
    "Wow, that's cool! What happened that was so awesome? Did you hear any inspiring stories?",
    "The transgender stories were so inspiring! I was so happy and thankful for all the support.",
    "I'm off to go swimming with the kids. Talk to you soon! We've got 2 of them, the 3rd comes in May.",
    "My mom passed away last year; she'd have been 65 on March 4th, 2023. That's why this week is hard.",
    "I’ve been to the café in Málaga – naïve me thought it’d be cheap… 12€!",
    "Dogs' toys, the dog's bed and rock 'n' roll. O'Brien said: 'today'! foo_bar today_is 3pm x2",
    "once upon a time, few of the ten friends met Dr. Maria-José Lopez twice",
    "昨日は東京都に住むJohnと会いました。last week？",
    "",
    "!!! ???",
    "word " * 300 + "this summer",
)


def test_terms_are_those_of_every_release_before() -> None:
    at = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    kept = [
        index_terms(made(text, occurred_at=at, tags=("trip", "Old friends"), source=Source(name="Dr. Maria Lopez")))
        for text in TURNS
    ]
    assert sha256(b"".join(kept)).hexdigest() == "16fbec9583f2350b20c1656d50a2f5cba039ec14f085c8b868e6574eac390970"


PIECES = st.sampled_from(
    """today to'day today's _today_ this this_week last'ly days' 3pm 2023 4th ４th one on'e one's _one ’s Caroline’s
    don’t ünïcode 東京都に住む 猫today İstanbul ß ... ? ？ - ' ’ _ many few x'y'z May march's ٣ just since_ I'm 'since'
    week""".split()
)
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@given(st.lists(PIECES, max_size=8), st.sampled_from(("", " ", ", ")))
def test_the_short_ways_find_what_the_patterns_find(pieces: list[str], between: str) -> None:
    """ASCII is cut by a table and most texts are marked by their words alone; the patterns say what is right."""
    text = between.join(pieces)
    content, said = analyse(text), frozenset(words(text))
    if content.folded.isascii():
        found = [w.partition("'") for w in WORD.findall(content.folded)]
        assert content.words == [h if m and t in ("s", "") else (h + m + t).replace("'", "") for h, m, t in found]
    digit = re.search(r"\d", text) is not None
    dated = (digit or bool(said & _TIME_WORDS)) and _TIME.search(fold(text)) is not None
    counted = (digit or bool(said & _NUMBER_WORDS)) and _NUMBER.search(fold(text)) is not None
    assert ({DATED} & marked(made(text)), {COUNTED} & marked(made(text))) == (
        {DATED} if dated else set(),
        {COUNTED} if counted else set(),
    )
