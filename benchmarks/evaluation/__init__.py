"""The project's own evaluation set: twenty invented conversations with 400 questions, in this folder.

``README.md`` describes the files and the scores. The set is part of the repository, so its floors hold in every clone.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.cases import Case
from benchmarks.evaluation import files, ranking, statements
from benchmarks.quality import EvaluationSet, Figure, Progress
from longmind.memory import Longmind


async def figures(longmind: Longmind, cases: Sequence[Case], progress: Progress) -> list[Figure]:
    """Measure changed facts, unanswerable questions, and what consolidation learns from the labelled turns."""
    ranked = await ranking.measure(longmind, cases, progress)
    learnt = await statements.measure(longmind, list(statements.dialogues()), progress)
    return [*ranked.rows(), *learnt.rows()]


SET = EvaluationSet(
    ranking.NAME,
    "Our own set: evidence recall, turns",
    files.cases,
    ranking.score,
    "R@10",
    ranking.groups,
    figures,
)
