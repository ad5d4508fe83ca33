"""``longmind working`` on a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.systems.conftest import Cli

from longmind.cli.working import app


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(app, str(tmp_path / "memory.db"))


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
