"""What adding and recalling cost: CPU milliseconds with embedding left out, and wall time with everything in."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from longmind.bench.datasets import Case
from longmind.bench.quality import Progress, load
from longmind.bench.replay import Replay
from longmind.memory import AgentMemory, Longmind

Figure = tuple[str, float, str]
WARMING, SINGLE = 20, 300
ASKED = 200


def cpu_ms(began: float, times: int) -> float:
    """CPU milliseconds of this process since a moment, for each of so many calls."""
    return round(1_000 * (time.process_time() - began) / max(times, 1), 3)


def import_seconds() -> float:
    """The shortest of five times that a fresh interpreter takes to import longmind, less what it takes for nothing."""

    def shortest(code: str) -> float:
        taken = []
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            taken.append(time.perf_counter() - began)
        return min(taken)

    return round(max(0.0, shortest("import longmind") - shortest("pass")), 3)


async def run(rc: Longmind, replay: Replay, cases: Sequence[Case], progress: Progress) -> list[Figure]:
    """Add and ask the cases, each as one agent's memory."""
    figures: list[Figure] = [("import longmind", import_seconds(), "s")]
    await replay.embed([item.text for case in cases for item in case.items])
    progress(0.2)
    figures.append(await _single_add(rc, cases[0]))
    began, count = time.process_time(), sum(len(case.items) for case in cases)
    agents = [(case, await load(rc, "speed", case)) for case in cases]
    figures.append(("batch add, CPU", cpu_ms(began, count), "ms each"))
    progress(0.5)
    return figures + await _recalls(rc, replay, agents, progress)


async def _single_add(rc: Longmind, case: Case) -> Figure:
    """One message at a time. What only the first adds of a process do, such as loading modules, is left out."""
    mem = rc.agent("speed single")
    began = 0.0
    for number, item in enumerate(case.items[: WARMING + SINGLE]):
        if number == WARMING:
            began = time.process_time()
        await mem.remember({"role": item.role, "content": item.text}, session=item.session)
    return "single add, CPU", cpu_ms(began, len(case.items[WARMING : WARMING + SINGLE])), "ms"


async def _recalls(
    rc: Longmind, replay: Replay, agents: Sequence[tuple[Case, AgentMemory]], progress: Progress
) -> list[Figure]:
    asked = [(mem, q.text) for case, mem in agents for q in case.questions[: max(1, ASKED // len(agents))]]
    await replay.embed([text for _, text in asked])
    for mem, text in asked:
        await mem.recall(text, k=10)
    recaller = await rc.recaller()
    await recaller.flush()
    progress(0.7)
    began = time.process_time()
    for mem, text in asked:
        await mem.recall(text, k=10)
    await recaller.flush()
    figures: list[Figure] = [("hybrid search without embedding, CPU", cpu_ms(began, len(asked)), "ms")]
    progress(0.8)
    stages, walls = await _by_stage(rc, replay, asked)
    figures.append(("recall, everything included, p50", _median(walls), "ms"))
    figures.append(("recall, everything included, p95", _percentile(walls, 95), "ms"))
    figures += [(f"stage {name}, p50", _median(taken), "ms") for name, taken in stages.items()]
    progress(1.0)
    return figures


async def _by_stage(
    rc: Longmind, replay: Replay, asked: Sequence[tuple[AgentMemory, str]]
) -> tuple[dict[str, list[float]], list[float]]:
    """Wall seconds of each stage, and of the whole, with the real embedder."""
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
    replay.open()
    recaller.watch = watch
    try:
        for mem, text in asked:
            began = last = time.perf_counter()
            await mem.recall(text, k=10)
            walls.append(time.perf_counter() - began)
    finally:
        recaller.watch = before
        replay.shut()
    await recaller.flush()
    return stages, walls


def _median(seconds: Sequence[float]) -> float:
    return round(1_000 * statistics.median(seconds), 3)


def _percentile(seconds: Sequence[float], percent: int) -> float:
    return round(1_000 * sorted(seconds)[min(len(seconds) - 1, len(seconds) * percent // 100)], 3)
