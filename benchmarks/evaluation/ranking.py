"""How the evidence, outdated turns and unanswerable questions of the evaluation set rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.cases import Case, Question
from benchmarks.quality import Figure, Progress, Scores, percent, recalled_labels, share
from longmind.memory import AgentMemory, Longmind

NAME = "evaluation"
DEPTH = 20
"""How many hits are looked at."""


async def score(mem: AgentMemory, case: Case, question: Question) -> Scores:
    """Score the evidence among the first 5 and 10 hits, and the reciprocal rank of the first evidence."""
    labels = await recalled_labels(mem, await mem.recall(question.text, k=DEPTH))
    rank = _first(labels, question.evidence)
    return {
        "R@5": share(labels[:5], question.evidence),
        "R@10": share(labels[:10], question.evidence),
        "MRR": 0.0 if rank is None else 1 / (rank + 1),
    }


def groups(question: Question) -> list[str]:
    """All questions and the question's type; a question without evidence has nothing to recall."""
    return ["all", question.category] if question.evidence else []


def _first(labels: Sequence[str], wanted: frozenset[str]) -> int | None:
    return next((place for place, label in enumerate(labels) if label in wanted), None)


@dataclass(frozen=True, slots=True)
class RankingFigures:
    """How often outdated turns and unanswerable questions rank as they should."""

    changed: int
    """Questions about facts that changed in the course of the conversation."""
    changed_right: int
    """Those whose evidence ranks above every outdated turn."""
    pairs: int
    """Pairs of an answerable and an unanswerable question."""
    pairs_right: float
    """Those in which the top score of the answerable question is higher; equal scores count half."""

    def rows(self) -> list[Figure]:
        """Return the figures as rows of name, value and unit."""
        changed, pairs = percent(self.changed_right, self.changed), percent(self.pairs_right, self.pairs)
        return [
            ("changed facts whose newest turn ranks above every outdated one", changed, "%"),
            ("top score of an answerable question above that of an unanswerable one", pairs, "%"),
        ]


async def measure(longmind: Longmind, cases: Sequence[Case], progress: Progress) -> RankingFigures:
    """Measure changed facts and unanswerable questions on cases that `quality.run` has loaded already."""
    changed = right = 0
    top_scores: dict[bool, list[float]] = {True: [], False: []}
    for number, case in enumerate(cases, 1):
        mem = longmind.agent(f"{NAME} {case.name}")
        for question in case.questions:
            hits = await mem.recall(question.text, k=DEPTH)
            top_scores[bool(question.evidence)].append(hits[0].score if hits else 0.0)
            if question.stale:
                labels = await recalled_labels(mem, hits)
                newest, outdated = _first(labels, question.evidence), _first(labels, question.stale)
                changed += 1
                right += newest is not None and (outdated is None or newest < outdated)
        progress(number / len(cases))
    compared = [(yes > no) + (yes == no) / 2 for yes in top_scores[True] for no in top_scores[False]]
    return RankingFigures(changed, right, len(compared), sum(compared))
