"""Recall in a store of many tenants: ``python -m benchmarks.tenants FOLDER EMBEDDER TENANTS`` prints its figures.

It is a process of its own, so that the memory it holds is that of a program that uses such a store and nothing else.
Each tenant holds a thousand turns of the LoCoMo conversations, in their order, as one session.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import locomo
from benchmarks.embedders import CachingEmbedder
from benchmarks.quality import Figure
from benchmarks.scale import resident_mb
from benchmarks.speed import cpu_ms, recall_ms
from longmind.memory import AgentMemory, Longmind
from longmind.models.embed_open import open_embedder

EACH = 1_000
"""Memories of a tenant."""
ASKED = 2
"""Questions to each tenant in a round."""


async def measure(data: Path, embedder: str, tenants: int) -> list[Figure]:
    """Fill a store and ask every tenant."""
    caching = CachingEmbedder(open_embedder(embedder))
    with tempfile.TemporaryDirectory(prefix="longmind-bench-") as folder:
        async with Longmind.open(str(Path(folder) / "tenants.db"), embedder=caching) as longmind:
            queries, spent = await _fill(longmind, caching, data, tenants)
            for _, text in queries:
                await caching.embed([text])
            recall = await recall_ms(longmind, queries)
            return [
                ("batch add of 1,000, CPU", spent, "ms each"),
                (f"recall among {tenants * EACH:,} memories of {tenants} tenants, CPU", recall, "ms"),
                (f"resident memory, {tenants} tenants", resident_mb(), "MB"),
            ]


async def _fill(
    longmind: Longmind, caching: CachingEmbedder, data: Path, tenants: int
) -> tuple[list[tuple[AgentMemory, str]], float]:
    """Fill a store. Return questions to each tenant, and the CPU milliseconds of each memory."""
    cases = list(locomo.cases(data))
    items = [item for case in cases for item in case.items]
    await caching.embed([item.text for item in items])
    said, asked = itertools.cycle(items), itertools.cycle([q.text for case in cases for q in case.questions])
    queries: list[tuple[AgentMemory, str]] = []
    spent = 0.0
    for number in range(tenants):
        mem = longmind.agent("agent", tenant=f"tenant {number}")
        turns = [
            {"role": item.role, "content": item.text, "name": item.speaker, "occurred_at": item.occurred_at}
            for item in itertools.islice(said, EACH)
        ]
        began = time.process_time()
        await mem.remember(turns, session="conversation")
        spent += cpu_ms(began, 1)
        queries += [(mem, next(asked)) for _ in range(ASKED)]
    caching.clear()
    return queries, round(spent / (tenants * EACH), 3)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(measure(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))))
