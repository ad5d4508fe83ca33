"""How recall does with much to remember: many agents in one store, and one agent with very many memories.

Texts are made up from a vocabulary whose words are as uneven as those of a language; vectors follow from the words, so
that nearness means something and costs nothing. The same seed makes the same texts.
"""

from __future__ import annotations

import random
import resource
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from longmind.bench.quality import Progress
from longmind.bench.replay import MadeUp
from longmind.bench.speed import Figure, cpu_ms
from longmind.memory import AgentMemory, Longmind
from longmind.types import Scope

VOCABULARY = 30_000
AT_ONCE = 1_000
ASKED = 50
NEAREST = 10


def texts(count: int, seed: int = 1) -> Iterator[str]:
    """Made-up sentences of 6 to 24 words; how often a word occurs falls with its rank, as in a language."""
    chance = random.Random(seed)
    names = ["".join(chance.choices("abcdefghijklmnoprstuvz", k=chance.randint(4, 9))) for _ in range(VOCABULARY)]
    weights = np.cumsum(1 / np.arange(10, VOCABULARY + 10)).tolist()
    for _ in range(count):
        yield " ".join(chance.choices(names, cum_weights=weights, k=chance.randint(6, 24)))


def resident_mb() -> float:
    """Megabytes of memory this process holds now."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return round(int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 2**20, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 1)


async def many_agents(rc: Longmind, agents: int, memories: int, progress: Progress) -> list[Figure]:
    """One store with many agents: what adding and asking cost, and how much memory is held."""
    made = texts(memories)
    each = memories // agents
    asked: list[tuple[AgentMemory, str]] = []
    spent = 0.0
    for number in range(agents):
        mem = rc.agent(f"agent {number}")
        said = [next(made) for _ in range(each)]
        began = time.process_time()
        await _add(mem, said)
        spent += time.process_time() - began
        asked.append((mem, " ".join(said[each // 2].split()[:6])))
        progress(0.9 * (number + 1) / agents)
    figures: list[Figure] = [("batch add with made-up vectors, CPU", round(1_000 * spent / memories, 3), "ms each")]
    for mem, text in asked:
        await mem.recall(text, k=NEAREST)
    recaller = await rc.recaller()
    await recaller.flush()
    began = time.process_time()
    for mem, text in asked:
        await mem.recall(text, k=NEAREST)
    await recaller.flush()
    figures.append((f"hybrid search in {memories:,} memories of {agents} agents, CPU", cpu_ms(began, agents), "ms"))
    figures.append(("resident memory", resident_mb(), "MB"))
    progress(1.0)
    return figures


async def one_agent(rc: Longmind, memories: int, progress: Progress) -> list[Figure]:
    """One agent with very many memories: how long a search takes, and how much of the exact answer it finds."""
    mem, chance, began = rc.agent("one"), random.Random(2), time.perf_counter()
    kept: list[str] = []
    part: list[str] = []
    for number, text in enumerate(texts(memories)):
        part.append(text)
        if chance.random() < 4 * ASKED / memories and len(kept) < ASKED:
            kept.append(" ".join(chance.sample(text.split(), min(8, len(text.split())))))
        if len(part) == AT_ONCE or number == memories - 1:
            await _add(mem, part, number)
            part = []
            progress(0.8 * (number + 1) / memories)
    figures: list[Figure] = [("filling", round(time.perf_counter() - began, 1), "s")]
    began = time.perf_counter()
    await mem.recall(kept[0], k=NEAREST)
    figures.append(("first recall, which loads the scope", round(time.perf_counter() - began, 2), "s"))
    progress(0.9)
    figures += await _asked(rc, mem.scope, mem, kept)
    figures.append(("resident memory", resident_mb(), "MB"))
    progress(1.0)
    return figures


async def _asked(rc: Longmind, scope: Scope, mem: AgentMemory, asked: Sequence[str]) -> list[Figure]:
    embedder = MadeUp()
    vectors = await embedder.embed(list(asked))
    words, near, whole = _Taken("search by words"), _Taken("search by vector"), _Taken("recall")
    found = []
    for text, vector in zip(asked, vectors, strict=True):
        with words:
            await rc.store.search_text(scope, text, k=NEAREST)
        with near:
            scored = await rc.store.search_vector(scope, vector, k=NEAREST)
        found.append({one.id for one in scored})
        with whole:
            await mem.recall(text, k=NEAREST)
    exact = await _exact(rc, scope, vectors)
    shares = [len(one & other) / NEAREST for one, other in zip(found, exact, strict=True)]
    return [
        *(figure for one in (words, near, whole) for figure in one.figures()),
        (f"search by vector, share of the exact {NEAREST}", round(statistics.mean(shares), 4), ""),
    ]


class _Taken:
    """How long something took, each time: by the clock, and of this process's CPUs, which other work does not stretch
    as much."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def __enter__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def __exit__(self, *raised: object) -> None:
        wall, cpu = self._began
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)

    def figures(self) -> list[Figure]:
        return [
            (f"{self.name}, p50", round(1_000 * statistics.median(self.wall), 2), "ms"),
            (f"{self.name}, CPU, p50", round(1_000 * statistics.median(self.cpu), 2), "ms"),
        ]


async def _exact(rc: Longmind, scope: Scope, asked: NDArray[np.float32]) -> list[set[str]]:
    """The nearest by comparing every vector the store holds, as it holds them."""
    best: list[list[tuple[float, str]]] = [[] for _ in asked]
    async for feed in rc.store.backend.feed(scope, 0):
        rows = [row for row in feed.rows if row.vector is not None]
        if not rows:
            continue
        block = np.frombuffer(b"".join(row.vector or b"" for row in rows), "<f2").reshape(len(rows), -1)
        scores = asked @ block.astype(np.float32).T
        for number, line in enumerate(scores):
            top = np.argsort(-line)[:NEAREST]
            best[number] = sorted([*best[number], *((float(line[i]), rows[i].id) for i in top)], reverse=True)[:NEAREST]
    return [{id for _, id in one} for one in best]


async def _add(mem: AgentMemory, said: Sequence[str], first: int = 0) -> None:
    """Remember texts in sessions of so many as are written together."""
    for start in range(0, len(said), AT_ONCE):
        await mem.remember(list(said[start : start + AT_ONCE]), session=f"session {first + start}")
