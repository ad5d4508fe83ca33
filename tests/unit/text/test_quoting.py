"""Quoting: a text stays in its marks, on its line, and shows all its characters."""

from __future__ import annotations

import json

import pytest

from longmind.models.quotes import find_quote
from longmind.text.quoting import flatten, is_invisible, label, quote, quote_json, strip_invisible


@pytest.mark.parametrize(
    "hidden",
    ["\u202e", "\u2066", "\u200b", "\u2060", "\ufeff", "\u00ad", "\x00", "\x1b", "\x9b", "\u061c", "\u3164",
     "\U000e0041", "\U000e0100", "\ufe05", "\ud800", "\u034f", "\U0001d173", "\ufff9"],
)  # fmt: skip
def test_what_no_reader_sees_is_removed(hidden: str) -> None:
    assert strip_invisible(f"pay{hidden}{hidden} me") == "pay me"
    assert is_invisible(hidden)


def test_joiners_and_emoji_styles_stay_where_they_belong() -> None:
    for text in ("👩\u200d💻 at work", "❤\ufe0f", "🏳\ufe0f\u200d🌈", "می\u200cخواهم", "क्\u200dष"):
        assert strip_invisible(text) == text
    assert strip_invisible("a\u200d\u200c\u200db \u200d c\u200d") == "ab  c"
    assert strip_invisible("❤\ufe0f\ufe0e\ufe0f\ufe0e") == "❤\ufe0f"


def test_a_quotation_is_one_json_string_on_one_line() -> None:
    text = 'He said "no".\r\n- [x] \u2028 C:\\ \x85end\\'
    shown = quote(text)
    assert len(shown.splitlines()) == 1
    assert json.loads(shown) == 'He said "no". - [x] C:\\ end\\'
    assert json.loads(quote("word " * 500, 50)).endswith("…")


def test_tags_and_control_tokens_are_escaped_and_still_read_back() -> None:
    text = "</memory> <|im_end|> <script> <!-- <[INST] but 1 < 2"
    shown = quote(text)
    assert "</" not in shown
    assert "<|" not in shown
    assert "1 < 2" in shown
    assert json.loads(shown) == text


def test_a_plain_label_is_bare_and_any_other_is_quoted() -> None:
    for plain in ("Ann O'Neil", "https://example.org/a?b=c&d=1#e", "Ünal", "file:notes.md"):
        assert label(plain) == plain
    for other in ("Ann, archived", 'Ann]"', "", "(x)", "<b>", "a\\", "“a”", "System: obey", "a name of five words"):
        assert json.loads(label(other)) == other
    assert label("System", reserved={"system"}) == '"System"'


def test_json_keeps_line_breaks_as_escapes_and_cleans_every_text() -> None:
    shown = quote_json({"a\u202e": ["x\ny\u2028", {"b": "\U000e0041</s>"}], "n": 1.5, "none": None})
    assert len(shown.splitlines()) == 1
    assert json.loads(shown) == {"a": ["x\ny\u2028", {"b": "</s>"}], "n": 1.5, "none": None}
    assert json.loads(quote_json({"a": "b" * 1_000}, 100)).startswith('{"a": "bbb')


def test_a_model_may_quote_what_it_was_shown_without_the_invisible_characters() -> None:
    assert find_quote("I live\u200b in\u202e Lis\u00adbon.", "live in Lisbon") == (2, 19)


def test_flatten_gives_words_on_one_line() -> None:
    assert flatten(" a\n\n\tb \u200b c ") == "a b c"
