"""What is read out of a question."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from longmind.recall.query import parse_query

NOW = datetime(2026, 11, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When did she move?", "when"),
        ("How long has he played?", "when"),
        ("How many cats are there?", "count"),
        ("Who called?", "who"),
        ("Where is it?", "where"),
        ("What is her favourite colour?", "preference"),
        ("How do I restart the server?", "procedure"),
        ("List all books she read", "list"),
        ("Where is she currently living?", "latest"),
    ],
)
def test_the_kind_of_a_question(text: str, kind: str) -> None:
    assert kind in parse_query(text, NOW).kinds


def test_quoted_phrases_in_several_kinds_of_marks() -> None:
    assert parse_query('who said "old red door" or “blue sky” or «la mer»?', NOW).phrases == (
        "old red door",
        "blue sky",
        "la mer",
    )


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("What did you recommend for the trip?", True),
        ("Which plan have you suggested?", True),
        ("Can you recommend a plan?", False),
        ("What did I say?", False),
    ],
)
def test_whether_the_assistants_own_words_are_asked_for(text: str, asked: bool) -> None:
    assert parse_query(text, NOW).asks_assistant is asked


def test_stems_keep_a_word_as_it_was_asked() -> None:
    assert parse_query("Running shoes", NOW).stems == {"run": "running", "shoe": "shoes"}


@pytest.mark.parametrize(
    "text", ["I finally signed up for the course.", "So, my sister moved to Oslo", "We’ve sold the car"]
)
def test_a_text_that_tells_of_the_speaker_is_a_statement(text: str) -> None:
    assert "statement" in parse_query(text, NOW).kinds


@pytest.mark.parametrize("text", ["Where do I live?", "my car", "red house", "Tell me of my car", "I moved. Where to?"])
def test_questions_and_names_are_no_statements(text: str) -> None:
    assert "statement" not in parse_query(text, NOW).kinds
