"""The cost of recall at scale: many agents in one store, and one agent with very many memories.

Texts are random words, whose frequencies fall with their rank as in a language. Vectors follow from the words, so that
nearness is meaningful and cheap. The same seed gives the same texts.
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

from benchmarks.embedders import WordHashEmbedder
from benchmarks.quality import Figure, Progress
from benchmarks.speed import cpu_ms
from longmind.memory import AgentMemory, Longmind
from longmind.types import Scope

VOCABULARY = 30_000
BATCH = 1_000
QUERIES = 50
NEAREST = 10


def texts(count: int, seed: int = 1) -> Iterator[str]:
    """Yield sentences of 6 to 24 random words; the frequency of a word falls with its rank."""
    chance = random.Random(seed)
    names = ["".join(chance.choices("abcdefghijklmnoprstuvz", k=chance.randint(4, 9))) for _ in range(VOCABULARY)]
    weights = np.cumsum(1 / np.arange(10, VOCABULARY + 10)).tolist()
    for _ in range(count):
        yield " ".join(chance.choices(names, cum_weights=weights, k=chance.randint(6, 24)))


def resident_mb() -> float:
    """Return the megabytes of memory this process holds now."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return round(int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 2**20, 1)
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 1)


async def many_agents(longmind: Longmind, agents: int, memories: int, progress: Progress) -> list[Figure]:
    """Measure adding, searching and resident memory for one store with many agents."""
    generated = texts(memories)
    each = memories // agents
    queries: list[tuple[AgentMemory, str]] = []
    spent = 0.0
    for number in range(agents):
        mem = longmind.agent(f"agent {number}")
        sentences = [next(generated) for _ in range(each)]
        began = time.process_time()
        await _add(mem, sentences)
        spent += time.process_time() - began
        queries.append((mem, " ".join(sentences[each // 2].split()[:6])))
        progress(0.9 * (number + 1) / agents)
    figures: list[Figure] = [("batch add with made-up vectors, CPU", round(1_000 * spent / memories, 3), "ms each")]
    for mem, text in queries:
        await mem.recall(text, k=NEAREST)
    recaller = await longmind.recaller()
    await recaller.flush()
    began = time.process_time()
    for mem, text in queries:
        await mem.recall(text, k=NEAREST)
    await recaller.flush()
    figures.append((f"hybrid search in {memories:,} memories of {agents} agents, CPU", cpu_ms(began, agents), "ms"))
    figures.append(("resident memory", resident_mb(), "MB"))
    progress(1.0)
    return figures


async def one_agent(longmind: Longmind, memories: int, progress: Progress) -> list[Figure]:
    """Measure one agent with very many memories: search time, and the share of the exact nearest that is found."""
    mem, chance, began = longmind.agent("one"), random.Random(2), time.perf_counter()
    queries: list[str] = []
    batch: list[str] = []
    for number, text in enumerate(texts(memories)):
        batch.append(text)
        if chance.random() < 4 * QUERIES / memories and len(queries) < QUERIES:
            queries.append(" ".join(chance.sample(text.split(), min(8, len(text.split())))))
        if len(batch) == BATCH or number == memories - 1:
            await _add(mem, batch, number)
            batch = []
            progress(0.8 * (number + 1) / memories)
    figures: list[Figure] = [("filling", round(time.perf_counter() - began, 1), "s")]
    began = time.perf_counter()
    await mem.recall(queries[0], k=NEAREST)
    figures.append(("first recall, which loads the scope", round(time.perf_counter() - began, 2), "s"))
    progress(0.9)
    figures += await _searches(longmind, mem.scope, mem, queries)
    figures.append(("resident memory", resident_mb(), "MB"))
    progress(1.0)
    return figures


async def _searches(longmind: Longmind, scope: Scope, mem: AgentMemory, queries: Sequence[str]) -> list[Figure]:
    embedder = WordHashEmbedder()
    vectors = await embedder.embed(list(queries))
    by_words, by_vector, recall = _Timer("search by words"), _Timer("search by vector"), _Timer("recall")
    nearest = []
    for text, vector in zip(queries, vectors, strict=True):
        with by_words:
            await longmind.store.search_text(scope, text, k=NEAREST)
        with by_vector:
            scored = await longmind.store.search_vector(scope, vector, k=NEAREST)
        nearest.append({candidate.id for candidate in scored})
        with recall:
            await mem.recall(text, k=NEAREST)
    exact = await _exact(longmind, scope, vectors)
    shares = [len(some & every) / NEAREST for some, every in zip(nearest, exact, strict=True)]
    return [
        *(figure for timer in (by_words, by_vector, recall) for figure in timer.figures()),
        (f"search by vector, share of the exact {NEAREST}", round(statistics.mean(shares), 4), ""),
    ]


class _Timer:
    """Collects wall time and CPU time of each use as a context manager."""

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


async def _exact(longmind: Longmind, scope: Scope, queries: NDArray[np.float32]) -> list[set[str]]:
    """Return the nearest memories of each query by comparing it with every stored vector."""
    best: list[list[tuple[float, str]]] = [[] for _ in queries]
    async for feed in longmind.store.backend.feed(scope, 0):
        rows = [row for row in feed.rows if row.vector is not None]
        if not rows:
            continue
        block = np.frombuffer(b"".join(row.vector or b"" for row in rows), "<f2").reshape(len(rows), -1)
        scores = queries @ block.astype(np.float32).T
        for number, line in enumerate(scores):
            top = np.argsort(-line)[:NEAREST]
            best[number] = sorted([*best[number], *((float(line[i]), rows[i].id) for i in top)], reverse=True)[:NEAREST]
    return [{id for _, id in nearest} for nearest in best]


async def _add(mem: AgentMemory, sentences: Sequence[str], first: int = 0) -> None:
    """Remember sentences in batches, each as one session."""
    for start in range(0, len(sentences), BATCH):
        await mem.remember(list(sentences[start : start + BATCH]), session=f"session {first + start}")
