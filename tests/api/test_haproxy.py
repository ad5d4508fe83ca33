"""The shipped configuration of HAProxy, with real servers behind it: ``deploy/haproxy.cfg``."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from benchmarks.serve.clients import Clients
from benchmarks.serve.measure import lost_writes
from benchmarks.serve.server import ServerProcess, served

EXAMPLE = Path(__file__).parents[2] / "deploy" / "haproxy.cfg"
AGENTS = [f"agent-{number}" for number in range(12)]
HAPROXY = shutil.which("haproxy") or "/usr/sbin/haproxy"

pytestmark = pytest.mark.skipif(
    not Path(HAPROXY).exists(), reason="HAProxy is not installed (Debian: apt-get install haproxy)"
)


def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


def configured(folder: Path, address: str, servers: list[str]) -> Path:
    """The example, with our addresses in the place of its own."""
    text = EXAMPLE.read_text()
    text, replaced = re.subn(r"bind 127\.0\.0\.1:8480", f"bind {address}", text)
    assert replaced == 1
    for number, server in enumerate(servers, start=11):
        text, replaced = re.subn(rf"192\.0\.2\.{number}:8484", urlsplit(server).netloc, text)
        assert replaced == 1
    (folder / "haproxy.cfg").write_text(text)
    return folder / "haproxy.cfg"


@contextmanager
def proxy(folder: Path, servers: list[str]) -> Iterator[str]:
    """HAProxy in front of servers; its address."""
    address = f"127.0.0.1:{free_port()}"
    configuration = configured(folder, address, servers)
    with running(configuration, folder / "haproxy.log") as process:
        while get_when_up(process, f"http://{address}/readyz").status_code != 200:
            pass  # no server was found ready yet
        yield f"http://{address}"


@contextmanager
def running(configuration: Path, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """HAProxy, until the block ends."""
    with log.open("w") as lines:
        process = subprocess.Popen([HAPROXY, "-db", "-f", str(configuration)], stdout=lines, stderr=lines)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def get_when_up(process: subprocess.Popen[bytes], url: str) -> httpx2.Response:
    """The answer of a proxy that may not listen yet."""
    while True:
        assert process.poll() is None, "HAProxy ended"
        with suppress(httpx2.ConnectError):
            return httpx2.get(url, timeout=60)


def agents_of(log: Path) -> set[str]:
    """The agents that a server answered for."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return {line["agent"] for line in lines if line.get("agent")}


def test_the_example_and_its_alternatives_are_valid(tmp_path: Path) -> None:
    subprocess.run([HAPROXY, "-c", "-f", str(EXAMPLE)], check=True, capture_output=True)
    text = EXAMPLE.read_text().replace("    balance hash path,field(4,/)\n", "")
    text, uncommented = re.subn(r"# (http-request set-var-fmt|balance hash var)", r"\1", text)
    assert uncommented == 2
    (tmp_path / "haproxy.cfg").write_text(text)
    subprocess.run([HAPROXY, "-c", "-f", str(tmp_path / "haproxy.cfg")], check=True, capture_output=True)


async def test_of_a_server_that_is_lost_under_load_clients_see_no_error(
    postgres_store_url: str, tmp_path: Path
) -> None:
    logs = [tmp_path / "one", tmp_path / "two"]
    with (
        served(postgres_store_url, logs[0], "--no-consolidation") as one,
        served(postgres_store_url, logs[1], "--no-consolidation") as two,
        proxy(tmp_path, [one.address, two.address]) as address,
    ):
        clients = Clients(address, AGENTS, ["who drinks tea"], clients=8, write_every=3)
        running = asyncio.create_task(clients.run())
        async with asyncio.timeout(120):
            await clients.until(lambda load: load.requests > 60)
        met = [agents_of(log) for log in logs]
        assert met[0] | met[1] == set(AGENTS)
        assert met[0], "both have agents"
        assert met[1], "both have agents"
        assert not met[0] & met[1], "an agent meets one server"
        one.kill()
        so_far = clients.load.requests
        async with asyncio.timeout(120):
            await clients.until(lambda load: load.requests > so_far + 100)
        assert agents_of(logs[1]) == set(AGENTS), "the other one has them all"
        back = ServerProcess(
            postgres_store_url, tmp_path / "back", "--no-consolidation", "--port", str(urlsplit(one.address).port)
        )
        try:
            async with asyncio.timeout(120):
                while agents_of(tmp_path / "back") != met[0]:
                    so_far = clients.load.requests
                    await clients.until(lambda load, least=so_far + 20: load.requests > least)  # type: ignore[misc]
            clients.stop()
            load = await running
        finally:
            back.stop()
    assert (load.errors, load.unavailable) == ([], [])
    assert load.lost <= 8, "at most what was under way when the server was killed had to be repeated by its client"
    assert await lost_writes(postgres_store_url, [load]) == 0


def test_without_a_server_the_answer_says_when_to_try_again(tmp_path: Path) -> None:
    nowhere = [f"http://127.0.0.1:{free_port()}" for _ in range(2)]
    address = f"127.0.0.1:{free_port()}"
    configuration = configured(tmp_path, address, nowhere)
    with running(configuration, tmp_path / "haproxy.log") as process:
        answer = get_when_up(process, f"http://{address}/v1/agents/assistant/memories")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "2"
    assert answer.json()["code"] == "store_unavailable"
