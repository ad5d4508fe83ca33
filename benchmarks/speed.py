"""What adding and recalling cost a user, in CPU milliseconds of the whole process, its threads included.

Each call is followed by a turn of the event loop, as in a program that does other things too. So what runs in the
background, such as the counting of reads, is measured with the calls that cause it. Each figure is the best of several
rounds: other programs on the machine can only make a round slower. Embedding is not measured, except in the figures by
the clock, since every vector is made beforehand.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.cases import Case, Item
from benchmarks.embedders import CachingEmbedder
from benchmarks.quality import Figure, Progress, load
from longmind.memory import AgentMemory, Longmind

WARM_UP, SINGLE = 20, 300
QUERIES = 200
ROUNDS = 5

Queries = Sequence[tuple[AgentMemory, str]]


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


async def run(
    longmind: Longmind, embedder: CachingEmbedder, cases: Sequence[Case], progress: Progress, rounds: int = ROUNDS
) -> list[Figure]:
    """Add the cases, each as one agent's memory, and ask their questions."""
    figures: list[Figure] = [("import longmind", import_seconds(), "s")]
    await embedder.embed([item.text for case in cases for item in case.items])
    progress(0.1)
    figures.append(("single add, CPU", await _single_add(longmind, cases[0].items, rounds), "ms"))
    progress(0.2)
    spent, agents = [], list[tuple[Case, AgentMemory]]()
    for number in range(rounds):
        began = time.process_time()
        agents = [(case, await load(longmind, f"speed {number}", case)) for case in cases]
        spent.append(cpu_ms(began, sum(len(case.items) for case in cases)))
    figures.append(("batch add, CPU", min(spent), "ms each"))
    progress(0.5)
    return figures + await _recalls(longmind, embedder, agents, progress, rounds)


async def recall_ms(longmind: Longmind, queries: Queries, rounds: int = ROUNDS) -> float:
    """Return the CPU milliseconds of one recall, with the counting of reads. The first round is not measured."""
    recaller = await longmind.recaller()
    spent = []
    for _ in range(rounds + 1):
        began = time.process_time()
        for mem, text in queries:
            await mem.recall(text, k=10)
            await asyncio.sleep(0)
        await recaller.flush()
        spent.append(cpu_ms(began, len(queries)))
    return min(spent[1:])


