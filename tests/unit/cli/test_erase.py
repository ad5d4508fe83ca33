"""``longmind erase-user``, ``erase-agent``, ``erase-tenant``, ``verify-erasure``, and ``doctor --scrub``."""

from pathlib import Path
from typing import Any


def test_a_user_is_erased_and_the_receipt_verified(cli: Any, tmp_path: Path) -> None:
    cli.remember("I live in Xanadu.", "--user", "alice")
    cli.remember("I live in Lisbon.", "--user", "bob")
    cli.remember("The office opens at nine.")
    file = tmp_path / "receipt.json"
    cli("erase-user", "alice", input="n\n", code=1)
    assert cli.json("stats", "--all-users")["memories"] == 3
    shown = cli("erase-user", "alice", "--yes", "--receipt", str(file)).stdout
    assert "Erased 1 memory of 1 agent." in shown
    assert "alice" not in file.read_text()
    left = cli.json("list", "--all-users")["items"]
    assert sorted(m["content"] for m in left) == ["I live in Lisbon.", "The office opens at nine."]
    assert "Nothing of the 1 memory is in the store." in cli("verify-erasure", str(file)).stdout
    assert cli.json("verify-erasure", str(file))["ok"] is True
    assert "There was nothing to erase." in cli("erase-user", "alice", "--yes").stdout


def test_json_needs_a_yes_and_gives_the_receipt(cli: Any) -> None:
    cli.remember("I live in Xanadu.", "--user", "alice")
    assert "--yes" in cli.error("erase-user", "alice", code=2)["message"]
    assert cli.json("erase-agent", "assistant", "--yes")["agents"][0]["kinds"] == {"message": 1}
    assert cli.json("erase-tenant", "--yes")["agents"] == []


def test_a_receipt_that_is_none_and_a_store_that_is_not_there(cli: Any, tmp_path: Path) -> None:
    cli.remember("I live in Xanadu.")
    file = tmp_path / "receipt.json"
    file.write_text("{}")
    assert cli.error("verify-erasure", str(file))["error"] == "invalid_input"
    missing = tmp_path / "missing.db"
    cli.error("erase-user", "alice", "--yes", "--url", str(missing), code=3)
    assert not missing.exists()


def test_forgetting_all_of_a_user_leaves_what_is_nobodys(cli: Any) -> None:
    cli.remember("I live in Xanadu.", "--user", "alice")
    cli.remember("The office opens at nine.")
    cli("forget", "--all", "--user", "alice", "--yes")
    assert [m["content"] for m in cli.json("list")["items"]] == ["The office opens at nine."]


def test_scrub_says_what_it_did_and_what_is_out_of_reach(cli: Any) -> None:
    cli.remember("I live in Xanadu.")
    shown = cli("doctor", "--scrub").stdout
    assert "VACUUM" in shown
    assert "out of reach" in shown
    assert "All is well." in shown
    diagnosis = cli.json("doctor", "--scrub")
    assert len(diagnosis["scrubbed"]) == 2
    assert any("Backups" in line for line in diagnosis["not_scrubbed"])
