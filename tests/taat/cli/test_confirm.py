"""``taat confirm`` and ``taat announcers NAME``: what is confirmed becomes habits, by which the next posts are read."""

import json
from pathlib import Path

from tests.taat.trader.posts import write_posts
from typer.testing import CliRunner

from taat.cli import app

runner = CliRunner()


def taat(*arguments: str, code: int = 0) -> str:
    result = runner.invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def test_confirmed_examples_become_vocabulary_and_change_how_posts_are_read(tmp_path: Path) -> None:
    folder, feed = ["--store", str(tmp_path)], tmp_path / "posts.jsonl"
    posts = [("ann", f"pulled the trigger ${symbol} 10") for symbol in ("AMD", "TSLA", "COIN")]
    address = write_posts(feed, posts)
    assert "3 posts, 0 signals" in taat("run", "--feed", address, *folder)
    for number, symbol in enumerate(("AMD", "TSLA", "COIN"), start=1):
        told = taat("confirm", str(number), "--action", "open", "--side", "long", "--symbol", symbol, *folder)
        assert f"means open long {symbol}." in told
    assert "confirmed examples: 3" in told
    assert "pulled the trigger" in told
    known = taat("announcers", "ann", *folder)
    assert "means by “pulled the trigger”: open long" in known
    write_posts(feed, [*posts, ("ann", "pulled the trigger $SHOP 62.40")])
    assert "buy 80 SHOP" in taat("run", "--feed", address, *folder)
    habits = json.loads(taat("announcers", "ann", "--json", *folder))["habits"]
    assert habits["confirmed examples"] == 3


def test_a_signal_is_confirmed_corrected_or_rejected(tmp_path: Path) -> None:
    folder = ["--store", str(tmp_path)]
    posts = [("ann", "Bought $NVDA at 200"), ("ann", "Bought $AMD at 100")]
    taat("run", "--feed", write_posts(tmp_path / "posts.jsonl", posts), *folder)
    assert json.loads(taat("confirm", "1", "--json", *folder))["means"] == "open long NVDA"
    assert json.loads(taat("confirm", "1", "--action", "add", "--json", *folder))["means"] == "add long NVDA"
    assert json.loads(taat("confirm", "2", "--wrong", "--json", *folder))["means"] == "no trade"
    procedures = json.loads(taat("procedures", "show", "generate_signal", "--json", *folder))
    assert (procedures["versions"][0]["successes"], procedures["versions"][0]["failures"]) == (1, 2)
    assert "“Bought $AMD at 100” means no trade." in taat("why", "2", *folder)


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    folder = ["--store", str(tmp_path)]
    taat("run", "--feed", write_posts(tmp_path / "posts.jsonl", [("ann", "good morning")]), *folder)
    assert "There is no signal and no post" in taat("confirm", "77", *folder, code=3)
    assert "--symbol" in taat("confirm", "1", "--action", "open", *folder, code=2)
    taat("confirm", "1", "--wrong", "--action", "open", *folder, code=2)


def test_an_unknown_announcer_is_not_found(tmp_path: Path) -> None:
    folder = ["--store", str(tmp_path)]
    taat("run", "--feed", write_posts(tmp_path / "posts.jsonl", [("ann", "good morning")]), *folder)
    assert "no announcer" in taat("announcers", "zoe", *folder, code=3)


def test_a_rollback_and_the_goal_are_told(tmp_path: Path) -> None:
    folder = ["--store", str(tmp_path)]
    taat("goals", "set", "maximum-drawdown-percent", "5", "--from", "2026-01-01", *folder)
    taat("run", "--feed", write_posts(tmp_path / "posts.jsonl", [("ann", "Bought $NVDA at 200")]), *folder)
    goal = json.loads(taat("goals", "show", "--json", *folder))
    assert goal["goal"] == "Beat SPY with at most 5 % drawdown"
    assert [criterion["kept"] for criterion in goal["criteria"]] == [True, None]
    assert "execute_trade" in taat("procedures", *folder)
    assert "error" in taat("procedures", "rollback", "execute_trade", *folder, code=2)
    assert "There is no target" in taat("goals", "set", "riches", "5", *folder, code=2)
