"""The pages of the adapters: blocks that need a model are run against the loopback server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.docs.test_examples import blocks
from tests.unit.adapters.model_server import Answer
from tests.unit.models.chat.conftest import Server

PAGES = Path(__file__).parents[3] / "docs/howto/adapters"


def run_page(page: str) -> dict[str, Any]:
    """Run every Python block of a page, in order, in one namespace."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks((PAGES / page).read_text(encoding="utf-8")):
        if block.language == "python":
            exec(compile("\n" * block.line + block.text, page, "exec"), names)
    return names


@pytest.fixture(autouse=True)
def environment(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.address}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("LONGMIND_URL", str(tmp_path / "memory.db"))
    monkeypatch.setenv("LONGMIND_EMBEDDER", "none")


def test_model_clients(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    remember = ("remember", '{"content": "Nora moved to Porto in May."}')
    server.plan(Answer("In Lisbon."), *[Answer("42")] * 3, Answer("", calls=(remember,), finish="tool_calls"))
    names = run_page("model-clients.md")
    shown = capsys.readouterr().out
    assert "In Lisbon." in shown
    assert "tokens were added" in shown
    assert "query: Field required" in shown
    assert names["results"][0]["content"].startswith("Remembered as ")
    assert "My sister Nora lives in Lisbon." in str(server.bodies[0])
    assert "<longmind-memory>" not in str(server.bodies[2]), "switched off"
    assert "<longmind-memory>" in str(server.bodies[3])


def test_claude_memory(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    note = ("memory", '{"command": "create", "path": "/memories/note.md", "file_text": "Nora is a nurse."}')
    server.plan(Answer("", calls=(note,), finish="tool_calls"), Answer("Noted."))
    names = run_page("claude-memory.md")
    shown = capsys.readouterr().out
    assert "/memories/note.md" in shown
    assert "Nora lives in Porto." in shown
    assert "['put', 'update']" in shown
    assert names["message"].content[0].text == "Noted."
