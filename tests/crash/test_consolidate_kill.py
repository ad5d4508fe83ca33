"""Consolidation stopped anywhere: nothing said is lost, no fact is twice, no page is in two segments, the rerun ends.

Most stops are an error raised at a point that the cycle passes, on SQLite, which is where a process would have ended
between two writes. The rest are real: a process that has everything imported forks runs, and each is killed with -9 at
a random moment, which may be in the middle of a write.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from longmind import Longmind
from longmind.config import AgentSettings
from longmind.consolidate import cycle
from longmind.consolidate.cycle import Cycle
from longmind.memory import AgentMemory
from longmind.types import Filter

STOPS = 170
KILLS = 30
FEWEST_KILLS = 5
KILLING_SECONDS = 60.0
"""After so long a slow machine makes do with fewer kills."""
BEGAN = datetime(2024, 1, 1, 9, tzinfo=UTC)


class Stop(Exception):
    """The end of the process, as far as the cycle is concerned."""


def talk(rng: random.Random) -> list[dict[str, Any]]:
    """A conversation that has something for every stage."""
    cities, things = ["Lisbon", "Porto", "Rome", "Oslo"], ["pottery", "tea", "chess", "sailing", "the ocean"]
    lines: list[dict[str, Any]] = []
    for n in range(30):
        moment = BEGAN + timedelta(hours=n)
        said = rng.choice(
            [
                f"I moved to {rng.choice(cities)} and I love {rng.choice(things)}.",
                f"I love {rng.choice(things)}, the pottery wheel and the harbour museum number {n}.",
                f"I went to the harbour museum yesterday, and I adopted a puppy number {n}.",
            ]
        )
        lines.append({"role": "user", "content": said, "occurred_at": moment})
        lines.append({"role": "assistant", "content": f"Tell me more about it, {n}.", "occurred_at": moment})
    return lines


async def filled(path: Path, seed: int) -> None:
    """A store with something to consolidate."""
    rng = random.Random(seed)
    async with Longmind.open(str(path), embedder="none") as longmind:
        mem = longmind.agent("a", user="alice")
        await mem.remember(talk(rng), session="s")
        for text in ("tea please", "Tea, please!", "I live in Bern.", "The capital of Ghana is Accra."):
            await mem.remember(text)


async def sound(mem: AgentMemory, said: dict[str, str]) -> None:
    """What must hold of an agent whenever consolidation is looked at, finished or not."""
    found = [memory async for memory in mem.store.scan_all(mem.scope, Filter(states=None))]
    texts = {m.id: m.content for m in found if m.kind == "message"}
    assert texts == said
    facts = [m for m in found if m.kind == "fact" and m.state != "superseded"]
    told = Counter((m.body["subject"], m.body["predicate"], str(m.body["object"])) for m in facts)
    assert [fact for fact, n in told.items() if n > 1] == []
    names = Counter(m.key for m in found if m.kind == "concept")
    assert [name for name, n in names.items() if n > 1] == []
    pages = [m for m in found if m.kind == "page"]
    in_pages = Counter(turn["memory"] for page in pages for turn in page.body["turns"])
    assert [id for id, n in in_pages.items() if n > 1] == []
    for page in pages:
        links = await mem.store.links(mem.scope, [page.id], relation="part_of")
        assert len(links) == (1 if page.body["segment"] else 0)
    assert await problems_of_backend(mem) == []


async def problems_of_backend(mem: AgentMemory) -> list[str]:
    backend: Any = mem.store.backend
    return list(await backend.check())


async def messages(mem: AgentMemory) -> dict[str, str]:
    where = Filter(kinds=("message",), states=None)
    return {m.id: m.content async for m in mem.store.scan_all(mem.scope, where)}


async def told(mem: AgentMemory) -> list[tuple[str, str, str]]:
    """What the agent holds, without ids and times."""
    found = [m async for m in mem.store.scan_all(mem.scope, Filter(states=None)) if m.kind != "configuration"]
    return sorted((m.kind, m.state, m.content) for m in found)


def stopping(longmind: Longmind, mem: AgentMemory, after: int) -> Cycle:
    """A cycle that ends at the point so many points on."""
    passed = 0

    def watch(point: str) -> None:
        nonlocal passed
        passed += 1
        if passed > after:
            raise Stop(point)

    settings = AgentSettings()
    return Cycle(longmind.store, mem.scope, settings, longmind.clock, longmind.embedding.embed, watch=watch)


async def test_stopped_at_any_point_the_rerun_completes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle, "SLICE", 20)
    await filled(tmp_path / "begin.db", 0)
    shutil.copy(tmp_path / "begin.db", tmp_path / "whole.db")
    async with Longmind.open(str(tmp_path / "whole.db"), embedder="none") as longmind:
        mem = longmind.agent("a", user="alice")
        said = await messages(mem)
        await mem.consolidate()
        whole = [(kind, state, content) for kind, state, content in await told(mem) if kind == "fact"]
    stops, rng, points = 0, random.Random(1), set[str]()
    turn = 0
    while stops < STOPS:
        path = tmp_path / f"{turn}.db"
        turn += 1
        shutil.copy(tmp_path / "begin.db", path)
        async with Longmind.open(str(path), embedder="none") as longmind:
            mem = longmind.agent("a", user="alice")
            said = await messages(mem)
            while True:
                try:
                    await stopping(longmind, mem, rng.randrange(40)).run()
                except Stop as stopped:
                    stops += 1
                    points.add(str(stopped))
                    await sound(mem, said)
                else:
                    break
            await sound(mem, said)
            assert [one for one in await told(mem) if one[0] == "fact"] == whole
            assert (await mem.consolidate()).proposed == ()
    assert len(points) > 20, "the stops were all in the same few places"


RUNS = """
import asyncio, os, sys
from longmind import Longmind
from longmind.consolidate import cycle
cycle.SLICE = 20


