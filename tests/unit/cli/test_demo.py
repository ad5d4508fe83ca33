"""The guided tour: it works anywhere, shows what really happened, and leaves nothing behind."""

import os
from typing import Any

import pytest

from longmind.cli.demo_story import SECRET

STOPS = [
    "Remember",
    "Recall, with reasons",
    "Context for a prompt",
    "Things change",
    "Consolidate",
    "Want, and act",
    "Forget, and undo",
]


@pytest.mark.parametrize("columns", ["40", "80", "200"])
def test_every_stop_is_shown_within_the_width(cli: Any, columns: str) -> None:
    told = cli("demo", COLUMNS=columns).stdout
    assert [told.index(f"{n}. {title}") for n, title in enumerate(STOPS, 1)] == sorted(
        told.index(f"{n}. {title}") for n, title in enumerate(STOPS, 1)
    )
    assert max(map(len, told.splitlines())) <= int(columns)
    assert "Where to go next" in told
    assert "\x1b" not in told


def test_it_uses_a_store_of_its_own(cli: Any) -> None:
    cli("demo")
    assert not os.path.exists(cli.url)


def test_what_it_shows_is_what_the_calls_returned(cli: Any) -> None:
    told = cli.json("demo")
    assert [step["title"] for step in told["steps"]] == STOPS
    calls = {step["title"]: step["calls"] for step in told["steps"]}
    assert [len(call["result"]) for call in calls["Remember"]] == [6, 3, 3]
    city, food, way = (call["result"][0]["memory"]["content"] for call in calls["Recall, with reasons"])
    assert "Lisbon" in city
    assert "peanuts" in food
    assert "night bus" in way
    report = calls["Consolidate"][2]["result"]
    actions = [change["action"] for change in report["proposed"]]
    assert actions.count("archive") == 1
    assert "add" in actions
    found = [SECRET in str(call["result"]) for call in calls["Forget, and undo"] if "recall" in call["code"]]
    assert found == [True, False, True]
    assert SECRET not in str(calls["Forget, and undo"][-1]["result"])


def test_on_a_given_store_it_stays_and_can_be_taken_again(cli: Any) -> None:
    first = cli.json("demo", "--url", cli.url)
    told = cli("demo", "--url", cli.url, COLUMNS="300").stdout
    assert first["agent"] == "demo"
    agents = {a["agent"]: a["memories"] for a in cli.json("agents")["agents"]}
    assert set(agents) == {"demo", "demo-2"}
    assert agents["demo"] == agents["demo-2"]
    assert "--agent demo-2" in told


def test_stepping_waits_only_for_a_person(cli: Any) -> None:
    assert "Enter to go on" not in cli("demo", "--step").stdout


def test_an_example_of_three_months_is_loaded_under_a_name_that_is_free(cli: Any) -> None:
    cli("remember", "I am here already.", "--agent", "demo")
    loaded = cli.json("demo", "--load")
    assert loaded["agent"] == "demo-2"
    assert loaded["users"] == ["alice", "bob"]
    assert cli.json("list", "--agent", "demo")["items"][0]["content"] == "I am here already."
    kinds = set(cli.json("stats", "--agent", "demo-2", "--all-users")["by_kind"])
    assert kinds >= {"message", "document", "page", "segment", "episode", "event", "concept", "fact", "rule", "trait"}
    assert kinds >= {"knowledge", "procedure", "run", "decision", "goal", "plan", "revision", "working"}
    moved = cli.json("facts", "history", "Alice", "lives in", "--agent", "demo-2", "--user", "alice")
    assert [fact["object"] for fact in moved] == ["Porto", "Lisbon"]
    assert moved[0]["valid_to"] == moved[1]["valid_from"]
    assert moved[1]["evidence"][0]["span"] is not None
    episodes = cli.json("episodes", "list", "--agent", "demo-2", "--all-users")["items"]
    assert {episode["outcome"] for episode in episodes} == {"succeeded", "failed", "unknown"}
