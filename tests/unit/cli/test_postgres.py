"""The command line on PostgreSQL: the same answers, and a round trip to SQLite and back."""

from pathlib import Path
from typing import Any


def test_the_verbs_and_a_round_trip(cli: Any, fresh_postgres_url: str, tmp_path: Path) -> None:
    there = ["--url", fresh_postgres_url]
    id = cli.json("remember", "I moved to Lisbon in May.", "--name", "Alice", *there)["memories"][0]["id"]
    cli("remember", "Coffee without sugar, please.", *there)
    cli("remember", "Please, without sugar: coffee!", *there)
    assert cli.json("recall", "who moved to Lisbon?", "-k", "1", *there)["hits"][0]["memory"]["id"] == id
    done = [change["action"] for change in cli.json("consolidate", *there)["proposed"]]
    assert sorted(done) == ["add", "archive"]
    told = cli.json("forget", id[-8:], *there)
    assert len(cli.json("undo", told["operation"][-8:], *there)["changes"]) == 1
    assert cli("show", id[-8:], *there).stdout

    out = str(tmp_path / "all.jsonl")
    exported = cli.json("export", out, *there)
    cli("import", out)
    assert cli.json("export", str(tmp_path / "again.jsonl"))["content_hash"] == exported["content_hash"]


def test_doctor(cli: Any, fresh_postgres_url: str) -> None:
    cli("remember", "One.", "--url", fresh_postgres_url)
    told = cli.json("doctor", "--url", fresh_postgres_url)
    assert (told["ok"], told["backend"]) == (True, "postgres")
    assert told["schema"].startswith("0")
    assert [agent["memories"] for agent in told["agents"]] == [1]
