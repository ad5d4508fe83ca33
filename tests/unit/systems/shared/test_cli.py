"""``longmind shared`` on a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.systems.conftest import Cli

from longmind.cli.shared import app


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(app, str(tmp_path / "memory.db"))


def test_what_is_shared_is_proposed_and_reviewed(cli: Cli) -> None:
    assert "Nothing." in cli("list")
    assert "Refused: It holds an e-mail address." in cli("propose", "Write to ana@example.org.")
    one = cli.json("propose", "Tomatoes need six hours of sun.")["knowledge"]
    assert one["status"] == "pending"
    assert "pending" in cli("propose", "Tomatoes need six hours of sun.", "--user", "ann")
    assert "approved" in cli("approve", one["id"][-8:], "--note", "checked")
    assert [o["id"] for o in cli.json("list")["shared"]] == [one["id"]]
    assert "rejected" in cli("reject", one["id"])
    assert cli.json("list", "--status", "any")["shared"][0]["status"] == "rejected"
    assert "0 candidates" in cli("approve", "0" * 36, code=3)
    assert "too short" in cli("approve", "abc", code=1)


def test_the_settings_of_the_tenant_are_shown_and_changed(cli: Cli) -> None:
    assert cli.json("settings")["support"] == 3
    changed = cli.json("settings", "--support", "2", "--authenticated-users", "--allow", "Bluefin", "--approval")
    assert (changed["support"], changed["authenticated_users"], changed["approval"]) == (2, True, True)
    assert "Bluefin" in cli("settings")
    assert "not usable" in cli("settings", "--support", "0", code=1)
