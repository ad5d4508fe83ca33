"""``list``, ``show``, ``stats``, ``agents``, ``consolidate`` and ``version``."""

import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import longmind


def test_list_is_a_line_for_each_memory(cli: Any) -> None:
    cli.remember("A long text " * 30, "--name", "Alice")
    cli.remember("Two\nlines.")
    lines = cli("list").stdout.splitlines()
    assert lines[0].split() == ["Id", "Date", "Kind", "Who", "Imp.", "Memory"]
    assert len(lines) == 3
    assert all(len(line) <= 100 for line in lines)
    assert "Two lines." in lines[1]
    assert lines[2].rstrip().endswith("…")


def test_list_goes_on_where_it_stopped(cli: Any) -> None:
    ids = [cli.remember(f"Note {n}.") for n in range(5)]
    seen, cursor = [], []
    for _ in range(3):
        page = cli.json("list", "--limit", "2", "--ascending", *cursor)
        seen += [m["id"] for m in page["items"]]
        cursor = ["--cursor", page["cursor"] or ""]
    assert seen == ids
    assert page["cursor"] is None
    told = cli("list", "--limit", "2").stdout
    again = cli("list", *told.split("More: ")[1].split()).stdout
    assert "Note 2." in again
    assert "Note 4." not in again


def test_list_orders_and_filters(cli: Any) -> None:
    cli.remember("Early.", "--at", "2020-01-01", "-i", "0.9")
    cli.remember("Late.", "--at", "2026-01-01", "-i", "0.1", "--tag", "t")
    contents = [m["content"] for m in cli.json("list", "--order", "importance")["items"]]
    assert contents == ["Early.", "Late."]
    contents = [m["content"] for m in cli.json("list", "--order", "occurred")["items"]]
    assert contents == ["Late.", "Early."]
    assert len(cli.json("list", "--tag", "t")["items"]) == 1
    assert cli("list", "--kind", "fact").stdout == "Nothing here.\n"


def test_a_bad_cursor_is_an_error_of_ours(cli: Any) -> None:
    cli.remember("one")
    assert cli.error("list", "--cursor", "nonsense")["error"] == "invalid_input"


def test_show_tells_all_of_a_memory(cli: Any) -> None:
    id = cli.remember("I moved.", "--name", "Alice", "--tag", "home", "--meta", "floor=3", "-s", "s1", "-u", "alice")
    told = cli("show", id[-8:], "-u", "alice").stdout
    for part in ("I moved.", id, "Alice (user)", "home", "floor=3", "s1", "alice", "active", "never"):
        assert part in told


def test_show_as_it_was(cli: Any) -> None:
    id = cli.remember("I moved.")
    then = datetime.now(UTC).isoformat()
    cli("forget", id)
    assert cli.json("show", id[-8:], "--as-of", then)["memory"]["content"] == "I moved."
    assert cli.error("show", id, "--as-of", "2020-01-01", code=3)["error"] == "not_found"


def test_stats_and_agents_count(cli: Any) -> None:
    cli.remember("One.", "--agent", "a")
    cli.remember("Two.", "--agent", "b")
    cli.remember("Three.", "--agent", "b")
    cli.remember("Elsewhere.", "--agent", "c", "--tenant", "t")
    assert cli.json("stats", "--agent", "b")["by_kind"] == {"message": 2}
    assert "2 message" in cli("stats", "--agent", "b").stdout
    assert {a["agent"]: a["memories"] for a in cli.json("agents")["agents"]} == {"a": 1, "b": 2}
    assert [a["agent"] for a in cli.json("agents", "--tenant", "t")["agents"]] == ["c"]
    assert "Memories" in cli("agents").stdout
    assert cli("agents", "--tenant", "nobody").stdout == "Nobody yet.\n"


def test_consolidate_merges_and_can_be_undone(cli: Any) -> None:
    first = cli.remember("Coffee without sugar, please.")
    cli.remember("Please, without sugar: coffee!")
    told = cli("consolidate", "--dry-run").stdout
    assert "would change 1" in told
    assert "undo" not in told
    assert cli.json("show", first)["memory"]["state"] == "active"
    told = cli("consolidate").stdout
    assert "changed 1" in told
    assert cli.json("show", first)["memory"]["state"] == "archived"
    assert "supersedes" in cli("show", first).stdout
    assert "archived" in cli("list", "--state", "any").stdout
    assert [m["id"] for m in cli.json("list", "--state", "archived")["items"]] == [first]
    cli(*told.split("longmind ")[1].split())
    assert cli.json("show", first)["memory"]["state"] == "active"
    assert cli.json("consolidate", "--dry-run")["proposed"][0]["memory_id"] == first


