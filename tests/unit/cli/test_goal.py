"""``longmind goal create|list|show``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from longmind.cli import goal


class Goals:
    """Runs ``longmind goal`` on a store of the test's own and expects an exit code."""

    def __init__(self, url: str) -> None:
        self._runner = CliRunner(env={"LONGMIND_URL": url, "LONGMIND_EMBEDDER": "none", "COLUMNS": "120"})

    def __call__(self, *words: str, code: int = 0) -> Result:
        result = self._runner.invoke(goal.app, words, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result

    def json(self, *words: str) -> Any:
        return json.loads(self(*words, "--json").stdout)


@pytest.fixture
def goals(tmp_path: Path) -> Goals:
    return Goals(str(tmp_path / "memory.db"))


def test_a_goal_is_created_with_its_steps(goals: Goals) -> None:
    told = goals.json(
        "create", "Travel to Lisbon", "-c", "Booked", "-c", "Packed", "--step", "Book", "--step", "Pack", "-p", "0.9",
        "--deadline", "2099-05-31", "--tag", "trip", "--set", "nights=3",
    )  # fmt: skip
    made = told["goal"]
    assert (made["priority"], made["tags"], made["attributes"]) == (0.9, ["trip"], {"nights": 3})
    assert [step["after"] for step in told["plan"]["steps"]] == [[], ["s1"]]
    shown = goals("show", made["id"][-8:]).stdout
    assert shown.startswith(made["id"])
    assert "[ ] Travel to Lisbon (active, 0%, due 2099-05-31 00:00)" in shown
    assert "[ ] s2: Pack (after s1)" in shown


def test_a_goal_without_a_plan_and_one_that_makes_its_own(goals: Goals) -> None:
    bare = goals.json("create", "Learn to sing", "--proposed")
    assert (bare["plan"], bare["goal"]["status"]) == (None, "proposed")
    made = goals.json("create", "Buy a piano", "--plan", "criteria", "--parent", bare["goal"]["id"][-8:])
    assert made["plan"]["origin"] == "criteria"
    assert made["goal"]["parent"] == bare["goal"]["id"]
    assert "Buy a piano" in goals("show", bare["goal"]["id"]).stdout


def test_goals_are_listed(goals: Goals) -> None:
    top = goals.json("create", "Open a shop")["goal"]["id"]
    assert goals("list", "--status", "achieved").stdout == "Nothing here.\n"
    for n in range(3):
        goals("create", f"Part {n}\nof it", "--parent", top)
    lines = goals("list").stdout.splitlines()
    assert lines[0].split() == ["Id", "Status", "Done", "Prio.", "Due", "Goal"]
    assert [line.split("  ")[-1].strip() for line in lines[1:]] == [
        "Part 2 of it",
        "Part 1 of it",
        "Part 0 of it",
        "Open a shop",
    ]
    assert len(goals.json("list", "--parent", top[-8:])["items"]) == 3
    assert goals.json("list", "--ended")["items"] == []
    assert goals.json("list", "--status", "blocked")["items"] == []
    first = goals("list", "--limit", "3").stdout
    assert "Open a shop" in goals("list", *first.split("More: ")[1].split()).stdout


def test_a_goal_is_shown_whole(goals: Goals) -> None:
    made = goals.json("create", "Bake", "-c", "A cake", "--plan", "auto")["goal"]["id"]
    told = goals.json("show", made, "--history")
    assert (told["progress"]["steps"], told["next"], len(told["plans"])) == (1, ["s1"], 1)
    assert "plan 1, " in goals("show", made, "--history").stdout.splitlines()[-1]
    assert goals("show", made, "--format", "mermaid").stdout.startswith("flowchart TD")


def test_a_deadline_that_has_passed_is_noted(goals: Goals) -> None:
    told = goals("create", "File the taxes", "--deadline", "2001-01-01")
    assert "The deadline has passed already." in told.stderr
    assert "due 2001-01-01" in told.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("create", " "), 1, "description"),
        (("create", "x", "--step", "a", "--plan", "auto"), 2, "not both"),
        (("create", "x", "--priority", "2"), 2, "priority"),
        (("create", "x", "--plan", "past"), 1, "No achieved goal"),
        (("create", "x", "--parent", "00000000-0000-0000-0000-000000000007"), 3, "no goal"),
        (("show", "00000000-0000-0000-0000-000000000007"), 3, "no goal"),
        (("show", "short"), 2, "too short"),
        (("list", "--status", "happy"), 2, "happy"),
    ],
)
def test_what_cannot_be_done_is_said(goals: Goals, words: tuple[str, ...], code: int, said: str) -> None:
    kept = goals.json("create", "Open a shop")["goal"]["id"]
    result = goals(*words, code=code)
    assert said in " ".join(result.stderr.split())
    assert [goal["id"] for goal in goals.json("list")["items"]] == [kept]
