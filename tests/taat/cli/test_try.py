"""``taat try``: how a post would be read and judged."""

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


def test_a_post_is_read_and_judged_and_leaves_nothing(tmp_path: Path) -> None:
    folder, when = ["--store", str(tmp_path)], ["--at", "2026-03-02T15:30"]
    feed = write_posts(tmp_path / "posts.jsonl", [("ann", "Bought $NVDA at 200")])
    taat("run", "--feed", feed, *folder)
    tried = json.loads(taat("try", "bo", "Bought $NVDA at 201", "--json", *when, *folder))
    assert [(signal["symbol"], signal["action"]) for signal in tried["signals"]] == [("NVDA", "open")]
    assert (tried["verdicts"][0]["outcome"], tried["verdicts"][0]["size"]) == ("accepted", "25")
    assert "close long NVDA: accepted" in taat("try", "ann", "Sold all my $NVDA at 210", *when, *folder)
    refused = taat("try", "bo", "Sold all my $NVDA at 210", *when, *folder)
    assert "Nothing of NVDA is held on the word of bo." in refused
    assert "It announces no trade." in taat("try", "bo", "good morning", *when, *folder)
    assert "bo" not in taat("announcers", *folder).split()
    procedures = json.loads(taat("procedures", "list", "--json", *folder))["procedures"]
    assert next(each["runs"] for each in procedures if each["name"] == "process_post") == 4
