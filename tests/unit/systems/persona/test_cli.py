"""``recollect persona`` on a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recollect.cli.persona import app


class Cli:
    def __init__(self, url: str) -> None:
        self._env = {"RECOLLECT_URL": url, "RECOLLECT_EMBEDDER": "none", "COLUMNS": "120", "NO_COLOR": "1"}

    def __call__(self, *words: str, code: int = 0) -> str:
        result = CliRunner(env=self._env).invoke(app, words, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result.output

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "--json"))


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(str(tmp_path / "memory.db"))


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
