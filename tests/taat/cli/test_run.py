"""``taat run``: the sample out of the box, again, as JSON, and what it refuses."""

import json
from pathlib import Path

import pytest
from tests.taat.trader.posts import write_posts
from typer.testing import CliRunner

from taat.cli import app

runner = CliRunner()


def test_the_sample_runs_out_of_the_box_and_once(tmp_path: Path) -> None:
    first = runner.invoke(app, ["run", "--store", str(tmp_path)])
    assert first.exit_code == 0, first.output
    assert "40 posts, 29 signals: 27 followed, 2 refused." in first.output
    assert "stopped out: sell 8 TSLA 410P 03/13/26 at 4.02" in first.output
    again = runner.invoke(app, ["run", "--store", str(tmp_path)])
    assert "0 posts, 0 signals" in again.output
    assert first.output.splitlines()[-1].split("Cash")[1] == again.output.splitlines()[-1].split("Cash")[1]


def test_every_line_is_json_when_asked(tmp_path: Path) -> None:
    feed = write_posts(tmp_path / "posts.jsonl", [("ann", "Bought $NVDA at 200"), ("ann", "hi")])
    result = runner.invoke(app, ["run", "--feed", feed, "--store", str(tmp_path / "store"), "--json"])
    decision, execution, summary = map(json.loads, result.output.splitlines())
    assert decision["accepted"]
    assert (decision["signal"]["symbol"], decision["signal"]["action"]) == ("NVDA", "open")
    assert (execution["kind"], execution["quantity"], execution["price"]) == ("execution", "25", "200")
    assert (summary["posts"], summary["executions"], summary["cash"]) == (2, 1, "95000.00")


@pytest.mark.parametrize(("answer", "held"), [("y\n", 1), ("n\n", 0)])
def test_with_confirm_a_person_decides(tmp_path: Path, answer: str, held: int) -> None:
    feed = write_posts(tmp_path / "posts.jsonl", [("ann", "Bought $NVDA at 200")])
    arguments = ["run", "--feed", feed, "--store", str(tmp_path / "store"), "--confirm"]
    result = runner.invoke(app, arguments, input=answer)
    assert f"{held} executions" in result.output
    assert ("It was not confirmed." in result.output) == (not held)


def test_live_needs_the_brokers_name_typed(tmp_path: Path) -> None:
    result = runner.invoke(app, ["run", "--live", "--broker", "alpaca", "--store", str(tmp_path)], input="yes\n")
    assert result.exit_code == 2
    assert "Live trading was not confirmed" in result.output


def test_answers_and_posts_cannot_share_the_standard_input(tmp_path: Path) -> None:
    result = runner.invoke(app, ["run", "--feed", "-", "--confirm", "--store", str(tmp_path)])
    assert result.exit_code == 2
