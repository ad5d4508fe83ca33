"""``taat terms`` and ``taat prefer``: words and wishes as facts, which other commands follow."""

import json
from pathlib import Path

from tests.taat.trader.posts import write_posts
from typer.testing import CliRunner

from taat.cli import app

runner = CliRunner()


def taat(*arguments: str, code: int = 0, answers: str | None = None) -> str:
    result = runner.invoke(app, list(arguments), input=answers)
    assert result.exit_code == code, result.output
    return result.output


def test_a_word_is_explained_and_can_be_given_another_meaning(tmp_path: Path) -> None:
    folder = ["--store", str(tmp_path)]
    taat("run", "--feed", write_posts(tmp_path / "posts.jsonl", [("ann", "BTO 1 NVDA 190C 03/20 @ 3")]), *folder)
    assert "BTO means buy to open: a long position is entered." in taat("why", "1", *folder).replace("\n    ", " ")
    taat("terms", "runner", "--means", "what is left after the second scale", *folder)
    (term,) = json.loads(taat("terms", "runner", "--json", *folder))["terms"]
    assert term["means"] == "what is left after the second scale"


def test_a_preference_to_be_asked_is_followed_and_the_answer_is_kept(tmp_path: Path) -> None:
    folder = ["--store", str(tmp_path)]
    taat("prefer", "confirm-orders", "yes", *folder)
    feed = write_posts(tmp_path / "posts.jsonl", [("ann", "Bought $NVDA at 200"), ("ann", "Bought $AMD at 100")])
    told = taat("run", "--feed", feed, *folder, answers="y\nn\n")
    assert "1 followed, 1 refused" in told
    assert "Yes." in taat("why", "1", *folder)
    assert json.loads(taat("announcers", "ann", "--json", *folder))["habits"]["confirmed examples"] == 1
    assert "There is no preference" in taat("prefer", "colour", "blue", *folder, code=2)
    assert "Say what you prefer" in taat("prefer", "report-by", *folder, code=2)
