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


def test_what_is_shared_is_proposed_and_reviewed(cli: Cli) -> None:
    assert "Nothing." in cli("shared")
    assert "Refused: It holds an e-mail address." in cli("propose", "Write to ana@example.org.")
    one = cli.json("propose", "Tomatoes need six hours of sun.")["knowledge"]
    assert one["status"] == "pending"
    assert "pending" in cli("propose", "Tomatoes need six hours of sun.", "--user", "ann")
    assert "approved" in cli("approve", one["id"][-8:], "--note", "checked")
    assert [o["id"] for o in cli.json("shared")["shared"]] == [one["id"]]
    assert "rejected" in cli("reject", one["id"])
    assert cli.json("shared", "--status", "any")["shared"][0]["status"] == "rejected"
    assert "0 candidates" in cli("approve", "0" * 36, code=3)
    assert "too short" in cli("approve", "abc", code=1)
