"""The command line, run in this process on a SQLite file of the test's own."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.models.chat.conftest import Server, serving
from typer.testing import CliRunner, Result

from longmind.cli import app


class Cli:
    """Runs ``longmind`` and expects an exit code."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._runner = CliRunner(env={"LONGMIND_URL": url, "COLUMNS": "100", "NO_COLOR": None, "FORCE_COLOR": None})

    def __call__(self, *words: str, input: str | bytes | None = None, code: int = 0, **env: str) -> Result:
        result = self._runner.invoke(app, words, input=input, env=env, catch_exceptions=False, prog_name="longmind")
        assert result.exit_code == code, f"{words} ended with {result.exit_code}:\n{result.output}"
        return result

    def json(self, *words: str, input: str | bytes | None = None, **env: str) -> Any:
        """What a command tells a program: one document and nothing else."""
        result = self(*words, "--json", input=input, **env)
        assert result.stderr == ""
        return json.loads(result.stdout)

    def error(self, *words: str, code: int = 1, input: str | None = None) -> dict[str, Any]:
        """What a failing command tells a program: nothing on stdout, one JSON object on stderr."""
        result = self(*words, "--json", code=code, input=input)
        assert result.stdout == ""
        told: dict[str, Any] = json.loads(result.stderr)
        assert set(told) == {"error", "message", "hint", "details"}
        return told

    def stored(self) -> bool:
        """Whether any agent of the store has anything; a store that does not exist has none."""
        result = self._runner.invoke(app, ["agents", "--json"], catch_exceptions=False, prog_name="longmind")
        return result.exit_code == 0 and bool(json.loads(result.stdout)["agents"])

    def remember(self, text: str, *words: str) -> str:
        """Store a text; its id."""
        id: str = self.json("remember", text, *words)["memories"][0]["id"]
        return id


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    for name in ("LONGMIND_AGENT", "LONGMIND_TENANT", "LONGMIND_EMBEDDER"):
        monkeypatch.delenv(name, raising=False)
    return Cli(str(tmp_path / "memory.db"))


@pytest.fixture
def server() -> Iterator[Server]:
    """A model server that a test tells what to answer."""
    with serving() as running:
        yield running
