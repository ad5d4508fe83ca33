"""FactConsolidation, multi-hop: whether the statement that answers is recalled, over others that lead to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks import facts
from benchmarks.cases import Case, Question
from benchmarks.quality import DEPTHS, EvaluationSet, Scores
from longmind.memory import AgentMemory
from longmind.text.analysis import fold


def cases(folder: Path) -> Iterator[Case]:
    """Read the lists with multi-hop questions."""
    return facts.cases(folder, "mh")


async def score(mem: AgentMemory, case: Case, question: Question) -> Scores:
    """Look for the answer in the first 5, 10 and 20 hits."""
    contents = [fold(hit.memory.content) for hit in await mem.recall(question.text, k=DEPTHS[-1])]
    answers = [fold(answer) for answer in question.answers]
    return {f"hit@{k}": float(any(a in content for a in answers for content in contents[:k])) for k in DEPTHS}


SET = EvaluationSet(
    "hops", "FactConsolidation, multi-hop: the answer among the hits", cases, score, "hit@10", facts.groups
)
