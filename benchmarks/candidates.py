"""What the small reranker brings and costs by the number of candidates it compares.

Questions of LoCoMo are asked once so that every text is read and kept, and then again for each number of candidates,
with the CPU time of each stage of a recall. A first time each question is asked with the usual budget of a new process.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.cases import Case
from benchmarks.quality import Progress, load, recalled_labels, share
from longmind.memory import AgentMemory, Longmind
from longmind.models.kept_texts import KeptTexts
from longmind.models.rerank_small import SmallReranker
from longmind.recall.engine import Recaller

NUMBERS = (0, 10, 20, 30, 60)
"""How many candidates are compared; 0 is recall without a reranker."""
STAGES = {
    "before": ("plan", "embed", "view", "arms", "fuse"),
    "fetch": ("fetch", "links"),
    "rerank": ("rerank",),
    "after": ("hops", "ranking", "explain"),
}
HEAD = ("candidates", "questions", "R@5", "R@10", *(f"{stage}, ms" for stage in STAGES), "together, ms")
PLENTY_MS = 10_000.0


class Row(NamedTuple):
    """One number of candidates: how much of the evidence is found, and the CPU milliseconds of each stage."""

    candidates: str
    questions: int
    five: float
    ten: float
    stages: tuple[float, ...]

    @property
    def milliseconds(self) -> float:
        return sum(self.stages)

    def shown(self) -> list[str]:
        numbers = [f"{self.five:.1f}", f"{self.ten:.1f}", *(f"{ms:.2f}" for ms in self.stages)]
        return [self.candidates, str(self.questions), *numbers, f"{self.milliseconds:.2f}"]


async def measure(
    longmind: Longmind, cases: Sequence[Case], every: int, budget_ms: float, progress: Progress
) -> list[Row]:
    """Return a row for a new process, and for each number of candidates with all texts read."""
    recaller = await longmind.recaller()
    recaller.counts_reads = False
    memories = [await load(longmind, "candidates", case) for case in cases]
    kept = KeptTexts(1 << 30)
    runs = [("60, new process", SmallReranker(budget_ms, kept)), ("", SmallReranker(PLENTY_MS, kept))]
    runs += [(str(number), SmallReranker(PLENTY_MS, kept, number)) for number in NUMBERS]
    rows = []
    for done, (name, reranker) in enumerate(runs):
        recaller.reranker = reranker if name != "0" else None
        row = await _asked(recaller, list(zip(memories, cases, strict=True)), every, name)
        if name:
            rows.append(row)
        progress((done + 1) / len(runs))
    return rows


async def _asked(recaller: Recaller, asked: Sequence[tuple[AgentMemory, Case]], every: int, name: str) -> Row:
    spent: dict[str, float] = defaultdict(float)
    last = 0.0

    def watch(stage: str) -> None:
        nonlocal last
        now = time.process_time()
        spent[stage] += now - last
        last = now

    fives, tens = [], []
    recaller.watch = watch
    for mem, case in asked:
        for question in [question for question in case.questions if question.evidence][::every]:
            last = time.process_time()
            hits = await mem.recall(question.text, k=10)
            labels = await recalled_labels(mem, hits)
            fives.append(share(labels[:5], question.evidence))
            tens.append(share(labels[:10], question.evidence))
    count = len(fives)
    stages = tuple(1_000 * sum(spent[part] for part in parts) / count for parts in STAGES.values())
    return Row(name, count, 100 * sum(fives) / count, 100 * sum(tens) / count, stages)
