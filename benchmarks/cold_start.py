"""The first recall of an agent in a process: all its rows are read and its view built, or a stored snapshot is loaded.

Each figure is of a fresh process, after the file was read once, so the disk is not measured. Texts are those of
``scale``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.embedders import WordHashEmbedder
from benchmarks.quality import Figure, Progress
from benchmarks.scale import BATCH, texts
from longmind.memory import Longmind
from longmind.store.search.views import SNAPSHOT_ROWS

SIZES = (1_000, 100_000)
_FIRST_RECALL = """
import asyncio, json, resource, sys, time
from benchmarks.embedders import WordHashEmbedder
from benchmarks.scale import resident_mb
from longmind.memory import Longmind

async def main(url, agent):
    async with Longmind.open(url, embedder=WordHashEmbedder()) as longmind:
        mem = longmind.agent(agent)
        await longmind.agent("nobody").recall("what loads the embedder and the code", k=10)
        before = resident_mb()
        began, cpu = time.perf_counter(), time.process_time()
        await longmind.store.view(mem.scope)
        loaded, loaded_cpu = time.perf_counter() - began, time.process_time() - cpu
        await mem.recall("the first question of all", k=10)
        first, first_cpu = time.perf_counter() - began, time.process_time() - cpu
        began = time.perf_counter()
        await mem.recall("another question after it", k=10)
        later = time.perf_counter() - began
        held, peak = resident_mb() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps([loaded, loaded_cpu, first, first_cpu, later, held, peak]))

asyncio.run(main(*sys.argv[1:]))
"""


async def measure(url: str, sizes: Sequence[int], progress: Progress, *, rounds: int) -> list[Figure]:
    """Fill an agent of each size, and ask each in new processes."""
    figures: list[Figure] = []
    for place, size in enumerate(sizes):
        await _fill(url, size)
        progress((place + 0.8) / len(sizes))
        figures += _figures(f"{size:,} memories", url, _agent(size), rounds, snapshots=False)
        if size >= SNAPSHOT_ROWS:
            _first_recall(url, _agent(size), snapshots=True)  # stores it
            figures += _figures(f"{size:,} memories, from the snapshot", url, _agent(size), rounds, snapshots=True)
    progress(1.0)
    return figures


def _figures(label: str, url: str, agent: str, rounds: int, *, snapshots: bool) -> list[Figure]:
    measured = [_first_recall(url, agent, snapshots=snapshots) for _ in range(rounds)]
    loaded, cpu, first, first_cpu, later, held, peak = (min(each) for each in zip(*measured, strict=True))
    return [
        (f"{label}: loading the view", round(1_000 * loaded, 1), "ms"),
        (f"{label}: loading the view, CPU", round(1_000 * cpu, 1), "ms"),
        (f"{label}: first recall", round(1_000 * first, 1), "ms"),
        (f"{label}: first recall, CPU", round(1_000 * first_cpu, 1), "ms"),
        (f"{label}: a later recall", round(1_000 * later, 1), "ms"),
        (f"{label}: memory that the view takes", round(held, 1), "MB"),
        (f"{label}: memory of the process, at most", round(peak, 1), "MB"),
    ]


def _agent(size: int) -> str:
    return f"agent with {size}"


async def _fill(url: str, size: int) -> None:
    async with Longmind.open(url, embedder=WordHashEmbedder()) as longmind:
        mem, generated = longmind.agent(_agent(size)), texts(size)
        for start in range(0, size, BATCH):
            batch = [next(generated) for _ in range(min(BATCH, size - start))]
            await mem.remember(batch, session=f"session {start}")


def _first_recall(url: str, agent: str, *, snapshots: bool) -> list[float]:
    command = [sys.executable, "-c", _FIRST_RECALL, url, agent]
    environment = {**os.environ, "LONGMIND_VIEW_SNAPSHOTS": str(snapshots).lower()}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    measured: list[float] = json.loads(done.stdout)
    return measured
