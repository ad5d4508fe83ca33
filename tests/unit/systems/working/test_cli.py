"""``recollect working`` on a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recollect.cli.working import app


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


def test_what_is_put_is_listed_and_shown(cli: Cli) -> None:
    assert "Nothing is in mind." in cli("list")
    assert "Nothing is in mind." in cli("show")
    assert "home is in mind." in cli("put", "home", "She lives in Lisbon", "-i", "0.9", "--source", "Alice")
    cli("put", "tax", "The return is due")
    assert [i["key"] for i in cli.json("list")["items"]] == ["home", "tax"]
    assert [i["key"] for i in cli.json("focus", "when is the return due?")["items"]] == ["tax", "home"]
    assert "She lives in Lisbon" in cli("list", "--sort", "importance")
    assert 'Focus: "when is the return due?"' in cli("show")
    assert cli.json("show")["limits"] == {"items": 7, "tokens": 2000}
    cli("focus")
    assert cli.json("show")["focus"] == ""


def test_what_left_comes_back(cli: Cli) -> None:
    for n in range(8):
        shown = cli("put", f"k{n}", "x" * (n + 1))
    assert "k0 (evicted) is in episodic memory now." in shown
    assert "k0 is in mind." in cli("fetch", "k0")
    assert "k0 is in episodic memory now." in cli("release", "k0")
    assert "never held" in cli("fetch", "nothing", code=3)
    assert "no 'k0'" in cli("release", "k0", code=3)
