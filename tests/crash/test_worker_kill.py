"""Workers that are killed lose nothing: the others take over, and every agent is consolidated once in effect.

Real ``longmind worker`` processes on one store, some killed with SIGKILL while they work. Afterwards every agent
must hold exactly what an agent with the same pages holds after one undisturbed consolidation: nothing lost, nothing
twice. The test is small; this file is also the script for the whole of it:

    python tests/crash/test_worker_kill.py --agents 1000 --workers 4 --kills 2
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from longmind import Longmind, Settings
from longmind.store.reads import scan_all
from longmind.types import Filter, Scope
from longmind.worker import Job, Jobs

WORKER = "import typer; from longmind.cli.worker import worker; a = typer.Typer(); a.command()(worker); a()"
LEASE = 3.0
AT_ONCE = 4
DEADLINE = 1_500.0
PAGES = [
    {"role": "user", "content": "My name is Alice and I live in Lisbon.", "name": "Alice"},
    {"role": "assistant", "content": "Nice to meet you, Alice."},
    {"role": "user", "content": "I work as a nurse. I like green tea.", "name": "Alice"},
    {"role": "assistant", "content": "Green tea it is."},
    {"role": "user", "content": "I like green tea!", "name": "Alice"},
]
AT = datetime(2026, 5, 1, tzinfo=UTC)
CONTROL = Scope(agent="control", all_users=True)
Held = tuple[Counter[tuple[str, str, str]], Counter[str]]


@dataclass
class Told:
    """What a run of the whole thing came to."""

    agents: int
    workers: int
    killed: int
    jobs: int
    seconds: float
    taken_over: int
    """Jobs that a lost worker had begun and another one finished."""
    takeover_seconds: float
    """From a kill to the moment when the last of the killed worker's jobs was begun again; the longest."""
    lost: int
    wrong: int


async def held(longmind: Longmind, scope: Scope) -> Held:
    """What an agent holds, without ids and times: how often each thing, and how many links of each relation."""
    memories = [memory async for memory in scan_all(longmind.store.backend, scope, Filter(states=None))]
    links = await longmind.store.all_links(scope, [m.id for m in memories])
    return Counter((m.kind, m.content, m.state) for m in memories), Counter(link.relation for link in links)


async def fill(longmind: Longmind, scopes: Sequence[Scope]) -> Held:
    """Give every agent the same pages, and tell what one holds that was consolidated with nobody in the way."""
    for scope in (CONTROL, *scopes):
        await longmind.agent(scope.agent).remember(PAGES, session="s", occurred_at=AT)
    while True:
        before = (await longmind.store.backend.head(CONTROL)).seq
        await longmind.agent(CONTROL.agent).consolidate()
        if (await longmind.store.backend.head(CONTROL)).seq == before:
            return await held(longmind, CONTROL)


