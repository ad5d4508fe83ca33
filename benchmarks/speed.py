"""The cost of adding and recalling: CPU milliseconds without embedding, and wall time with everything included."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from benchmarks.cases import Case
from benchmarks.embedders import CachingEmbedder
from benchmarks.quality import Figure, Progress, load
from longmind.memory import AgentMemory, Longmind

WARM_UP, SINGLE = 20, 300
QUERIES = 200


def cpu_ms(began: float, times: int) -> float:
    """Return the CPU milliseconds of this process since ``began``, divided by the number of calls."""
    return round(1_000 * (time.process_time() - began) / max(times, 1), 3)


def import_seconds() -> float:
    """Return how long a fresh interpreter takes to import longmind: the best of five, less its own start."""

    def shortest(code: str) -> float:
        durations = []
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            durations.append(time.perf_counter() - began)
        return min(durations)

    return round(max(0.0, shortest("import longmind") - shortest("pass")), 3)


async def run(rc: Longmind, embedder: CachingEmbedder, cases: Sequence[Case], progress: Progress) -> list[Figure]:
    """Add the cases, each as one agent's memory, and ask their questions."""
    figures: list[Figure] = [("import longmind", import_seconds(), "s")]
    await embedder.embed([item.text for case in cases for item in case.items])
    progress(0.2)
    figures.append(await _single_add(rc, cases[0]))
    began, count = time.process_time(), sum(len(case.items) for case in cases)
    agents = [(case, await load(rc, "speed", case)) for case in cases]
    figures.append(("batch add, CPU", cpu_ms(began, count), "ms each"))
    progress(0.5)
    return figures + await _recalls(rc, embedder, agents, progress)


async def _single_add(rc: Longmind, case: Case) -> Figure:
    """Add one message at a time. The first adds of the process, which load modules, are not measured."""
    mem = rc.agent("speed single")
    began = 0.0
    for number, item in enumerate(case.items[: WARM_UP + SINGLE]):
        if number == WARM_UP:
            began = time.process_time()
        await mem.remember({"role": item.role, "content": item.text}, session=item.session)
    return "single add, CPU", cpu_ms(began, len(case.items[WARM_UP : WARM_UP + SINGLE])), "ms"


async def _recalls(
    rc: Longmind, embedder: CachingEmbedder, agents: Sequence[tuple[Case, AgentMemory]], progress: Progress
) -> list[Figure]:
    queries = [(mem, q.text) for case, mem in agents for q in case.questions[: max(1, QUERIES // len(agents))]]
    await embedder.embed([text for _, text in queries])
    for mem, text in queries:
        await mem.recall(text, k=10)
    recaller = await rc.recaller()
    await recaller.flush()
    progress(0.7)
    began = time.process_time()
    for mem, text in queries:
        await mem.recall(text, k=10)
    await recaller.flush()
    figures: list[Figure] = [("hybrid search without embedding, CPU", cpu_ms(began, len(queries)), "ms")]
    progress(0.8)
    stages, walls = await _by_stage(rc, embedder, queries)
    figures.append(("recall, everything included, p50", _median(walls), "ms"))
    figures.append(("recall, everything included, p95", _percentile(walls, 95), "ms"))
    figures += [(f"stage {name}, p50", _median(durations), "ms") for name, durations in stages.items()]
    progress(1.0)
    return figures


async def _by_stage(
    rc: Longmind, embedder: CachingEmbedder, queries: Sequence[tuple[AgentMemory, str]]
) -> tuple[dict[str, list[float]], list[float]]:
    """Return the wall seconds of each stage and of the whole recall, with the real embedder."""
    recaller = await rc.recaller()
    stages: dict[str, list[float]] = defaultdict(list)
    last = 0.0

    def watch(stage: str) -> None:
        nonlocal last
        now = time.perf_counter()
        stages[stage].append(now - last)
        last = time.perf_counter()

    walls = []
    before: Callable[[str], None] = recaller.watch
    embedder.enabled = False
    recaller.watch = watch
    try:
        for mem, text in queries:
            began = last = time.perf_counter()
            await mem.recall(text, k=10)
            walls.append(time.perf_counter() - began)
    finally:
        recaller.watch = before
        embedder.enabled = True
    await recaller.flush()
    return stages, walls


def _median(seconds: Sequence[float]) -> float:
    return round(1_000 * statistics.median(seconds), 3)


def _percentile(seconds: Sequence[float], percent: int) -> float:
    return round(1_000 * sorted(seconds)[min(len(seconds) - 1, len(seconds) * percent // 100)], 3)