def test_consolidate_with_nothing_to_do(cli: Any) -> None:
    cli.remember("One.")
    assert cli("consolidate").stdout == "Read 1 memory; nothing to change.\n"


@pytest.mark.parametrize("words", [["version"], ["--version"]])
def test_version(cli: Any, words: list[str]) -> None:
    assert cli(*words).stdout == f"Longmind {longmind.__version__} on Python {platform.python_version()}\n"
    assert cli.json("version") == {"longmind": longmind.__version__, "python": platform.python_version()}


def test_consolidate_tells_what_has_no_text_by_its_kind(cli: Any) -> None:
    cli("remember", "I moved to Lisbon in May.", "--session", "s")
    cli("remember", "How do you like it?", "--role", "assistant", "--session", "s")
    assert "(page)" in cli("consolidate").stdout


def test_looking_at_the_jobs_of_a_store_that_is_not_there_makes_nothing(cli: Any, tmp_path: Path) -> None:
    told = cli.error("jobs", "list", "--url", str(tmp_path / "typo.db"), code=3)
    assert "typo.db" in told["message"]
    assert list(tmp_path.glob("typo*")) == []


@pytest.mark.parametrize(
    "words",
    [
        ("list",), ("recall", "x"), ("stats",), ("context", "x"), ("agents",), ("export", "-"), ("history", "12345678"),
        ("show", "12345678"), ("forget", "--all", "--yes"), ("consolidate",), ("facts", "list"), ("goal", "list"),
        ("reembed", "none"), ("working", "list"), ("procedures", "list"), ("persona", "show"), ("dialogue", "show"),
    ],
)  # fmt: skip
def test_looking_never_creates_a_store(cli: Any, words: tuple[str, ...]) -> None:
    problem = cli.error(*words, code=3)
    assert problem["message"].startswith("There is no store at")
    assert not Path(cli.url).exists()


def test_an_agent_that_is_not_there_is_named_with_those_that_are(cli: Any) -> None:
    cli.remember("one", "--agent", "ann")
    cli.remember("two", "--agent", "ben")
    for words in (("list",), ("recall", "x"), ("stats",), ("export", "-")):
        problem = cli.error(*words, "--agent", "bne", code=3)
        assert problem["message"] == "There is no agent bne here."
        assert problem["hint"] == "There are: ann, ben."


def test_an_agent_that_forgot_everything_is_still_there(cli: Any) -> None:
    cli.remember("one")
    operation = cli.json("forget", "--all", "--yes")["operation"]
    assert cli("list").stdout == "Nothing here.\n"
    cli("undo", operation)


def test_update_changes_a_memory(cli: Any) -> None:
    id = cli.remember("I live in Porto.", "--meta", "a=1", "--meta", "b=2")
    told = cli.json("update", id[-8:], "I live in Lisbon.", "--tag", "home", "--meta", "a=null", "--reason", "moved")
    memory = told["memory"]
    assert (memory["content"], memory["version"], memory["tags"]) == ("I live in Lisbon.", 2, ["home"])
    assert memory["metadata"] == {"b": 2}
    assert "moved" in cli("history", id).stdout
    assert "Updated" in cli("update", id, "--importance", "0.9").stdout
    cli("update", id, code=2)
    assert cli.error("update", id, "x", "--version", "1")["error"] == "version_conflict"


def test_users_and_conversations(cli: Any) -> None:
    cli.remember("one", "-u", "ann", "-s", "s1")
    cli.remember("two", "-u", "ben", "-s", "s1")
    assert cli("users").stdout == "ann\nben\n"
    assert [(c["id"], c["user"]) for c in cli.json("conversations", "--user", "ann")["conversations"]] == [
        ("s1", "ann")
    ]
    assert "s1" in cli("conversations").stdout


def test_metadata_is_filtered_by_range(cli: Any) -> None:
    for price in ("4", "5", "9.5"):
        cli.remember(f"Coffee for {price}", "--meta", f"price={price}")
    found = cli.json("list", "--meta", "price>=5", "--meta", "price<9")["items"]
    assert [memory["metadata"]["price"] for memory in found] == [5]
