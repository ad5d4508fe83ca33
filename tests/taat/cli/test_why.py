"""``taat why``: the chain of a signal, by its id or its post's."""

import json
from pathlib import Path

import pytest
from tests.taat.trader.posts import write_posts
from typer.testing import CliRunner

from taat.cli import app

runner = CliRunner()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    posts = [
        ("ann", "Bought 10 shares of $NVDA at 200, stop at 190"),
        ("ann", "Sold 5 shares of $NVDA at 210"),
        ("ann", "Closed the rest of my $NVDA at 220"),
        ("bo", "Closed my $AMD at 100"),
    ]
    feed = write_posts(folder / "posts.jsonl", posts)
    assert runner.invoke(app, ["run", "--feed", feed, "--store", str(folder)]).exit_code == 0
    return folder


def told(store: Path, signal: str) -> dict[str, list[str]]:
    result = runner.invoke(app, ["why", signal, "--store", str(store), "--json"])
    assert result.exit_code == 0, result.output
    answer: dict[str, list[str]] = json.loads(result.output)
    return answer


def test_the_chain_goes_from_the_post_to_what_was_learnt(store: Path) -> None:
    chain = told(store, "1")
    assert chain["The post"][1] == "“Bought 10 shares of $NVDA at 200, stop at 190”"
    assert chain["What was read"][0].startswith("open long NVDA at 200 of 10 with a stop at 190")
    assert "Nothing was open on their word." in chain["What was recalled"]
    assert "The account had 100,000.00 in cash and was worth 100,000.00." in chain["What was recalled"]
    assert "The goal: Beat SPY with at most 10 % drawdown." in chain["What was in mind"]
    assert chain["The post"][0].endswith("(post 1 of file:posts.jsonl):")
    assert "+ position size: 25 of NVDA are worth 5,000.00." in chain["The decision"]
    assert chain["The action"][0] == "The procedure execute_trade, version 1: succeeded."
    assert any("stop order, sell 25 at 190.00: accepted" in line for line in chain["The action"])
    assert [line.split(": ")[1].split(",")[0] for line in chain["What was executed"]] == ["entry", "exit", "exit"]
    assert chain["The outcome"] == ["Closed on 2026-03-02 15:02 UTC: +380.00 after fees of 0, +7.60 %."]
    assert "counts as a success" in chain["What was learnt"][0]


def test_a_part_is_told_as_the_announcers_part(store: Path) -> None:
    chain = told(store, "2")
    assert "That is 50 % of what ann held." in chain["What was read"]
    assert "Open on their word: long 25 NVDA from 200, stop 190.00." in chain["What was recalled"]


def test_a_refusal_says_which_rule(store: Path) -> None:
    chain = told(store, "4")
    assert chain["The decision"][0] == "Refused: Nothing of AMD is held on the word of bo."
    assert "The action" not in chain


def test_an_unknown_signal_is_not_found(store: Path) -> None:
    result = runner.invoke(app, ["why", "nothing", "--store", str(store)])
    assert result.exit_code == 3
    assert "There is no signal" in result.output


def test_without_a_memory_it_says_so(tmp_path: Path) -> None:
    result = runner.invoke(app, ["why", "1", "--store", str(tmp_path / "none")])
    assert result.exit_code == 3
    assert "There is no memory" in result.output