async def run(path):
    async with Longmind.open(path, embedder="none") as longmind:
        await longmind.agent("a", user="alice").consolidate()
    os.write(1, b"done\\n")


for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(run(line.strip()))
        finally:
            os._exit(0)
    os.write(1, f"pid {pid}\\n".encode())
    os.waitpid(pid, 0)
    os.write(1, b"dead\\n")
"""


@pytest.fixture
def runs() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", RUNS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    yield process
    process.communicate(timeout=60)
    assert process.returncode == 0


def run_and_kill(runs: subprocess.Popen[str], path: Path, after_s: float | None) -> bool:
    """Let a run go for so long, kill it, and say whether it had come to its end."""
    assert runs.stdin is not None
    assert runs.stdout is not None
    done = False
    runs.stdin.write(f"{path}\n")
    for line in runs.stdout:
        match line.split():
            case ["pid", pid] if after_s is not None:
                time.sleep(after_s)
                with suppress(ProcessLookupError):  # it may have come to its end before
                    os.kill(int(pid), signal.SIGKILL)
            case ["done"]:
                done = True
            case ["dead"]:
                return done
    raise AssertionError("the process that forks the runs has ended")


async def test_killed_with_9_at_any_moment_the_rerun_completes(runs: subprocess.Popen[str], tmp_path: Path) -> None:
    await filled(tmp_path / "begin.db", 3)
    for name in ("first.db", "timed.db"):  # the first one also imports what it needs
        shutil.copy(tmp_path / "begin.db", tmp_path / name)
        begin = time.monotonic()
        assert run_and_kill(runs, tmp_path / name, None)
        whole_s = time.monotonic() - begin
    rng, kills, copy = random.Random(2), 0, 0
    until = time.monotonic() + KILLING_SECONDS

    def enough() -> bool:
        return kills >= KILLS or (kills >= FEWEST_KILLS and time.monotonic() > until)

    while not enough():
        path = tmp_path / f"{copy}.db"
        copy += 1
        shutil.copy(tmp_path / "begin.db", path)
        async with Longmind.open(str(path), embedder="none") as longmind:
            said = await messages(longmind.agent("a", user="alice"))
        while not enough() and not run_and_kill(runs, path, rng.uniform(0, whole_s)):
            kills += 1
            async with Longmind.open(str(path), embedder="none") as longmind:
                await sound(longmind.agent("a", user="alice"), said)
        whole_s *= 0.9  # it came to its end: the machine may have been busier when it was timed
        assert run_and_kill(runs, path, None)
        async with Longmind.open(str(path), embedder="none") as longmind:
            mem = longmind.agent("a", user="alice")
            await sound(mem, said)
            assert (await mem.consolidate()).proposed == ()
