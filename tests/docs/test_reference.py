"""The reference of the command line is what the commands say."""

from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from longmind.cli import app
from tools.cli_reference import page

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference" / "cli.md"
MAKE = "run: .venv/bin/python -m tools.cli_reference docs/reference/cli.md"


def every_command(group: Any, path: str = "longmind") -> list[str]:
    found = []
    for name, command in group.commands.items():
        found += every_command(command, f"{path} {name}") if hasattr(command, "commands") else [f"{path} {name}"]
    return found


def test_the_page_is_up_to_date() -> None:
    assert REFERENCE.read_text(encoding="utf-8") == page(), MAKE


@pytest.mark.parametrize("command", every_command(get_command(app)))
def test_every_command_is_documented(command: str) -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    assert f"## {command}\n" in text, MAKE


def test_every_option_says_what_it_does() -> None:
    def parameters(group: Any) -> list[Any]:
        return [p for c in group.commands.values() for p in (parameters(c) if hasattr(c, "commands") else c.params)]

    assert [p.name for p in parameters(get_command(app)) if not p.help] == []
