"""``longmind facts`` and ``longmind graph``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from longmind.cli import facts, graph


class Cli:
    """Runs a command group on a store of the test's own and expects an exit code."""

    def __init__(self, url: str) -> None:
        self._runner = CliRunner(env={"LONGMIND_URL": url, "LONGMIND_EMBEDDER": "none", "COLUMNS": "120"})

    def __call__(self, group: str, *words: str, code: int = 0) -> Result:
        app = {"facts": facts.app, "graph": graph.app}[group]
        result = self._runner.invoke(app, words, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "--json").stdout)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    made = Cli(str(tmp_path / "memory.db"))
    made("facts", "learn", "Alice", "lives in", "Porto", "--from", "2010-01-01")
    made("facts", "learn", "Alice", "lives in", "Lisbon", "--from", "2020-01-01")
    made("facts", "learn", "Alice", "age", "30")
    made("facts", "learn", "Lisbon", "located in", "Portugal", "--relate")
    return made


def test_learning_tells_what_it_changed(cli: Cli) -> None:
    told = cli("facts", "learn", "Alice", "lives in", "Faro", "--from", "2024-01-01").stdout
    assert told.startswith("changed: Alice lives in Faro")
    assert "until 2024-01-01: Alice lives in Lisbon" in told


def test_facts_are_listed_and_shown(cli: Cli) -> None:
    listed = cli.json("facts", "list")
    assert {(f["subject"], f["object"]) for f in listed["items"]} == {
        ("Alice", "Lisbon"),
        ("Alice", 30),
        ("Lisbon", "Portugal"),
    }
    assert len(cli.json("facts", "list", "--all", "-p", "lives in")["items"]) == 2
    assert "Porto" in cli("facts", "show", "Alice", "lives in", "--as-of", "2015-01-01").stdout
    assert "Lisbon" in cli("facts", "show", "alice").stdout
    assert [f["object"] for f in cli.json("facts", "history", "Alice", "lives in")] == ["Porto", "Lisbon"]
    page = cli.json("facts", "list", "--limit", "1")
    assert page["cursor"] in cli("facts", "list", "--limit", "1").stdout.replace("\n", "")


def test_what_is_not_known_is_an_error(cli: Cli) -> None:
    assert "Nothing is known" in cli("facts", "show", "Alice", "shoe size", code=3).stderr
    cli("facts", "show", "Nobody", code=3)
    cli("graph", "path", "Alice", "Nobody", code=3)


def test_a_fact_is_retracted_by_the_end_of_its_id(cli: Cli) -> None:
    (fact,) = cli.json("facts", "show", "Alice", "age")
    assert "Alice age 30" in cli("facts", "retract", fact["id"][-8:], "--because", "a typo").stdout
    cli("facts", "show", "Alice", "age", code=3)
    assert "retracted" in cli("facts", "history", "Alice", "age").stdout


def test_graph(cli: Cli) -> None:
    assert "Alice --lives in--> Lisbon" in cli("graph", "show", "Alice").stdout
    told = cli("graph", "path", "Alice", "Portugal").stdout.strip()
    assert told == "Alice -[lives in]-> Lisbon -[located in]-> Portugal"
    assert "not connected" in cli("graph", "path", "Alice", "Porto", code=3).stderr
    assert [c["name"] for c in cli.json("graph", "list")["items"]] == ["Alice", "Porto", "Lisbon", "Portugal"]
    assert "Portugal" in cli("graph", "list").stdout


def test_graph_export(cli: Cli) -> None:
    assert cli("graph", "export").stdout.startswith("graph LR\n")
    ElementTree.fromstring(cli("graph", "export", "--format", "graphml").stdout)
    assert len(json.loads(cli("graph", "export", "-f", "json", "-c", "Lisbon", "-d", "1").stdout)["nodes"]) == 3
    assert cli.json("graph", "export", "-f", "mermaid")["format"] == "mermaid"
    cli("graph", "export", "-f", "svg", code=2)
