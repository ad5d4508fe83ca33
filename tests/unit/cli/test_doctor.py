"""``longmind doctor`` on stores that are well, and on files that are not."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from longmind.cli.screen import without_password


def test_a_sound_store(cli: Any) -> None:
    cli.remember("One.", "--agent", "a")
    cli.remember("Two.", "--agent", "b", "--tenant", "t")
    told = cli.json("doctor")
    assert told["ok"] is True
    assert told["problems"] == []
    assert told["backend"] == "sqlite"
    assert told["schema"].startswith("0")
    assert told["embedder"].startswith("static/")
    assert {(a["tenant"], a["agent"], a["memories"]) for a in told["agents"]} == {("default", "a", 1), ("t", "b", 1)}
    assert cli("doctor").stdout.endswith("All is well.\n")


def test_looking_does_not_make_a_store(cli: Any) -> None:
    assert cli.error("doctor", code=3)["error"] == "not_found"
    assert not os.path.exists(cli.url)


def test_memories_without_vectors_are_noted(cli: Any) -> None:
    cli.remember("One.")
    cli("remember", "Two.", LONGMIND_EMBEDDER="none")
    assert cli.json("doctor")["notes"] == ["1 memory without a vector: found by words only."]
    assert "note: 1 memory" in cli("doctor").stdout


def test_a_store_in_memory(cli: Any) -> None:
    told = cli.json("doctor", "--url", "memory:")
    assert (told["ok"], told["backend"], told["schema"]) == (True, "inmem", None)


def test_a_database_of_another_program(cli: Any, tmp_path: Path) -> None:
    file = tmp_path / "foreign.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE birds (name)")
        connection.commit()
    before = file.read_bytes()
    result = cli("doctor", "--url", str(file), code=1)
    assert "another program" in " ".join(result.stdout.split())
    assert "Nothing was changed" in " ".join(result.stdout.split())
    assert file.read_bytes() == before
    assert cli.error("stats", "--url", str(file))["error"] == "foreign_store"


def test_a_file_that_is_no_database(cli: Any, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("These are my notes. " * 500)
    before = file.read_bytes()
    cli("doctor", "--url", str(file), code=1)
    assert file.read_bytes() == before


def test_a_store_of_a_newer_version(cli: Any) -> None:
    cli.remember("One.")
    with closing(sqlite3.connect(cli.url)) as connection:
        connection.execute("PRAGMA user_version = 999")
        connection.commit()
    result = cli("doctor", code=1)
    assert "at least as new" in " ".join(result.stdout.split())
    assert cli.error("stats")["error"] == "schema_too_new"


@pytest.fixture
def damaged(cli: Any) -> Any:
    """A store with noise over some of its pages; the schema and the first pages are whole."""
    for part in range(10):
        cli("remember", "-", "--session", f"s{part}", input=f"Note {part}: " + f"word{part} " * 500)
    with closing(sqlite3.connect(cli.url)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    with open(cli.url, "r+b") as file:
        for page in range(pages // 2, pages - 1, 3):
            file.seek(page * size)
            file.write(b"\xa5" * size)
    return cli


def test_a_damaged_store_is_diagnosed_and_what_can_be_read_is_saved(damaged: Any, tmp_path: Path) -> None:
    before = Path(damaged.url).read_bytes()
    told = damaged("doctor", "--json", code=1)
    assert '"ok": false' in told.stdout
    assert "--salvage" in " ".join(damaged("doctor", code=1).stdout.split())
    out = tmp_path / "saved.jsonl"
    saved = damaged.json("doctor", "--salvage", str(out))
    assert 0 < saved["memories"] < 10
    assert saved["memories"] + len(saved["lost"]) == 10
    assert Path(damaged.url).read_bytes() == before
    read = damaged.json("import", str(out), "--url", str(tmp_path / "new.db"))
    assert read["memories"] == saved["memories"]
    assert damaged.json("doctor", "--url", str(tmp_path / "new.db"))["ok"] is True


def test_salvage_of_a_sound_store_takes_everything(cli: Any, tmp_path: Path) -> None:
    ids = {cli.remember(f"Note {n}.") for n in range(5)}
    out = tmp_path / "saved.jsonl"
    assert "5 memories read" in cli("doctor", "--salvage", str(out), COLUMNS="500").stdout
    assert cli.error("doctor", "--salvage", str(out))["error"] == "conflict"
    cli("doctor", "--salvage", str(out), "--force")
    cli("import", str(out), "--url", str(tmp_path / "new.db"))
    assert {m["id"] for m in cli.json("list", "--url", str(tmp_path / "new.db"))["items"]} == ids


def test_only_sqlite_can_be_salvaged(cli: Any, tmp_path: Path) -> None:
    told = cli.error("doctor", "--url", "memory:", "--salvage", str(tmp_path / "x.jsonl"), code=2)
    assert told["error"] == "usage"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:secret@host:5432/db", "postgresql://ann:***@host:5432/db"),
        ("postgresql://host/db?user=ann&password=secret", "postgresql://host/db?user=ann"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("some/file.db", "some/file.db"),
    ],
)
def test_a_password_is_not_shown(url: str, shown: str) -> None:
    assert without_password(url) == shown


def test_a_server_that_is_not_there(cli: Any) -> None:
    told = cli("doctor", "--url", "postgresql://ann:secret@127.0.0.1:1/db", "--json", code=1)
    assert '"ok": false' in told.stdout
    assert "secret" not in told.output


def test_what_has_no_text_needs_no_vector(cli: Any) -> None:
    cli("remember", "I moved to Lisbon in May.", "--session", "s")
    cli("remember", "How do you like it?", "--role", "assistant", "--session", "s")
    cli("consolidate")
    held = cli.json("stats")
    assert held["memories"] > held["vectors"]
    assert cli.json("doctor")["notes"] == []