@contextlib.contextmanager
def workers(url: str, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Worker processes, gone when the block ends."""
    words = [sys.executable, "-c", WORKER, "--json", "--url", url]
    words += ["--lease", str(LEASE), "--poll", "0.1", "--at-once", str(AT_ONCE)]
    started = [
        subprocess.Popen([*words, "--name", f"w{n}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for n in range(count)
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


async def kill_at_work(jobs: Jobs, process: subprocess.Popen[bytes], name: str, least: int) -> list[str]:
    """Kill a worker that has jobs in hand, once so many are done altogether; the jobs it leaves behind.

    It is stopped before it is looked at, so that what it has in hand is still in hand when it is killed.
    """
    while len(await jobs.list(states=["done"], limit=least)) < least:  # noqa: ASYNC110  # the work is elsewhere
        await asyncio.sleep(0.05)
    while True:
        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(0.1)  # what it had sent to the database arrives there
        running = await jobs.list(states=["running"], limit=1_000)
        if orphans := [job.id for job in running if job.worker == name]:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return orphans
        process.send_signal(signal.SIGCONT)
        await asyncio.sleep(0.05)


async def everything(jobs: Jobs) -> list[Job]:
    found: list[Job] = []
    while page := await jobs.list(limit=1_000, offset=len(found)):
        found += page
    return found


async def settled(longmind: Longmind, jobs: Jobs, scopes: Sequence[Scope]) -> None:
    """Wait until no job is left and every agent's watermark is where its journal is."""
    while True:
        if not await jobs.busy():
            marks = await jobs.marks(scopes)
            heads = {scope: (await longmind.store.backend.head(scope)).seq for scope in scopes}
            if all(marks[scope].head == heads[scope] for scope in scopes):
                return
        await asyncio.sleep(0.5)


async def run(url: str, agents: int, count: int, kills: int, chance: random.Random) -> Told:
    """Fill a store, start workers, kill some of them at random moments, and examine what is left."""
    scopes = [Scope(agent=f"agent-{n}", all_users=True) for n in range(agents)]
    async with Longmind.open(url, settings=Settings.load({})) as longmind, await Jobs.open(url) as jobs:
        expected = await fill(longmind, scopes)
        began = time.monotonic()
        killed: set[str] = set()
        orphans: dict[str, datetime] = {}
        with workers(url, count) as processes:
            async with asyncio.timeout(DEADLINE):
                for n in chance.sample(range(count), kills):
                    least = chance.randrange(agents // 10, agents // 2)
                    left = await kill_at_work(jobs, processes[n], f"w{n}", least)
                    killed.add(f"w{n}")
                    orphans |= dict.fromkeys(left, datetime.now(UTC))
                await settled(longmind, jobs, scopes)
            seconds = time.monotonic() - began
            for n, process in enumerate(processes):
                process.send_signal(signal.SIGTERM)
                out, _ = process.communicate(timeout=60)
                assert process.returncode == (-signal.SIGKILL if f"w{n}" in killed else 0)
                assert f"w{n}" in killed or json.loads(out)["failed"] == 0
        all_jobs = await everything(jobs)
        found = [await held(longmind, scope) for scope in scopes]
    again = [job for job in all_jobs if job.id in orphans]
    assert all(job.state == "done" and job.starts > 1 and job.worker not in killed for job in again)
    waits = [(job.started_at - orphans[job.id]).total_seconds() for job in again if job.started_at]
    return Told(
        agents=agents,
        workers=count,
        killed=kills,
        jobs=len(all_jobs),
        seconds=round(seconds, 1),
        taken_over=len(again),
        takeover_seconds=round(max(waits), 1),
        lost=agents - len({job.agent for job in all_jobs if job.state == "done"} - {CONTROL.agent}),
        wrong=sum(one != expected for one in found),
    )


@pytest.mark.timeout(180)
async def test_a_killed_worker_loses_nothing(postgres_store_url: str) -> None:
    told = await run(postgres_store_url, 40, 3, 1, random.Random(5))
    assert (told.lost, told.wrong) == (0, 0)
    assert told.taken_over >= 1


@pytest.mark.timeout(180)
async def test_nor_does_one_on_a_file(tmp_path: Path) -> None:
    told = await run(str(tmp_path / "memory.db"), 20, 2, 1, random.Random(5))
    assert (told.lost, told.wrong) == (0, 0)
    assert told.taken_over >= 1


def main(words: Sequence[str] | None = None) -> dict[str, Any]:
    """The whole of it, on a server of its own or on the one that ``--url`` names; its database must be empty."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--agents", type=int, default=1_000)
    asked.add_argument("--workers", type=int, default=4)
    asked.add_argument("--kills", type=int, default=2)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--url")
    given = asked.parse_args(words)
    server = None
    if given.url is None:
        from benchmarks.serve.database import LocalServer

        server = LocalServer()
    try:
        url = given.url or server.url
        told = asyncio.run(run(url, given.agents, given.workers, given.kills, random.Random(given.seed)))
    finally:
        if server is not None:
            server.stop()
    return asdict(told)


if __name__ == "__main__":
    sys.path.insert(0, ".")
    figures = main()
    sys.stdout.write(json.dumps(figures, indent=2) + "\n")
    sys.exit(0 if figures["lost"] == figures["wrong"] == 0 else 1)
