"""Whether the score of a hit is a chance: of hits with a score of 0.5 half should be right.

Questions of the evaluation sets are asked of their own conversation and, as many, of one that cannot answer them; with
the small reranker and without it. Nothing here is used for fitting.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.cases import Question
from benchmarks.quality import Progress, load, recalled_labels
from benchmarks.sets import SETS
from longmind.memory import AgentMemory, Longmind

NAMES = ("locomo", "beam", "qmsum")
BINS, HITS, SEED = 10, 10, 3
DRAWN = 20
"""A bin of fewer hits is not drawn: its share says nothing."""
HEAD = ("set", "reranker", "questions", "calibration error", "of the first hit", "with unanswerable ones", "AUROC")


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """The scores of a question's first hits, and which are right; none is if the memory cannot answer."""

    answerable: bool
    scores: tuple[float, ...]
    right: tuple[bool, ...]


class Bin(NamedTuple):
    """Hits of about the same score: their mean score, the share that is right, and how many they are."""

    score: float
    right: float
    hits: int


async def ask(
    longmind: Longmind, name: str, data: Path, only: int | None, every: int, progress: Progress
) -> dict[bool, list[AskedQuestion]]:
    """Ask each so manieth question of a set; return the answers with the reranker (True) and without it (False)."""
    cases = list(SETS[name].cases(data))
    chance, recaller = random.Random(SEED), await longmind.recaller()
    recaller.counts_reads, reranker = False, recaller.reranker
    asked: dict[bool, list[AskedQuestion]] = {False: []}
    if reranker is not None:
        asked[True] = []
    for number, case in enumerate(cases[:only]):
        mem = await load(longmind, f"calibration {name}", case)
        own = [question for question in case.questions if question.evidence][::every]
        others = [q for other in cases if other is not case for q in other.questions if q.evidence]
        for question, answerable in _both(own, chance.sample(others, min(len(own), len(others)))):
            for reranked, answers in asked.items():
                recaller.reranker = reranker if reranked else None
                answers.append(await _asked(mem, question, answerable))
        progress((number + 1) / len(cases[:only]))
    recaller.reranker = reranker
    return asked


def _both(own: Sequence[Question], others: Sequence[Question]) -> list[tuple[Question, bool]]:
    return [*((question, True) for question in own), *((question, False) for question in others)]


async def _asked(mem: AgentMemory, question: Question, answerable: bool) -> AskedQuestion:
    hits = await mem.recall(question.text, k=HITS)
    labels = await recalled_labels(mem, hits)
    right = tuple(answerable and label in question.evidence for label in labels)
    return AskedQuestion(answerable, tuple(hit.score for hit in hits), right)


def bins_of(scores: Sequence[float], right: Sequence[bool]) -> list[Bin]:
    """Return the hits in ten bins by score, without empty ones."""
    groups: dict[int, list[tuple[float, bool]]] = {}
    for score, is_right in zip(scores, right, strict=True):
        groups.setdefault(min(int(score * BINS), BINS - 1), []).append((score, is_right))
    return [
        Bin(sum(s for s, _ in group) / len(group), sum(r for _, r in group) / len(group), len(group))
        for _, group in sorted(groups.items())
    ]


def calibration_error(bins: Sequence[Bin]) -> float:
    """Return the mean distance between the score of a bin and the share that is right, weighted by hits."""
    hits = sum(each.hits for each in bins)
    return sum(each.hits * abs(each.score - each.right) for each in bins) / hits if hits else 0.0


def separation(asked: Sequence[AskedQuestion]) -> float:
    """Return how often the best score of a question that can be answered is above that of one that cannot (AUROC)."""
    best = [(each.scores[0] if each.scores else 0.0, each.answerable) for each in asked]
    ordered = sorted(best)
    ranks: dict[float, list[int]] = {}
    for rank, (score, _) in enumerate(ordered, 1):
        ranks.setdefault(score, []).append(rank)
    yes = [sum(ranks[score]) / len(ranks[score]) for score, answerable in best if answerable]
    no = len(best) - len(yes)
    return (sum(yes) - len(yes) * (len(yes) + 1) / 2) / (len(yes) * no) if yes and no else 0.0


def bins_of_all(asked: Sequence[AskedQuestion], *, first: bool = False) -> list[Bin]:
    """Return the bins of all hits, or of the first hit of each question."""
    most = 1 if first else HITS
    scores = [score for each in asked for score in each.scores[:most]]
    return bins_of(scores, [is_right for each in asked for is_right in each.right[:most]])


def row(name: str, reranked: bool, asked: Sequence[AskedQuestion]) -> list[str]:
    """Return the figures of a set, in the order of ``HEAD``."""
    own = [each for each in asked if each.answerable]
    errors = [bins_of_all(own), bins_of_all(own, first=True), bins_of_all(asked)]
    figures = [f"{calibration_error(bins):.3f}" for bins in errors]
    return [name, "with" if reranked else "without", f"{len(own)}", *figures, f"{separation(asked):.3f}"]
