"""``longmind worker`` and ``longmind jobs``."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.unit.worker.troubled import TEA
from typer.testing import CliRunner

from longmind import Longmind, Settings
from longmind.cli import jobs, worker
from longmind.types import Scope
from longmind.worker import Jobs

COMMAND = """
import typer
from longmind.cli import jobs, worker
app = typer.Typer()
app.command("worker")(worker.worker)
app.add_typer(jobs.app, name="jobs")
app()
"""
app = typer.Typer()
app.command("worker")(worker.worker)
app.add_typer(jobs.app, name="jobs")


class Cli:
    """Runs a command on one store."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._runner = CliRunner(env={"LONGMIND_URL": url, "COLUMNS": "120"})

    def __call__(self, *words: str, code: int = 0) -> str:
        result = self._runner.invoke(app, words, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result.stdout if code == 0 else result.stderr

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self(*words, "--json", code=code))


async def remember(url: str, *agents: str) -> None:
    async with Longmind.open(url, settings=Settings.load({})) as longmind:
        for name in agents:
            await longmind.agent(name).remember(TEA)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    made = Cli(str(tmp_path / "memory.db"))
    asyncio.run(remember(made.url, "a", "b"))
    return made


def test_a_worker_does_what_there_is_to_do(cli: Cli) -> None:
    shown = cli("worker", "--once", "--poll", "0.05")
    assert "default/a: " in shown
    assert "2 jobs done, 0 attempts failed." in shown
    again = cli.json("worker", "--once", "--poll", "0.05", "--name", "w")
    assert again == {"worker": "w", "done": 0, "failed": 0, "taken_over": 0}

    found = cli.json("jobs", "list")
    assert found["paused"] is False
    assert [job["state"] for job in found["jobs"]] == ["done", "done"]
    job = found["jobs"][0]
    table = cli("jobs", "list").splitlines()
    assert table[0].split() == ["Id", "Agent", "State", "Why", "Asked", "Result"]
    assert table[1].startswith(job["id"][-8:])
    assert len(cli.json("jobs", "list", "--agent", "a", "--state", "done")["jobs"]) == 1
    assert cli.json("jobs", "list", "--state", "failed")["jobs"] == []

    assert cli.json("jobs", "show", job["id"][-8:]) == job
    shown = cli("jobs", "show", job["id"])
    assert job["outcome"]["reports"][0] in shown
    assert "done" in shown


def test_jobs_before_there_was_any(cli: Cli) -> None:
    assert cli("jobs", "list") == "No jobs yet.\n"
    assert cli.json("jobs", "show", "12345678", code=3)["error"] == "not_found"
    assert cli("jobs", "retry", "--failed") == "No agent's newest job failed.\n"


def test_calls_that_are_wrong(cli: Cli) -> None:
    assert cli.json("jobs", "retry", code=1)["error"] == "invalid_input"
    assert "no state of a job" in cli("jobs", "list", "--state", "odd", code=2)
    assert "give --agent too" in cli("jobs", "pause", "--tenant", "t", code=2)
    assert cli.json("worker", "--once", "--cron", "often", code=1)["error"] == "invalid_setting"
    assert "ConsolidationService" in cli.json("worker", "--url", "memory:", code=1)["hint"]


def test_pause_and_resume(cli: Cli) -> None:
    assert cli("jobs", "pause", "--agent", "a") == "a is paused.\n"
    assert cli.json("worker", "--once", "--poll", "0.05")["done"] == 1
    assert [job["agent"] for job in cli.json("jobs", "list")["jobs"]] == ["b"]
    assert cli("jobs", "resume", "--agent", "a") == "a goes on.\n"
    assert cli.json("jobs", "pause") == {"paused": True, "agent": None}
    assert "Everything is paused" in cli("jobs", "list")
    asyncio.run(remember(cli.url, "c"))
    cli.json("worker", "--once", "--poll", "0.05")
    assert [job["agent"] for job in cli.json("jobs", "list", "--state", "waiting")["jobs"]] == []
    assert cli("jobs", "resume") == "Everything goes on.\n"
    assert cli.json("worker", "--once", "--poll", "0.05")["done"] >= 2


def test_a_failed_job_is_asked_for_again(cli: Cli) -> None:
    async def fail() -> str:
        async with await Jobs.open(cli.url) as opened:
            id, _ = await opened.ask(Scope(agent="a", all_users=True))
            opened.client.cancel_workflow(id)
            return id

    id = asyncio.run(fail())
    (again,) = cli.json("jobs", "retry", id)["jobs"]
    assert (again["agent"], again["cause"], again["state"]) == ("a", "retry", "waiting")
    assert again["id"] != id


@contextmanager
def at_work(url: str, *before: str) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-c", "\n".join([*before, COMMAND]), "worker", "--url", url, "--poll", "0.05"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(cli: Cli, how: signal.Signals) -> None:
    with at_work(cli.url) as process:
        assert process.stdout is not None
        assert "is at work" in process.stdout.readline()
        process.send_signal(how)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "done, 0 attempts failed." in out
    assert errors == ""


SLEEPY = """
import asyncio
from longmind.memory import AgentMemory
async def consolidate(self, **options):
    print("asleep", flush=True)
    await asyncio.Event().wait()
AgentMemory.consolidate = consolidate
"""


def test_a_second_signal_ends_it_at_once(cli: Cli) -> None:
    with at_work(cli.url, SLEEPY) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line == "asleep\n":
                break
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    assert cli.json("worker", "--once", "--poll", "0.05", "--lease", "1")["done"] == 2


def without_network(code: str, url: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("LONGMIND_")}
    return subprocess.run(
        [sys.executable, "-c", code + COMMAND, *words], env=env | {"LONGMIND_URL": url}, capture_output=True, text=True
    )


BLOCKED = """
import sys
def heard(event, given):
    if event in WATCHED:
        raise RuntimeError(f"the network was used: {event} {given!r}")
WATCHED = {f"socket.{what}" for what in (
    "connect", "getaddrinfo", "gethostbyname", "gethostbyaddr", "getnameinfo", "sendto", "sendmsg", "bind")}
sys.addaudithook(heard)
"""


def test_a_worker_needs_no_network_and_no_account(cli: Cli) -> None:
    done = without_network(BLOCKED, cli.url, "worker", "--once", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["done"] == 2
    refused = without_network(BLOCKED + "import socket; socket.create_connection(('127.0.0.1', 9))", cli.url)
    assert "the network was used" in refused.stderr


ABSENT = """
import sys
sys.modules["dbos"] = None
import longmind, longmind.worker
from longmind.worker import ConsolidationService, Trigger
"""


@pytest.mark.parametrize("words", [["worker", "--once"], ["jobs", "list"]])
def test_without_dbos_only_durable_jobs_are_missing(cli: Cli, words: list[str]) -> None:
    done = without_network(ABSENT, cli.url, *words, "--json")
    assert done.returncode == 1
    told = json.loads(done.stderr)
    assert told["error"] == "invalid_setting"
    assert 'pip install "longmind[worker]"' in told["hint"]
    assert without_network(ABSENT, cli.url, "worker", "--help").returncode == 0
