"""``longmind mcp`` as a process: only the protocol on the standard output, and a clean end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.api.mcp.conftest import stdio_parameters

from longmind.sync import Longmind

_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
_READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def _call(number: int, tool: str, **arguments: object) -> dict:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class _Process:
    def __init__(self, store: Path, *options: str) -> None:
        how = stdio_parameters(store, *options)
        self.process = subprocess.Popen(
            [how.command, *how.args],
            env=how.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def send(self, *messages: dict | str) -> None:
        assert self.process.stdin is not None
        for message in messages:
            self.process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict:
        assert self.process.stdout is not None
        answer: dict = json.loads(self.process.stdout.readline())
        return answer


def _open(store: Path) -> _Process:
    running = _Process(store)
    running.send(_INITIALIZE)
    assert running.receive()["result"]["serverInfo"]["name"] == "longmind"
    running.send(_READY, _call(1, "remember", content="The heron wades."))
    assert running.receive()["result"]["isError"] is False
    return running


def _remembered(store: Path) -> list[str]:
    with Longmind.open(str(store), embedder="none") as longmind:
        return [memory.content for memory in longmind.agent("assistant").list().items]


def test_a_client_is_told_of_changes_that_it_subscribed_to(tmp_path: Path) -> None:
    running = _open(tmp_path / "store.db")
    graph = {"uri": "memory://knowledge-graph"}
    running.send({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": graph})
    assert running.receive()["result"] == {}
    entity = {"name": "Heron", "entityType": "bird", "observations": []}
    running.send(_call(3, "create_entities", entities=[entity]))
    told = running.receive(), running.receive()
    running.send({"jsonrpc": "2.0", "id": 4, "method": "resources/unsubscribe", "params": graph})
    assert running.receive()["result"] == {}
    running.send(_call(5, "delete_entities", entityNames=["Heron"]))
    assert running.receive()["id"] == 5
    running.send({"jsonrpc": "2.0", "id": 6, "method": "resources/subscribe", "params": {"uri": "longmind://nothing"}})
    assert "error" in running.receive()
    running.process.communicate()
    assert [message.get("method", message.get("id")) for message in told] == ["notifications/resources/updated", 3]


def test_it_ends_with_the_standard_input_and_prints_only_the_protocol(tmp_path: Path) -> None:
    running = _open(tmp_path / "store.db")
    running.send("this is no JSON", _call(2, "recall", query="heron"))
    assert running.process.stdin is not None
    answers = [running.receive()]
    while answers[-1].get("id") != 2:
        answers.append(running.receive())
    rest, errors = running.process.communicate()
    assert running.process.returncode == 0, errors
    assert rest == ""
    assert "Traceback" not in errors
    assert answers[-1]["result"]["structuredContent"]["hits"][0]["text"] == "The heron wades."
    assert _remembered(tmp_path / "store.db") == ["The heron wades."]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_the_input_is_open(number: signal.Signals, tmp_path: Path) -> None:
    running = _open(tmp_path / "store.db")
    os.kill(running.process.pid, number)
    code = running.process.wait()
    _, errors = running.process.communicate()
    assert code == 0, errors
    assert errors == ""
    assert _remembered(tmp_path / "store.db") == ["The heron wades."]


def test_a_store_that_cannot_be_opened_is_told_on_the_standard_error(tmp_path: Path) -> None:
    damaged = tmp_path / "store.db"
    damaged.write_text("this is no database, but a text that is long enough to look like a file" * 20)
    running = _Process(damaged)
    out, errors = running.process.communicate(json.dumps(_INITIALIZE) + "\n")
    assert running.process.returncode == 1
    assert out == ""
    assert errors
    assert "Traceback" not in errors
