"""``longmind serve --workers``: several processes on one address, and one that looks after them."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import psutil  # type: ignore[import-untyped]
import pytest

from benchmarks.serve.clients import Clients
from benchmarks.serve.measure import lost_writes
from benchmarks.serve.server import ServerProcess, served
from longmind.sync import Longmind


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


def workers(server: ServerProcess) -> list[psutil.Process]:
    return [process for process in psutil.Process(server.pid).children() if process.is_running()]


def test_a_process_that_dies_is_replaced_and_one_alone_consolidates(url: str, tmp_path: Path) -> None:
    with served(url, tmp_path / "log", "--workers", "2") as server:
        before = workers(server)
        assert sorted("--no-consolidation" in process.cmdline() for process in before) == [False, True]
        first = next(process for process in before if "--no-consolidation" not in process.cmdline())
        first.kill()
        for number in range(10):  # the other one answers meanwhile
            with Longmind.open(server.address) as longmind:
                longmind.agent("assistant").remember(f"Number {number}.")
        while len(alive := [process for process in workers(server) if process.pid != first.pid]) < 2:
            psutil.wait_procs(alive, timeout=0.1)
        assert sorted("--no-consolidation" in process.cmdline() for process in alive) == [False, True]
        with Longmind.open(server.address) as longmind:
            assert longmind.agent("assistant").stats().memories == 10
        assert server.stop() == 0
    assert "another starts" in (tmp_path / "log").read_text()
    assert not any(process.is_running() for process in alive)


def test_the_figures_are_those_of_all_processes(url: str, tmp_path: Path) -> None:
    with served(url, tmp_path / "log", "--workers", "2", "--no-consolidation") as server:
        counted = set()
        for number in range(1, 9):  # each on a connection of its own, so both processes answer some
            httpx2.get(f"{server.address}/v1/agents/assistant/memories")
            lines = httpx2.get(f"{server.address}/metrics").text.splitlines()
            total = next(line for line in lines if "longmind_requests_total" in line and "memories.list" in line)
            counted.add((number, float(total.split()[-1])))
        assert counted == {(number, float(number)) for number in range(1, 9)}


def test_a_store_that_cannot_be_opened_is_told_once_and_no_address_is(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"This is no database, and long enough to be read as one." * 100)
    command = [sys.executable, "-m", "longmind.cli", "serve", "--port", "0", "--json", "--workers", "2"]
    ended = subprocess.run(
        [*command, "--url", str(tmp_path / "memory.db")], capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 1
    assert "http" not in ended.stdout
    assert "could not start" in ended.stderr
    assert "ExceptionGroup" not in ended.stderr


async def test_told_to_stop_it_finishes_what_it_does(url: str, tmp_path: Path) -> None:
    with served(url, tmp_path / "log", "--workers", "2", "--no-consolidation") as server:
        clients = Clients(server.address, ["assistant"], ["tea"], clients=8, write_every=2)
        running = asyncio.create_task(clients.run())
        await clients.until(lambda load: load.requests > 20)
        stopping = asyncio.create_task(asyncio.to_thread(server.stop))
        await clients.until(lambda load: load.lost > 0)  # nobody listens any more
        clients.stop()
        load = await running
        assert await stopping == 0
    assert load.errors == []
    assert await lost_writes(url, [load]) == 0


def test_told_twice_it_ends_at_once(url: str, tmp_path: Path) -> None:
    with served(url, tmp_path / "log", "--workers", "2", "--no-consolidation") as server:
        where = urlsplit(server.address)
        with socket.create_connection((where.hostname or "", where.port or 0)) as slow:
            head = "POST /v1/agents/a/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            slow.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())  # and never the rest
            while not any(
                process.net_connections() and len(process.net_connections()) > 1 for process in workers(server)
            ):
                pass
            family = workers(server)
            psutil.Process(server.pid).terminate()
            _, waiting = psutil.wait_procs(family, timeout=2)
            assert waiting, "one waits for the request"
            psutil.Process(server.pid).terminate()
            _, waiting = psutil.wait_procs(family, timeout=30)
            assert not waiting
