"""``longmind goal run``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.models.chat.conftest import KEY, Server
from typer.testing import CliRunner, Result

from longmind.cli import goal

TOOLS = """
from longmind.systems.procedural import ToolRegistry

tools = ToolRegistry()


@tools.tool
def dig(depth: int = 1) -> str:
    "Dig a hole."
    return f"{depth} m deep"


@tools.tool
def water() -> str:
    "Water the tree."
    raise RuntimeError("The well is dry.")
"""


class Goals:
    """Runs ``longmind goal`` on a store of the test's own, in a folder with some functions."""

    def __init__(self, url: str) -> None:
        env = {"LONGMIND_URL": url, "LONGMIND_EMBEDDER": "none", "LONGMIND_MODEL": None, "COLUMNS": "120"}
        self._runner = CliRunner(env=env)

    def __call__(self, *words: str, code: int = 0, **env: str) -> Result:
        result = self._runner.invoke(goal.app, words, env=env, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result

    def json(self, *words: str, code: int = 0, **env: str) -> Any:
        return json.loads(self(*words, "--json", code=code, **env).stdout)

    def create(self, *words: str) -> str:
        return str(self.json("create", *words)["goal"]["id"])


@pytest.fixture
def goals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Goals:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "garden_tools.py").write_text(TOOLS)
    return Goals(str(tmp_path / "memory.db"))


def test_what_nobody_can_do_is_named_and_people_go_on_with_it(goals: Goals) -> None:
    id = goals.create("Plant a tree", "--step", "Choose a place", "--step", "Dig")
    told = goals("run", id[-8:], code=1).stdout
    assert "blocked: 0 steps done" in told
    assert "s1 needs somebody to do it: Choose a place" in told
    assert "[ ] s2: Dig" in told
    assert goals.json("list")["items"][0]["status"] == "blocked"
    again = goals("run", id, "--done", "s1=By the gate", code=1).stdout
    assert "s2 needs somebody to do it: Dig" in again
    assert "result: By the gate" in again
    told = goals("run", id, "--done", "s2").stdout
    assert "achieved:" in told
    assert goals.json("run", id)["ending"] == "achieved"


def test_functions_do_steps_with_a_line_for_each(goals: Goals) -> None:
    from longmind.sync import Longmind

    url = goals._runner.env["LONGMIND_URL"]
    assert url is not None
    with Longmind.open(url, embedder="none") as longmind:
        steps = [
            {"id": "hole", "description": "Dig a hole", "tool": "dig", "args": {"depth": 2}},
            {"id": "wet", "description": "Water it", "tool": "water", "after": ["hole"]},
        ]
        made, _ = longmind.agent("assistant", user="ann").goals.create_goal_with_plan("Plant a tree", steps=steps)
    missing = goals("run", made.id, "--all-users", code=1).stdout
    assert "hole needs the tool dig, which is not here." in missing
    told = goals("run", made.id, "--all-users", "--tools", "garden_tools", code=1)
    lines = told.stdout.splitlines()
    assert lines[:2] == ["[>] hole: Dig a hole", "[x] hole: 2 m deep"]
    assert "[!] wet: RuntimeError: The well is dry." in lines
    assert any(line.startswith("[~] wet: retry: ") for line in lines)
    assert any(line.startswith("blocked: 1 step done, ") for line in lines)
    data = goals.json("run", made.id, "--all-users", "--tools", "garden_tools:tools", code=1)
    assert (data["ending"], data["goal"]["user"]) == ("blocked", "ann")
    assert data["why"] == data["goal"]["why"]


def test_a_goal_that_a_person_was_asked_about_goes_on_when_told(goals: Goals) -> None:
    id = goals.create("Plant a tree", "--plan", "criteria")
    goals("run", id, code=1)
    assert goals.json("run", id, "--unblock", code=1)["ending"] == "blocked"
    assert goals.json("run", id, "--unblock", "--done", "s1")["ending"] == "achieved"


def test_a_model_decides(goals: Goals, server: Server) -> None:
    id = goals.create("Plant a tree", "--step", "Dig a hole")
    server.plan(
        Server.Say("", calls=(("dig", '{"depth": 3}'),), finish="tool_calls"),
        '{"objects": false}',
        "The hole is 3 m deep.",
        *['{"objects": false}', '{"lesson": "Dig.", "quote": "dig"}'] * 4,
    )
    env = {"LONGMIND_MODEL": f"{server.address}/v1#alpha", "LONGMIND_MODEL_KEY": KEY}
    told = goals.json("run", id, "--tools", "garden_tools", **env)
    assert told["ending"] == "achieved"
    assert told["outcomes"][0]["how"] == "agent"
    assert told["usage"]["requests"] >= 2


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("run", "00000000-0000-0000-0000-000000000007"), 3, "no goal"),
        (("run", "short"), 2, "too short"),
        (("run", "GOAL", "--tools", "no_such_module"), 1, "no_such_module"),
        (("run", "GOAL", "--done", "s9"), 3, "no step s9"),
        (("run", "GOAL", "--done", "=x"), 1, "names no step"),
        (("run", "GOAL", "--steps", "0"), 2, "steps"),
    ],
)
def test_what_cannot_be_run_is_said(goals: Goals, words: tuple[str, ...], code: int, said: str) -> None:
    id = goals.create("Plant a tree", "--step", "Dig")
    result = goals(*[id if word == "GOAL" else word for word in words], code=code)
    assert said in " ".join(result.stderr.split())
    (there,) = goals.json("list")["items"]
    assert there["status"] == "active"
