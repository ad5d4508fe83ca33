"""How much of the evidence recall finds: evaluation sets, asked through the public face."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.cases import Case, Item, Question
from longmind.memory import AgentMemory, Longmind
from longmind.recall.folding import evidence_ids
from longmind.types import Hit

DEPTHS = (5, 10, 20)
"""How many of the first hits count."""

Progress = Callable[[float], None]
Scores = Mapping[str, float]
Figure = tuple[str, float, str]
"""A figure beside the rows by category: its name, value and unit."""


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the result: a category, in one half of the set or in all of it."""

    half: str
    category: str
    questions: int
    scores: dict[str, float]


def by_category(question: Question) -> list[str]:
    """All questions, and the question's category."""
    return ["all", question.category]


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """An evaluation set: how it is read, and how the hits of one question are scored."""

    name: str
    title: str
    cases: Callable[[Path], Iterator[Case]]
    score: Callable[[AgentMemory, Case, Question], Awaitable[Scores]]
    main_score: str
    """The score that is drawn in the chart."""
    groups: Callable[[Question], list[str]] = by_category
    """The rows of the result that a question counts in; a question that counts in none is not scored."""
    figures: Callable[[Longmind, Sequence[Case], Progress], Awaitable[list[Figure]]] | None = None
    """Measures what does not fit into rows, after `run` has loaded the cases."""


async def load(longmind: Longmind, prefix: str, case: Case) -> AgentMemory:
    """Remember a case as one agent's memory, in order, and return that memory."""
    mem = longmind.agent(f"{prefix} {case.name}")
    for session, items in itertools.groupby(case.items, key=lambda item: item.session):
        await mem.remember([to_message(item) for item in items], session=session)
    return mem


def to_message(item: Item) -> dict[str, Any]:
    """Return an item as a message to remember, with its label in the metadata."""
    message: dict[str, Any] = {"role": item.role, "content": item.text, "metadata": {"label": item.label}}
    if item.speaker:
        message["name"] = item.speaker
    if item.occurred_at:
        message["occurred_at"] = item.occurred_at
    return message


class ReadingAhead:
    """Lets the reranker read each case before it is asked, as a process of its own would, and adds up what that costs.

    What was read of the case before is let go of, so that there is room for every case.
    """

    def __init__(self) -> None:
        self._messages, self._seconds = 0, 0.0

    async def read(self, longmind: Longmind, mem: AgentMemory, case: Case) -> None:
        """Wait until what was remembered of a case has been read."""
        recaller = await longmind.recaller()
        await recaller.forget_texts()
        began = time.process_time()
        await recaller.read_ahead(mem.scope)
        self._seconds += time.process_time() - began
        self._messages += len(case.items)

    def figures(self) -> list[Figure]:
        """Return the CPU time of reading ahead."""
        return [("reading ahead, CPU", round(1_000 * self._seconds / max(self._messages, 1), 2), "ms each message")]


async def run(
    longmind: Longmind,
    evaluation_set: EvaluationSet,
    cases: Sequence[Case],
    progress: Progress,
    *,
    consolidated: bool = False,
    ahead: ReadingAhead | None = None,
) -> list[Line]:
    """Remember every case, ask every question, and average the scores by category and half.

    With ``consolidated`` each case goes through the consolidation cycle before it is asked, and with ``ahead`` it is
    read by the reranker. Reads are not counted, so that one question does not change the ranking of the next.
    """
    (await longmind.recaller()).counts_reads = False
    results: dict[tuple[str, str], list[Scores]] = defaultdict(list)
    total = sum(len(case.items) // 100 + len(case.questions) for case in cases)
    done = 0.0
    for case in cases:
        mem = await load(longmind, evaluation_set.name, case)
        if consolidated:
            await mem.consolidate()
        if ahead is not None:
            await ahead.read(longmind, mem, case)
        done += len(case.items) // 100
        for question in case.questions:
            categories = evaluation_set.groups(question)
            scores = await evaluation_set.score(mem, case, question) if categories else {}
            half = "tuned" if case.tuned else "untouched"
            for category in categories:
                results["all", category].append(scores)
                results[half, category].append(scores)
            done += 1
            progress(done / max(total, 1))
    return [Line(half, category, len(scores), _mean(scores)) for (half, category), scores in sorted(results.items())]


def _mean(scores: Sequence[Scores]) -> dict[str, float]:
    return {name: round(100 * sum(s[name] for s in scores) / len(scores), 2) for name in scores[0]}


async def recalled_labels(mem: AgentMemory, hits: Sequence[Hit]) -> list[str]:
    """Return the labels of the hits, in order.

    A fact has the label of the memory it was first drawn from. What was made of many memories has no label, but keeps
    its place.
    """
    drawn = {hit.memory.id: next(evidence_ids(hit.memory), None) for hit in hits}
    sources = {m.id: m for m in await mem.store.get_all(mem.scope, [id for id in drawn.values() if id])}
    labelled = [sources.get(drawn.get(hit.memory.id) or "", hit.memory) for hit in hits]
    return [str(memory.metadata.get("label", "")) for memory in labelled]


def share(labels: Sequence[str], evidence: frozenset[str]) -> float:
    """Return how much of the evidence is among the labels, from 0 to 1."""
    return len(evidence.intersection(labels)) / len(evidence)


def percent(part: float, whole: int) -> float:
    """Return a share in percent."""
    return round(100 * part / whole, 2) if whole else 0.0


async def score_evidence(mem: AgentMemory, case: Case, question: Question) -> Scores:
    """Score how much of the evidence is among the first 5, 10 and 20 hits."""
    labels = await recalled_labels(mem, await mem.recall(question.text, k=DEPTHS[-1]))
    return {f"R@{k}": share(labels[:k], question.evidence) for k in DEPTHS}


def as_json(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """Return the rows of a result as JSON."""
    return [asdict(line) for line in lines]
