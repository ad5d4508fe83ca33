"""``longmind keys`` and ``longmind audit``."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import apsw
import pytest
from tests.unit.cli.conftest import Cli

from longmind.clock import SystemClock
from longmind.config import Settings
from longmind.security import AuditEvent
from longmind.store.access import access_store

_CLOCK = SystemClock()


def note(cli: Cli, count: int) -> None:
    """Write accesses as a server does."""

    async def write() -> None:
        access = access_store(cli.url, Settings.load({}))
        event = {"operation": "recall.recall", "http": "POST", "status": 200, "tenant": "default", "agent": "a"}
        await access.append(
            [AuditEvent(at=_CLOCK.now(), request_id=f"r{n}", **event) for n in range(count)]  # type: ignore[arg-type]
        )
        await access.close()

    asyncio.run(write())


def server_file(cli: Cli) -> str:
    return str(Path(cli.url).with_name("memory.server.db"))


def test_keys_are_created_listed_and_revoked(cli: Cli) -> None:
    created = cli.json("keys", "create", "laptop", "-p", "read", "-a", "assistant", "--days", "30")
    assert created["key"].startswith(f"lm_{created['id']}_")
    assert (created["permissions"], created["agents"]) == (["read"], ["assistant"])
    plain = cli("keys", "create", "phone").stdout
    assert plain.startswith("lm_")
    assert "not shown again" in plain
    listed = cli.json("keys", "list")["keys"]
    assert [key["name"] for key in listed] == ["phone", "laptop"]
    assert not any("key" in key for key in listed)
    assert "laptop" in cli("keys", "list").stdout
    assert cli.json("keys", "list", "--tenant", "other")["keys"] == []
    assert cli.json("keys", "revoke", created["id"])["revoked_at"]
    assert "revoked" in cli("keys", "list").stdout
    assert cli.error("keys", "revoke", "none", code=3)["error"] == "not_found"
    assert cli.error("keys", "revoke", listed[0]["id"], "--tenant", "other", code=3)["error"] == "not_found"
    assert cli("keys", "list", "--tenant", "nobody").stdout == "No keys yet.\n"


def test_the_audit_is_listed(cli: Cli) -> None:
    assert cli("audit", "list").stdout == "Nothing here.\n"
    note(cli, 3)
    assert [line["seq"] for line in cli.json("audit", "list")["items"]] == [3, 2, 1]
    shown = cli("audit", "list", "--limit", "2").stdout
    assert "recall.recall" in shown
    assert "--cursor 2" in shown
    assert cli.json("audit", "list", "--tenant", "other")["items"] == []


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("UPDATE audit SET line = replace(line, 'r4', 'rX') WHERE seq = 5", "changed"),
        ("DELETE FROM audit WHERE seq = 5", "removed"),
        ("DELETE FROM audit WHERE seq = 10", "removed"),
        (
            "UPDATE audit SET seq = -5 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 6;"
            "UPDATE audit SET seq = 6 WHERE seq = -5",
            "reordered",
        ),
    ],
)
def test_verify_finds_what_was_done_to_the_file(cli: Cli, change: str, kind: str) -> None:
    note(cli, 10)
    whole = cli.json("audit", "verify")
    assert (whole["ok"], whole["lines"]) == (True, 10)
    assert "all as they were written" in cli("audit", "verify", "--anchor", whole["head"]).stdout
    connection = apsw.Connection(server_file(cli))
    connection.execute(change)
    connection.close()
    found = json.loads(cli("audit", "verify", "--json", code=1).stdout)
    assert kind in {fault["kind"] for fault in found["faults"]}
    assert kind in cli("audit", "verify", code=1).stdout


def test_a_chain_that_was_cut_together_with_its_head_does_not_pass_the_anchor(cli: Cli) -> None:
    note(cli, 10)
    anchor = cli.json("audit", "verify")["head"]
    connection = apsw.Connection(server_file(cli))
    connection.execute(
        "DELETE FROM audit WHERE seq > 7; UPDATE audit_head SET seq = 7, hash = (SELECT hash FROM audit WHERE seq = 7)"
    )
    connection.close()
    assert cli.json("audit", "verify")["ok"]
    found = json.loads(cli("audit", "verify", "--anchor", anchor, "--json", code=1).stdout)
    assert [fault["kind"] for fault in found["faults"]] == ["removed"]


def test_rotate_moves_old_lines_and_the_whole_can_still_be_verified(cli: Cli, tmp_path: Path) -> None:
    note(cli, 10)
    file = str(tmp_path / "old.jsonl")
    assert cli.error("audit", "rotate", file)["error"] == "invalid_input"
    assert cli.json("audit", "rotate", file, "--days", "0")["lines"] == 10
    note(cli, 5)
    assert cli.json("audit", "verify")["lines"] == 5
    assert cli.json("audit", "verify", "--archive", file)["lines"] == 15
    text = Path(file).read_text()
    Path(file).write_text(text.replace("r4", "rX"))
    assert "changed" in cli("audit", "verify", "--archive", file, code=1).stdout
    assert cli.error("audit", "rotate", file, "--days", "0")["error"] == "invalid_input"
