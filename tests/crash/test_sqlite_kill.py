"""kill -9 in the middle of writing, a hundred times: what was acknowledged is there afterwards.

A process that has everything imported forks the writers, so that a cycle takes a tenth of a second. A writer says
"ack" and the id on its pipe after each acknowledged write; it is killed at a random moment, which may also be while it
makes the file, closes it, or empties the log.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from longmind.store.sqlite import SqliteBackend
from longmind.types import Scope

CYCLES = 100
STORES = 4

WRITERS = """
import asyncio, os, sys
import numpy as np
from longmind.clock import SystemClock
from longmind.store.base import Batch, Put, Space, Update
from longmind.store.sqlite import SqliteBackend
from longmind.testing import memory
from longmind.types import Scope

clock, scope = SystemClock(), Scope(agent="assistant")
vector = np.ones(16, np.float32) / 4


async def write_on(backend, size):
    for turn in range(12):
        ids = [clock.new_id() for _ in range(size)]
        puts = [Put(memory(f"What {id} says.", scope=scope, id=id), vector) for id in ids]
        await backend.apply(Batch(scope, clock.new_id(), clock.now(), tuple(puts)))
        os.write(1, "".join(f"ack {id} 1\\n" for id in ids).encode())
        await backend.apply(Batch(scope, clock.new_id(), clock.now(), (Update(ids[0], {"importance": 1.0}),)))
        os.write(1, f"ack {ids[0]} 2\\n".encode())


async def run(path):
    while True:
        backend = await SqliteBackend.open(path)
        await backend.declare_space(Space("small", 16))
        await asyncio.gather(*(write_on(backend, size) for size in (1, 1, 3, 20)))
        await backend.close()


for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        asyncio.run(run(line.strip()))
    os.write(1, f"pid {pid}\\n".encode())
    os.waitpid(pid, 0)
    os.write(1, b"dead\\n")
"""


@pytest.fixture
def writers() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    yield process
    process.communicate(timeout=30)
    assert process.returncode == 0


def write_and_kill(writers: subprocess.Popen[str], path: Path, after_s: float) -> dict[str, int]:
    """Let a writer write for so long, kill it, and tell what it had acknowledged: versions by id."""
    assert writers.stdin is not None
    assert writers.stdout is not None
    acked: dict[str, int] = {}
    writers.stdin.write(f"{path}\n")
    for line in writers.stdout:
        match line.split():
            case ["pid", pid]:
                time.sleep(after_s)
                os.kill(int(pid), signal.SIGKILL)
            case ["ack", id_, version]:
                acked[id_] = int(version)
            case ["dead"]:
                return acked
    raise AssertionError("the process that forks the writers has ended")


async def test_nothing_acknowledged_is_lost(writers: subprocess.Popen[str], tmp_path: Path) -> None:
    rng, scope = random.Random(0), Scope(agent="assistant")
    acked: dict[Path, dict[str, int]] = {tmp_path / f"{n}.db": {} for n in range(STORES)}
    for cycle in range(CYCLES):
        path = tmp_path / f"{cycle % STORES}.db"
        told = write_and_kill(writers, path, rng.uniform(0, 0.2))
        acked[path].update(told)
        backend = await SqliteBackend.open(path)
        ids = list(acked[path] if cycle >= CYCLES - STORES else told)
        found = {m.id: m for m in await backend.get(scope, ids)}
        for id_ in ids:
            assert found[id_].content == f"What {id_} says."
            assert found[id_].version >= acked[path][id_]
        assert await backend.check() == []
        await backend.close()
    assert sum(map(len, acked.values())) > 10 * CYCLES, "the writers were killed before they had written anything much"
