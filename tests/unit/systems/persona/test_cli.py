"""``longmind persona`` on a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.systems.conftest import Cli

from longmind.cli.persona import app


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(app, str(tmp_path / "memory.db"))


def test_a_profile_grows(cli: Cli) -> None:
    assert "Nothing is known of the user yet." in cli("show")
    assert "vegan" in cli("observe", "diet", "vegan", "--score", "0.8", "-c", "0.6")
    assert cli.json("observe", "diet", "omnivore", "-c", "0.6")["value"] == "vegan"
    assert cli.json("observe", "diet", "omnivore", "--correction")["value"] == "omnivore"
    assert [t["value"] for t in cli.json("history", "diet")["values"]] == ["vegan", "omnivore"]
    assert "now" in cli("history", "diet")
    assert "Learnt: Likes tea." in cli("learn", "Likes tea.", "-i", "0.9")
    assert "Known already, surer now" in cli("learn", "Likes tea.")
    assert "Likes tea." in cli("show")
    assert cli.json("show", "--about", "agent") == {"about": "agent", "traits": [], "knowledge": []}
    assert "Nothing was ever observed" in cli("history", "mood", code=3)
