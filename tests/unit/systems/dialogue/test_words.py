"""What texts are about, by their words: pure functions, so plain tests."""

from __future__ import annotations

import pytest

from longmind.systems.dialogue import words
from longmind.systems.dialogue.models import Turn
from longmind.systems.dialogue.pages import Said
from longmind.text.similarity import cosine, jaccard


def test_weights_leave_out_stop_words_and_chatter() -> None:
    told = words.weights("Yeah, thanks! I'm really going to water the tomatoes, tomatoes need water.")
    assert set(told) == {"water", "tomato"}
    assert told["water"] > 1.0
    assert words.weights("") == {}


def test_other_scripts_have_weights_too() -> None:
    assert words.weights("东京的天气") != {}


def test_a_term_that_few_texts_have_tells_more() -> None:
    rarity = words.Rarity([{"a", "b"}, {"a"}, {"a", "c"}])
    assert rarity("new") > rarity("b") == rarity("c") > rarity("a") > 0
    assert words.keywords({"a": 1.0, "b": 1.0, "c": 1.0}, rarity, 2) == ("b", "c"), "ties go by the alphabet"


def test_the_cosine_runs_from_nothing_to_the_same() -> None:
    rarity = words.Rarity()
    a, b = words.scaled({"x": 1.0, "y": 2.0}, rarity), words.scaled({"y": 2.0, "z": 1.0}, rarity)
    assert cosine(a, a) == pytest.approx(1.0)
    assert 0 < cosine(a, b) == cosine(b, a) < 1
    assert cosine(a, {}) == 0.0
    assert words.scaled({}, rarity) == {}


def test_jaccard_is_alive() -> None:
    assert jaccard("ab", "bc") == pytest.approx(1 / 3)
    assert jaccard("", "a") == 0.0


def test_packed_weights_come_back() -> None:
    told = {"tomato": 2.5, "水": 1.0}
    assert words.unpacked(words.packed(told)) == told
    assert words.unpacked("") == {}
    many = {f"t{n}": float(n) for n in range(1, 500)}
    assert set(words.unpacked(words.packed(many))) == {f"t{n}" for n in range(500 - words.MAX_TERMS, 500)}


def test_a_summary_is_made_of_what_was_said() -> None:
    told = ["user: The tomatoes need water.", "user: Nice weather.", "assistant: Water the tomatoes at night."]
    about = words.weights("tomatoes water tomatoes water")
    assert words.summary(told, about, 60) == "user: The tomatoes need water."
    assert words.summary(told, about, 80) == "user: The tomatoes need water.\nassistant: Water the tomatoes at night."
    assert words.summary([], about, 80) == ""
    assert words.summary(["user: " + "tomatoes " * 50], about, 80) == ("user: " + "tomatoes " * 50)[:79].rstrip() + "…"
    assert words.summary(["user: Hi."], about, 80) == "user: Hi.", "something is better than nothing"


def test_sentences_keep_who_said_them() -> None:
    said = Said((Turn(name="Ana", text="One.  Two!\nThree"), Turn(text="Four")))
    assert said.lines == ["Ana: One.", "Ana: Two!", "Ana: Three", "user: Four"]
