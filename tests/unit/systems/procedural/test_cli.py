"""``longmind procedures`` on a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.systems.conftest import Cli

from longmind.cli.procedures import app

TOOLS = '''
from longmind.systems.procedural import ToolRegistry

registry = ToolRegistry()


@registry.tool(pure=True)
def double(n: int) -> int:
    """Twice as much."""
    if n > 100:
        raise ValueError("too much")
    return 2 * n


@registry.tool
def send(text: str) -> str:
    """Send it."""
    return f"sent {text}"
'''
DOUBLE = {
    "name": "double",
    "purpose": "Double a number and tell it.",
    "category": "sums",
    "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "steps": [{"name": "twice", "use": "double", "args": {"n": "{{ params.n }}"}}],
    "examples": [{"name": "two", "params": {"n": 2}, "expect": 4}],
}
SEND = {
    **DOUBLE,
    "examples": [{"name": "wrong", "params": {"n": 2}, "given": {"send": "x"}, "expect": "y"}],
    "steps": [
        *DOUBLE["steps"],  # type: ignore[misc]
        {"name": "send", "use": "send", "args": {"text": "it is {{ steps.twice }}"}, "needs_approval": True},
    ],
}


class Procedures(Cli):
    def __init__(self, folder: Path) -> None:
        super().__init__(app, str(folder / "memory.db"))
        self._folder = folder

    def store(self, definition: Any) -> str:
        file = self._folder / "procedure.json"
        file.write_text(json.dumps(definition))
        return self("store", str(file))


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Procedures:
    (tmp_path / "their_tools.py").write_text(TOOLS)
    monkeypatch.chdir(tmp_path)
    return Procedures(tmp_path)


REGISTRY = ("--tools", "their_tools:registry")


def test_a_procedure_is_stored_listed_shown_and_run(cli: Procedures) -> None:
    assert "Nothing here." in cli("list")
    assert cli.store(DOUBLE) == "double version 1\n"
    assert "Double a number" in cli("list", "--category", "sums")
    assert "Nothing here." in cli("list", "--category", "other")
    assert "double" in cli("search", "double a number")
    shown = cli("run", "double", "--param", "n=21", *REGISTRY)
    assert "succeeded" in shown
    assert "42" in shown
    assert '"purpose": "Double a number and tell it."' in cli("show", "double")
    assert cli.json("show", "double")["statistics"]["versions"][0]["successes"] == 1
    assert "passed  two" in cli("check", "double", *REGISTRY)


def test_a_failed_run_is_an_exit_code(cli: Procedures) -> None:
    cli.store(DOUBLE)
    assert "ValueError: too much" in cli("run", "double", "-p", "n=101", *REGISTRY, code=1)
    assert cli.json("run", "double", "-p", "n=101", *REGISTRY, code=1)["status"] == "failed"
    assert "must be integer" in cli("run", "double", "-p", "n=x", *REGISTRY, code=1)
    assert "no procedure nothing" in cli("run", "nothing", *REGISTRY, code=3)
    assert "not registered here" in cli("run", "double", "-p", "n=1", code=3)
    for bad in ("nowhere:registry", "their_tools:nothing", "json:dumps", ":"):
        cli("run", "double", "-p", "n=1", "--tools", bad, code=1)


def test_versions_differ_and_are_rolled_back(cli: Procedures, tmp_path: Path) -> None:
    cli.store(DOUBLE)
    assert cli.store(SEND) == "double version 2\n"
    assert "+ steps.send" in cli("diff", "double")
    assert "no difference" in cli("diff", "double", "1", "1")
    assert "version 1 is in use" in cli("rollback", "double")
    assert "version 2 is in use" in cli("rollback", "double", "2")
    assert "version 1 is in use" in cli("rollback", "double", "--index", "1")
    assert cli.json("show", "double", "--version", "2")["version"]["number"] == 2
    assert "FAILED" not in cli("check", "double", *REGISTRY)
    cli("rollback", "double", "2")
    assert "FAILED  wrong" in cli("check", "double", *REGISTRY, code=1)
    (tmp_path / "bad.json").write_text("[]")
    cli("store", str(tmp_path / "bad.json"), code=1)
    (tmp_path / "bad.json").write_text("{")
    assert "is not JSON" in cli("store", str(tmp_path / "bad.json"), code=1)


def test_a_run_waits_is_approved_refused_and_cancelled(cli: Procedures) -> None:
    cli.store(SEND)
    run = cli.json("run", "double", "-p", "n=1", *REGISTRY)
    assert run["status"] == "waiting"
    assert 'send {"text": "it is 2"}' in cli("trace", run["id"][-8:])
    assert "waiting" in cli("runs", "double", "--unfinished")
    assert cli.json("approve", run["id"])["status"] == "interrupted"
    assert cli.json("resume", run["id"], *REGISTRY)["status"] == "succeeded"
    other = cli.json("run", "double", "-p", "n=1", *REGISTRY)
    assert "NotApproved" in cli("approve", other["id"], "--refuse", *REGISTRY, code=1)
    third = cli.json("run", "double", "-p", "n=1", *REGISTRY)
    assert "not finished" in cli("delete", "double", code=1)
    assert cli.json("cancel", third["id"])["status"] == "cancelled"
    assert len(cli.json("runs")["items"]) == 3
    assert "is deleted" in cli("delete", "double")


def test_decisions_are_told_and_undone(cli: Procedures) -> None:
    import asyncio

    from longmind import Longmind, Settings
    from longmind.systems.procedural import ProceduralMemory, ToolRegistry
    from longmind.systems.scoped_store import ScopedStore

    cli.store(DOUBLE)
    assert "Nothing was decided yet." in cli("decisions", "double")

    async def propose() -> None:
        async with Longmind.open(cli._env["LONGMIND_URL"], embedder="none", settings=Settings.load()) as longmind:
            mem = longmind.agent("assistant")
            scoped = ScopedStore(longmind.store, mem.scope, longmind.clock, longmind.embedding.embed, mem.recall)
            await ProceduralMemory(scoped, ToolRegistry()).propose("double", {"purpose": "Better."}, why="a thought")

    asyncio.run(propose())
    assert "trial: a thought" in cli("decisions", "double")
    assert "On trial: version 2" in cli("show", "double")
    (decision,) = cli.json("decisions", "double")["decisions"]
    assert "Undone: trial" in cli("undo", decision["id"][-8:])
    assert "(undone)" in cli("decisions", "double")
