"""``longmind recall`` and ``context``."""

from typing import Any

import pytest


@pytest.fixture
def filled(cli: Any) -> Any:
    cli.remember(
        "I moved to Lisbon in May.", "--name", "Alice", "--at", "2026-05-04", "--tag", "home", "--session", "a"
    )
    cli.remember("The cat sleeps on the piano.", "--name", "Bob", "--at", "2026-06-01", "--meta", "room=2")
    return cli


def test_the_table_shows_score_date_speaker_text_reason_and_id(filled: Any) -> None:
    told = filled("recall", "who moved to Lisbon?", "-k", "1").stdout
    hit = filled.json("recall", "who moved to Lisbon?", "-k", "1")["hits"][0]
    shown = " ".join(told.split())
    for part in (f"{hit['score']:.2f}", "2026-05-04", "Alice", "I moved to Lisbon in May.", hit["memory"]["id"][-8:]):
        assert part in shown
    assert hit["why"].split()[0] in shown
    assert "piano" not in shown


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--tag", "home"], "Lisbon"),
        (["--session", "a"], "Lisbon"),
        (["--name", "Bob"], "piano"),
        (["--meta", "room=2"], "piano"),
        (["--since", "2026-05-15"], "piano"),
        (["--until", "2026-05-15"], "Lisbon"),
    ],
)
def test_filters_narrow(filled: Any, words: list[str], found: str) -> None:
    hits = filled.json("recall", "Lisbon cat piano moved", *words)["hits"]
    assert [found in hit["memory"]["content"] for hit in hits] == [True]


def test_nothing_that_fits_is_no_error(filled: Any) -> None:
    assert filled("recall", "Lisbon", "--kind", "document").stdout == "Nothing that fits.\n"
    assert filled.json("recall", "Lisbon", "--kind", "document") == {"hits": []}
    assert filled.json("recall", "Lisbon", "--min-score", "1")["hits"] == []


def test_long_texts_are_cut_unless_asked_whole(cli: Any) -> None:
    cli.remember("Lisbon " + "la " * 200 + "end.")
    assert "end." not in cli("recall", "Lisbon").stdout
    assert "end." in cli("recall", "Lisbon", "--full").stdout


def test_a_memory_cannot_play_tricks_on_the_terminal(cli: Any) -> None:
    cli.remember("Lisbon \x1b[2J\x07 [red]not markup[/red] \u202eback", "--name", "Ali\u202ece")
    told = cli("recall", "Lisbon").stdout
    assert "\x1b" not in told
    assert "\x07" not in told
    assert "\u202e" not in told
    assert "␛[2J␇ [red]not markup[/red]" in told


@pytest.mark.parametrize(
    "words",
    [["--state", "lost"], ["-k", "0"], ["--min-score", "3"], ["--since", "2026-13-01"]],
)
def test_wrong_options_are_usage_errors(filled: Any, words: list[str]) -> None:
    assert filled.error("recall", "Lisbon", *words, code=2)["error"] == "usage"


def test_an_empty_time_window_is_said(filled: Any) -> None:
    told = filled.error("recall", "Lisbon", "--since", "2026-06-01", "--until", "2026-05-01T00:00+02:00")
    assert "--until is not after --since" in told["message"]


def test_another_agent_sees_nothing(filled: Any) -> None:
    filled.remember("Hello.", "--agent", "other")
    filled.remember("Hello.", "--tenant", "other")
    elsewhere = filled.json("recall", "Lisbon", "--agent", "other")["hits"]
    elsewhere += filled.json("recall", "Lisbon", LONGMIND_AGENT="other")["hits"]
    elsewhere += filled.json("recall", "Lisbon", "--tenant", "other")["hits"]
    assert {hit["memory"]["content"] for hit in elsewhere} <= {"Hello."}


def test_context_is_printed_as_it_is(filled: Any) -> None:
    told = filled("context", "where to send the parcel to Lisbon").stdout
    assert "I moved to Lisbon in May." in told
    assert filled.json("context", "where to send the parcel to Lisbon")["context"] + "\n" == told


def test_context_keeps_to_its_budget(cli: Any) -> None:
    for number in range(30):
        cli.remember(f"Note {number} about Lisbon: bring the blue umbrella and the yellow boots.")
    small, large = (cli.json("context", "Lisbon", "--tokens", n)["context"] for n in ("100", "400"))
    assert 0 < len(small) < len(large)


def test_what_nobody_said_is_shown_as_what_it_is(cli: Any) -> None:
    cli("goal", "create", "Buy dog food")
    shown = cli("recall", "dog food").stdout
    assert "goal" in shown
    assert "assistant" not in shown
