"""How much of the evidence recall finds: the evaluation sets, asked through the public face."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longmind.bench import datasets
from longmind.bench.datasets import Case, Item, Question
from longmind.memory import AgentMemory, Longmind
from longmind.recall.folding import drawn_from
from longmind.text.analysis import fold
from longmind.types import Hit

TURNS = (5, 10, 20)
SESSION_DEPTH = 200
"""Turns recalled to rank sessions by the best of their turns."""
NOT_IN_1_TO_4 = datasets.LOCOMO_CATEGORIES[5]

Progress = Callable[[float], None]
Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the outcome: a category, in one half of the set or in all of it."""

    half: str
    category: str
    questions: int
    scores: dict[str, float]


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """A set: where it comes from, and how the answer to one of its questions is scored."""

    name: str
    title: str
    cases: Callable[[Path], Iterator[Case]]
    score: Callable[[AgentMemory, Case, Question], Any]
    main: str
    """The figure that counts."""


async def load(rc: Longmind, prefix: str, case: Case) -> AgentMemory:
    """Remember a case as one agent's memory, in order; what the agent holds already is left as it is."""
    mem = rc.agent(f"{prefix} {case.name}")
    for session, run in itertools.groupby(case.items, key=lambda item: item.session):
        await mem.remember([_message(item) for item in run], session=session)
    return mem


def _message(item: Item) -> dict[str, Any]:
    told: dict[str, Any] = {"role": item.role, "content": item.text, "metadata": {"label": item.label}}
    if item.speaker:
        told["name"] = item.speaker
    if item.occurred_at:
        told["occurred_at"] = item.occurred_at
    return told


async def run(
    rc: Longmind, chosen: EvaluationSet, cases: Sequence[Case], progress: Progress, *, consolidated: bool = False
) -> list[Line]:
    """Remember every case, ask every question, and average by category and half.

    With ``consolidated`` each case goes through the consolidation cycle before it is asked. Reads are not counted: what
    one question finds must not be warmer for the next.
    """
    (await rc.recaller()).counts_reads = False
    found: dict[tuple[str, str], list[Scores]] = defaultdict(list)
    whole = sum(len(case.items) // 100 + len(case.questions) for case in cases)
    done = 0.0
    for case in cases:
        mem = await load(rc, chosen.name, case)
        if consolidated:
            await mem.consolidate()
        done += len(case.items) // 100
        for question in case.questions:
            scores = await chosen.score(mem, case, question)
            half = "tuned" if case.tuned else "untouched"
            for category in _categories(chosen, question):
                found["all", category].append(scores)
                found[half, category].append(scores)
            done += 1
            progress(done / max(whole, 1))
    return [Line(half, category, len(all_), _mean(all_)) for (half, category), all_ in sorted(found.items())]


def _categories(chosen: EvaluationSet, question: Question) -> list[str]:
    if chosen.name == "facts":
        return [question.category, "both sizes"]
    more = ["all"] if chosen.name != "locomo" or question.category == NOT_IN_1_TO_4 else ["all", "1 to 4"]
    return more if question.category == "specific" else [*more, question.category]


def _mean(scores: Sequence[Scores]) -> dict[str, float]:
    return {name: round(100 * sum(s[name] for s in scores) / len(scores), 2) for name in scores[0]}


async def labels(mem: AgentMemory, hits: Sequence[Hit]) -> list[str]:
    """The labels of what was recalled, in order. A fact has the label of the memory it was first drawn from; what was
    made of many has none, and takes its place for nothing."""
    drawn = {hit.memory.id: next(drawn_from(hit.memory), None) for hit in hits}
    sources = {m.id: m for m in await mem.store.get_all(mem.scope, [id for id in drawn.values() if id])}
    told = [sources.get(drawn.get(hit.memory.id) or "", hit.memory) for hit in hits]
    return [str(memory.metadata.get("label", "")) for memory in told]


def share(found: Sequence[str], gold: frozenset[str]) -> float:
    """How much of the gold is among what was found."""
    return len(gold.intersection(found)) / len(gold)


async def _evidence(mem: AgentMemory, case: Case, question: Question) -> Scores:
    found = await labels(mem, await mem.recall(question.text, k=TURNS[-1]))
    return {f"R@{k}": share(found[:k], question.gold) for k in TURNS}


async def _locomo(mem: AgentMemory, case: Case, question: Question) -> Scores:
    turns = await _evidence(mem, case, question)
    hits = await mem.recall(question.text, k=SESSION_DEPTH)
    sessions = list(dict.fromkeys(label.partition(":")[0] for label in await labels(mem, hits) if label))
    gold = frozenset(label.partition(":")[0] for label in question.gold)
    return {**turns, "sessions R@5": share(sessions[:5], gold), "sessions R@10": share(sessions[:10], gold)}


async def _spans(mem: AgentMemory, case: Case, question: Question) -> Scores:
    found = await labels(mem, await mem.recall(question.text, k=TURNS[-1]))
    return {f"hit@{k}": float(not question.gold.isdisjoint(found[:k])) for k in TURNS}


async def _newest(mem: AgentMemory, case: Case, question: Question) -> Scores:
    hits = await mem.recall(question.text, k=5)
    said = [fold(hit.memory.content) for hit in hits]
    answers = [fold(answer) for answer in question.answers]
    return {f"top {k}": float(any(a in text for a in answers for text in said[:k])) for k in (1, 5)}


def _single_hop(folder: Path) -> Iterator[Case]:
    return (case for case in datasets.facts(folder) if case.name.startswith("sh_"))


SETS: dict[str, EvaluationSet] = {
    chosen.name: chosen
    for chosen in (
        EvaluationSet("locomo", "LoCoMo: evidence recall, turns and sessions", datasets.locomo, _locomo, "R@10"),
        EvaluationSet("beam", "BEAM 100K: evidence recall, messages", datasets.beam, _evidence, "R@10"),
        EvaluationSet("facts", "FactConsolidation, single hop: the newest value", _single_hop, _newest, "top 1"),
        EvaluationSet("qmsum", "QMSum: a turn of the relevant span", datasets.qmsum, _spans, "hit@10"),
    )
}


def as_json(lines: Sequence[Line]) -> list[dict[str, Any]]:
    return [asdict(line) for line in lines]
