"""``export``, ``import`` and ``reembed``."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def filled(cli: Any) -> Any:
    cli.remember("Coffee without sugar, please.", "--agent", "a", "--user", "alice")
    cli.remember("Please, without sugar: coffee!", "--agent", "a", "--user", "alice")
    cli("consolidate", "--agent", "a", "--all-users")
    cli.remember("Grüße aus 東京.", "--agent", "b")
    return cli


def test_a_round_trip_keeps_everything(filled: Any, tmp_path: Path) -> None:
    out, other = str(tmp_path / "all.jsonl"), str(tmp_path / "other.db")
    told = filled.json("export", out)
    assert (told["memories"], told["links"]) == (4, 1)
    assert set(told["content_hash"]) == {"default/a", "default/b"}
    read = filled.json("import", out, "--url", other)
    assert read == {"memories": 4, "already_there": 0, "links": 1, "agents": ["default/a", "default/b"]}
    again = filled.json("export", str(tmp_path / "again.jsonl"), "--url", other)
    assert again["content_hash"] == told["content_hash"]
    assert filled.json("import", out, "--url", other)["already_there"] == 4


def test_for_people(filled: Any, tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    told = filled("export", str(out), COLUMNS="500").stdout
    assert told == f"Exported 4 memories and 1 link of 2 agents to {out}.\n"
    told = filled("import", str(out), "--url", str(tmp_path / "other.db")).stdout
    assert told == "Imported 4 memories and 1 link of 2 agents.\n"


def test_one_agent_or_one_user(filled: Any, tmp_path: Path) -> None:
    told = filled.json("export", str(tmp_path / "b.jsonl"), "--agent", "b")
    assert list(told["content_hash"]) == ["default/b"]
    told = filled.json("export", str(tmp_path / "x.jsonl"), "--agent", "a", "--user", "bob")
    assert told["memories"] == 1, "what belongs to no user: how far consolidation came"


@pytest.mark.parametrize("json_option", [[], ["--json"]])
def test_through_a_pipe(filled: Any, tmp_path: Path, json_option: list[str]) -> None:
    result = filled("export", "-", *json_option)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert lines[0]["longmind"] == 1
    assert "Grüße aus 東京." in result.stdout
    assert lines[-1]["end"]["memories"] == 4
    assert "Exported 4 memories" in result.stderr
    told = filled.json("import", "-", "--url", str(tmp_path / "other.db"), input=result.stdout_bytes)
    assert told["memories"] == 4


def test_an_existing_file_is_kept_unless_forced(filled: Any, tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    out.write_text("precious")
    assert filled.error("export", str(out))["error"] == "conflict"
    assert out.read_text() == "precious"
    filled("export", str(out), "--force")
    assert '"end"' in out.read_text(encoding="utf-8")


def test_a_failing_export_leaves_no_half_file(filled: Any, tmp_path: Path) -> None:
    told = filled.error("export", str(tmp_path / "no such folder" / "all.jsonl"))
    assert told["error"] == "os_error"
    assert "no such folder" in told["message"]
    assert not list(tmp_path.rglob("*.part"))
    folder = tmp_path / "folder"
    folder.mkdir()
    filled("export", str(folder), "--force", code=1)
    assert stat.S_ISDIR(folder.stat().st_mode)
    assert not list(tmp_path.rglob("*.part"))


def test_a_file_that_is_cut_short_is_noticed(filled: Any, tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    filled("export", str(out))
    lines = out.read_text(encoding="utf-8").splitlines()
    out.write_text("\n".join(lines[:-2]), encoding="utf-8")
    told = filled.error("import", str(out), "--url", str(tmp_path / "other.db"))
    assert "cut short" in told["message"]
    assert told["hint"]


@pytest.mark.parametrize(
    ("content", "said"), [(b"hello\n", "Line 1 is not JSON"), (b"\xff\xfe\n", "not UTF-8"), (b"{}\n", "first line")]
)
def test_a_foreign_file_is_refused(cli: Any, tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(content)
    told = cli.error("import", str(file))
    assert told["error"] == "invalid_input"
    assert said in told["message"]


def test_a_missing_file(cli: Any, tmp_path: Path) -> None:
    assert cli.error("import", str(tmp_path / "none.jsonl"), code=3)["error"] == "not_found"


def test_reembed_to_the_same_model_does_nothing(filled: Any) -> None:
    assert filled.json("reembed", "static") == {"memories": 0, "embedder": "static/longmind-1-256"}
    assert filled("reembed", "static").stdout.startswith("Nothing to do: ")


def test_reembed_changes_the_model_and_a_notice_tells_the_difference(
    filled: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = filled("stats", "--agent", "a", "--json", LONGMIND_EMBEDDER="minilm-int8")
    assert "keeps it" in json.loads(result.stderr)["notice"]
    assert "note: This store" in filled("stats", "--agent", "a", LONGMIND_EMBEDDER="minilm-int8").stderr
    told = filled.json("reembed", "minilm-int8")
    assert told == {"memories": 3, "embedder": "minilm-int8/all-MiniLM-L6-v2"}
    assert filled("stats", "--agent", "a", LONGMIND_EMBEDDER="minilm-int8").stderr == ""
    assert filled.json("recall", "greetings from Tokyo", "--agent", "b")["hits"]


@pytest.mark.parametrize("model", ["nonsense", "none", "http://host/v1"])
def test_reembed_to_what_there_is_not(filled: Any, model: str) -> None:
    assert filled.error("reembed", model)["error"] == "invalid_setting"


def test_a_store_that_is_not_there_is_not_exported(cli: Any, tmp_path: Path) -> None:
    """A wrong path in a script for backups must not give an empty one, nor take the place of a good one."""
    backup = tmp_path / "backup.jsonl"
    backup.write_text("good", encoding="utf-8")
    told = cli.error("export", str(backup), "--force", "--url", str(tmp_path / "typo.db"), code=3)
    assert "typo.db" in told["message"]
    assert backup.read_text(encoding="utf-8") == "good"
    assert not (tmp_path / "typo.db").exists()


@pytest.mark.parametrize("words", [["stats"], ["forget", "--all", "--yes"], ["export", "-"], ["jobs", "list"]])
def test_an_empty_url_reaches_no_store(cli: Any, tmp_path: Path, words: list[str]) -> None:
    own = tmp_path / "own"
    result = cli(*words, "--url", "", code=1, XDG_DATA_HOME=str(own))
    assert "URL is empty" in result.stderr
    assert not own.exists()


def test_only_the_owner_may_read_an_export(filled: Any, tmp_path: Path) -> None:
    out = tmp_path / "all.jsonl"
    out.touch(0o644)
    filled("export", str(out), "--force")
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
