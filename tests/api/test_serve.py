"""``longmind serve`` as a process."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.security.provider import AUDIENCE, Issuer

from longmind.errors import Forbidden, InvalidSetting, StoreUnavailable, Unauthenticated
from longmind.server import ServerSettings
from longmind.server.listening import listen
from longmind.sync import Longmind

Start = Callable[..., tuple["subprocess.Popen[str]", str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """A function that starts a server and returns it with its address."""
    processes: list[subprocess.Popen[str]] = []

    def start(*options: str, **environment: str) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, "-m", "longmind.cli", "serve", "--port", "0", "--json", *options]
        command += ["--url", str(tmp_path / "memory.db")]
        with (tmp_path / "log").open("a") as log:
            env = {**os.environ, **environment}
            processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=env))
        output: Any = processes[-1].stdout
        address = re.search(r"http://[0-9.:]+", next(line for line in output if "http" in line))
        assert address is not None
        return processes[-1], address[0]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_and_stops_cleanly(start: Start, number: signal.Signals, tmp_path: Path) -> None:
    process, address = start("--sample", "--no-consolidation")
    with Longmind.open(address) as longmind:
        mem = longmind.agent("demo", user="alice")
        assert mem.recall("dinner with Ines", k=1)
        stored = mem.remember("I drink xylophone tea.")
        assert [memory.id for memory in mem.list(limit=1).items] == [stored.id]
        with mem.episodic.episode("An evening") as episode:
            episode.record("Dinner.")
        assert mem.episodic.get(episode.id).outcome == "succeeded"
    process.send_signal(number)
    assert process.wait(timeout=60) == 0
    with pytest.raises(StoreUnavailable):
        Longmind.open(address)
    with Longmind.open(str(tmp_path / "memory.db")) as longmind:
        assert longmind.agent("demo", user="alice").get(stored.id) == stored
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert {"memories.remember", "recall.recall"} <= {line.get("operation") for line in lines}
    assert "xylophone" not in (tmp_path / "log").read_text()


def test_several_processes_serve_one_store(start: Start) -> None:
    process, address = start("--workers", "2", "--no-consolidation")
    for number in range(10):  # each is a new connection, so both answer some
        with Longmind.open(address) as longmind:
            longmind.agent("assistant").remember(f"Number {number}.")
            assert longmind.agent("assistant").stats().memories == number + 1
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
def test_without_authentication_it_listens_on_this_machine_only(host: str) -> None:
    with pytest.raises(InvalidSetting, match="Without authentication"):
        listen(host, 0, ServerSettings())


def test_an_answer_is_not_held_back_until_the_client_acknowledges_its_head() -> None:
    with listen("127.0.0.1", 0, ServerSettings()) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


def test_it_accepts_the_tokens_of_a_provider(start: Start, tmp_path: Path) -> None:
    issuer = Issuer()
    try:
        oidc = ("--auth", "oidc", "--oidc-issuer", issuer.url, "--oidc-audience", AUDIENCE, "--no-consolidation")
        process, address = start(*oidc)
        with Longmind.open(address, key=issuer.token()) as longmind:
            stored = longmind.agent("assistant").remember("The word is heron.")
            with pytest.raises(Forbidden):
                longmind.agent("assistant", all_users=True).list()
        with Longmind.open(address, key=issuer.token(tenant="other", scope="longmind:read")) as longmind:
            assert longmind.agent("assistant").get(stored.id) is None
            with pytest.raises(Forbidden):
                longmind.agent("assistant").remember("No.")
        for wrong in (issuer.token(aud="another"), issuer.token(exp=1), "nonsense"):
            with pytest.raises(Unauthenticated), Longmind.open(address, key=wrong) as longmind:
                longmind.agent("assistant").list()
        assert httpx2.get(f"{address}/v1/agents").status_code == 401
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    finally:
        issuer.close()
    assert "heron" not in (tmp_path / "log").read_text()


def test_the_environment_sets_it_for_every_process(start: Start) -> None:
    limits = {"LONGMIND_SERVER_WORKERS": "2", "LONGMIND_SERVER_BODY_BYTES": "1000"}
    process, address = start("--no-consolidation", LONGMIND_SERVER_METRICS_KEY="figures", **limits)
    for _ in range(6):  # each is a new connection, so both answer some
        body = {"content": "x" * 2_000}
        assert httpx2.post(f"{address}/v1/agents/a/memories", json=body).status_code == 413
        assert httpx2.get(f"{address}/metrics").status_code == 401
        allowed = httpx2.get(f"{address}/metrics", headers={"Authorization": "Bearer figures"})
        assert "longmind_requests_total" in allowed.text
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def test_a_store_that_cannot_be_opened_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_text("This is no store, and the word is heron. " * 100)
    command = [sys.executable, "-m", "longmind.cli", "serve", "--port", "0", "--auth", "none"]
    ended = subprocess.run([*command, "--url", str(tmp_path / "memory.db")], capture_output=True, text=True)
    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr
    assert "heron" not in ended.stderr
    assert "is not a SQLite database" in " ".join(ended.stderr.split())
