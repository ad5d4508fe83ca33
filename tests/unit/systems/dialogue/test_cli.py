"""``longmind dialogue`` on a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.systems.conftest import Cli

from longmind.cli.dialogue import app


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(app, str(tmp_path / "memory.db"))


def test_pages_move_on_to_topics(cli: Cli) -> None:
    assert cli.json("configure", "window=2", "hot=1")["window"] == 2
    assert "No pages." in cli("show")
    assert "No topics." in cli("segments")
    assert "window" in cli("configure")
    assert "Added page" in cli("add", "The tomatoes are dry", "Water them", "--session", "s1")
    cli("add", "The tomatoes have water", "Good")
    assert "moved to a new topic" in cli("add", "Trains leave at nine", "Noted")
    shown = cli("show")
    assert "user: Trains leave at nine" in shown
    assert "So far, in short:" in shown
    assert len(cli.json("show")["pages"]) == 2
    (segment,) = cli.json("segments")["segments"]
    assert segment["length"] == 1
    assert "tomatoes" in cli("segments", "--hot")
    assert "Water them" in cli("pages", segment["id"][-8:])
    assert [p["id"] for p in cli.json("pages", segment["id"])["pages"]] != []
    assert cli.json("segments", "--archived")["segments"] == []
    assert "Earlier, on" in cli("recall", "dry tomatoes")
    assert cli.json("recall", "dry tomatoes")["mid_term"][0]["segment"]["id"] == segment["id"]
    assert "Nothing to do." in cli("upkeep")
    cli("configure", "window=1")
    assert "1 page moved on" in cli("upkeep")


def test_wrong_calls(cli: Cli) -> None:
    assert "is not NAME=VALUE" in cli("configure", "window", code=2)
    assert "no such setting" in cli("configure", "colour=red", code=1)
    assert "no segment" in cli("pages", "00000000-0000-7000-8000-000000000000", code=3)