def tenants(data: Path, embedder: str, count: int) -> list[Figure]:
    """Return the cost of recall in a store of many tenants, measured in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.tenants", str(data), embedder, str(count)]
    return [tuple(row) for row in json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)]


async def _single_add(longmind: Longmind, items: Sequence[Item], rounds: int) -> float:
    """Add one message at a time. The first adds of the process, which load modules, are not measured."""
    spent = []
    for number in range(rounds):
        mem = longmind.agent(f"speed single {number}")
        for item in items[:WARM_UP]:
            await _add(mem, item)
        measured = items[WARM_UP : WARM_UP + SINGLE]
        began = time.process_time()
        for item in measured:
            await _add(mem, item)
            await asyncio.sleep(0)
        spent.append(cpu_ms(began, len(measured)))
    return min(spent)


async def _add(mem: AgentMemory, item: Item) -> None:
    await mem.remember({"role": item.role, "content": item.text}, session=item.session)


async def _recalls(
    longmind: Longmind,
    embedder: CachingEmbedder,
    agents: Sequence[tuple[Case, AgentMemory]],
    progress: Progress,
    rounds: int,
) -> list[Figure]:
    queries = [(mem, q.text) for case, mem in agents for q in case.questions[: max(1, QUERIES // len(agents))]]
    await embedder.embed([text for _, text in queries])
    figures: list[Figure] = [("recall, CPU", await recall_ms(longmind, queries, rounds), "ms")]
    progress(0.7)
    recaller = await longmind.recaller()
    stages, walls = await _by_stage(longmind, embedder, queries)
    await recaller.flush()
    figures.append(("add then recall, CPU", await _add_then_recall(longmind, agents, queries, rounds), "ms"))
    figures.append(("recall, everything included, p50", _median(walls), "ms"))
    figures.append(("recall, everything included, p95", _percentile(walls, 95), "ms"))
    figures += [(f"stage {name}, p50", _median(durations), "ms") for name, durations in stages.items()]
    progress(0.9)
    return figures


async def _add_then_recall(
    longmind: Longmind, agents: Sequence[tuple[Case, AgentMemory]], queries: Queries, rounds: int
) -> float:
    """Return the CPU milliseconds of one add and the recall that follows it. The adds make the agents a little larger.

    What is added to an agent is another's, in a session of its own, so that nothing is there already.
    """
    recaller = await longmind.recaller()
    said = iter([item for case, _ in [*agents[1:], agents[0]] for item in case.items] * (rounds + 1))
    spent = []
    for number in range(rounds):
        added = list(islice(said, len(queries)))
        began = time.process_time()
        for (mem, text), item in zip(queries, added, strict=False):
            await mem.remember({"role": item.role, "content": item.text}, session=f"added {number}")
            await mem.recall(text, k=10)
            await asyncio.sleep(0)
        await recaller.flush()
        spent.append(cpu_ms(began, len(added)))
    return min(spent)


async def _by_stage(
    longmind: Longmind, embedder: CachingEmbedder, queries: Queries
) -> tuple[dict[str, list[float]], list[float]]:
    """Return the wall seconds of each stage and of the whole recall, with the real embedder."""
    recaller = await longmind.recaller()
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
            await asyncio.sleep(0)
    finally:
        recaller.watch = before
        embedder.enabled = True
    return stages, walls


async def faces(folder: Path, embedder: CachingEmbedder, case: Case, rounds: int = ROUNDS) -> list[Figure]:
    """Return how much dearer a recall and an add are through the blocking face than through the asynchronous one.

    The two take turns on stores with the same content, so that what else the machine does meets both alike.
    """
    from longmind.sync import Longmind as Blocking

    questions = [question.text for question in case.questions[:QUERIES]]
    await embedder.embed([*questions, *(item.text for item in case.items)])
    spent: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)

    async def asynchronous(number: int) -> None:
        async with Longmind.open(str(folder / f"asynchronous {number}.db"), embedder=embedder) as longmind:
            mem = longmind.agent("speed")

            async def add(item: Item) -> None:
                await _add(mem, item)

            async def recall(text: str) -> None:
                await mem.recall(text, k=10)

            await add(case.items[0])
            spent["add", "asynchronous"].append(await _each(add, case.items[1:SINGLE]))
            await recall(questions[0])
            spent["recall", "asynchronous"].append(await _each(recall, questions))

    def blocking(number: int) -> None:
        with Blocking.open(str(folder / f"blocking {number}.db"), embedder=embedder) as longmind:
            mem = longmind.agent("speed")

            def add(item: Item) -> None:
                mem.remember({"role": item.role, "content": item.text}, session=item.session)

            add(case.items[0])
            began = _now()
            for item in case.items[1:SINGLE]:
                add(item)
            spent["add", "blocking"].append(_since(began, len(case.items[1:SINGLE])))
            mem.recall(questions[0], k=10)
            began = _now()
            for text in questions:
                mem.recall(text, k=10)
            spent["recall", "blocking"].append(_since(began, len(questions)))

    for number in range(rounds):
        await asynchronous(number)
        await asyncio.to_thread(blocking, number)
    figures: list[Figure] = []
    for what in ("add", "recall"):
        for place, unit in enumerate(("CPU", "clock")):
            best = {face: min(each[place] for each in spent[what, face]) for face in ("asynchronous", "blocking")}
            dearer = round(best["blocking"] - best["asynchronous"], 3)
            figures.append((f"{what}, blocking less asynchronous, {unit}", dearer, "ms"))
    return figures


async def _each(call: Callable[..., Awaitable[None]], arguments: Sequence[object]) -> tuple[float, float]:
    began = _now()
    for argument in arguments:
        await call(argument)
        await asyncio.sleep(0)
    return _since(began, len(arguments))


def _now() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def _since(began: tuple[float, float], times: int) -> tuple[float, float]:
    """Return the milliseconds of each call since then: CPU, and by the clock."""
    cpu, clock = (1_000 * (end - start) / max(times, 1) for end, start in zip(_now(), began, strict=True))
    return cpu, clock


def _median(seconds: Sequence[float]) -> float:
    return round(1_000 * statistics.median(seconds), 3)


def _percentile(seconds: Sequence[float], percent: int) -> float:
    return round(1_000 * sorted(seconds)[min(len(seconds) - 1, len(seconds) * percent // 100)], 3)
