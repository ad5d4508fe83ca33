"""What texts are about, by their words: pure functions, so plain tests."""

from __future__ import annotations

import pytest

from longmind.systems.dialogue import term_weights
from longmind.systems.dialogue.models import DialogueTurn
from longmind.systems.dialogue.pages import PageContent
from longmind.text.similarity import cosine, jaccard


def test_weights_leave_out_stop_words_and_chatter() -> None:
    told = term_weights.weigh_text("Yeah, thanks! I'm really going to water the tomatoes, tomatoes need water.")
    assert set(told) == {"water", "tomato"}
    assert told["water"] > 1.0
    assert term_weights.weigh_text("") == {}


def test_other_scripts_have_weights_too() -> None:
    assert term_weights.weigh_text("东京的天气") != {}


def test_a_term_that_few_texts_have_tells_more() -> None:
    rarity = term_weights.Rarity([{"a", "b"}, {"a"}, {"a", "c"}])
    assert rarity("new") > rarity("b") == rarity("c") > rarity("a") > 0
    assert term_weights.keywords({"a": 1.0, "b": 1.0, "c": 1.0}, rarity, 2) == ("b", "c"), "ties go by the alphabet"


def test_the_cosine_runs_from_nothing_to_the_same() -> None:
    rarity = term_weights.Rarity()
    a, b = term_weights.scale({"x": 1.0, "y": 2.0}, rarity), term_weights.scale({"y": 2.0, "z": 1.0}, rarity)
    assert cosine(a, a) == pytest.approx(1.0)
    assert 0 < cosine(a, b) == cosine(b, a) < 1
    assert cosine(a, {}) == 0.0
    assert term_weights.scale({}, rarity) == {}


def test_jaccard_is_alive() -> None:
    assert jaccard("ab", "bc") == pytest.approx(1 / 3)
    assert jaccard("", "a") == 0.0


def test_packed_weights_come_back() -> None:
    told = {"tomato": 2.5, "水": 1.0}
    assert term_weights.unpack(term_weights.pack(told)) == told
    assert term_weights.unpack("") == {}
    many = {f"t{n}": float(n) for n in range(1, 500)}
    assert set(term_weights.unpack(term_weights.pack(many))) == {
        f"t{n}" for n in range(500 - term_weights.MAX_TERMS, 500)
    }


def test_a_summary_is_made_of_what_was_said() -> None:
    told = ["user: The tomatoes need water.", "user: Nice weather.", "assistant: Water the tomatoes at night."]
    about = term_weights.weigh_text("tomatoes water tomatoes water")
    assert term_weights.summarise(told, about, 60) == "user: The tomatoes need water."
    assert (
        term_weights.summarise(told, about, 80)
        == "user: The tomatoes need water.\nassistant: Water the tomatoes at night."
    )
    assert term_weights.summarise([], about, 80) == ""
    assert (
        term_weights.summarise(["user: " + "tomatoes " * 50], about, 80)
        == ("user: " + "tomatoes " * 50)[:79].rstrip() + "…"
    )
    assert term_weights.summarise(["user: Hi."], about, 80) == "user: Hi.", "something is better than nothing"


def test_sentences_keep_who_said_them() -> None:
    said = PageContent((DialogueTurn(name="Ana", text="One.  Two!\nThree"), DialogueTurn(text="Four")))
    assert said.lines == ["Ana: One.", "Ana: Two!", "Ana: Three", "user: Four"]


def test_a_topic_is_named_by_words_and_not_by_numbers_and_days() -> None:
    keywords = ("899", "Sundays", "rent", "eight", "flat", "B1")
    assert term_weights.naming_words_first(keywords) == ("rent", "flat", "899", "Sundays", "eight", "B1")
