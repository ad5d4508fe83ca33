"""How a reranker's numbers are best mixed with the scores of recall, on the candidates of the evaluation sets.

    python -m training.weigh --prepared prepared --scores OUT/scores.npz [--student 3x384]

For each mixture it prints R@5 and R@10 (QMSum: hit) of the half that may be tuned and of the other half. The weight of
a question may fall with the length of its candidates and rise with the reranker's best number, which is low where no
single text answers.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.bert import load_arrays

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of one question: places, recall's scores, the reranker's numbers, lengths; and what is right."""

    places: NDArray[np.int64]
    recall: Numbers
    reranker: Numbers
    lengths: NDArray[np.int64]
    gold: frozenset[int]
    tuned: bool


@dataclass(frozen=True, slots=True)
class Mixture:
    """How much the reranker counts."""

    weight: float
    length: float = float("inf")
    """The median length of candidates, in pieces, at which it counts half."""
    doubt: float = float("-inf")
    """The reranker's best number at which it counts half."""

    def scores(self, asked: Candidates) -> Numbers:
        share = self.weight / (1 + (float(np.median(asked.lengths[:20])) / self.length) ** 2)
        if self.doubt > float("-inf"):
            share /= 1 + float(np.exp(self.doubt - asked.reranker.max()))
        return asked.recall / (asked.recall.max() + 1e-9) + share * asked.reranker / 4


def read_set(path: Path, stored: dict[str, NDArray[Any]], student: str) -> list[Candidates]:
    """Return the questions of a set with the numbers of a student."""
    data, name = load_arrays(path), path.name.split(".")[0]
    lengths = np.diff(data["texts_ends"].astype(np.int64))
    gold_ends, scored = data["gold_ends"], stored[f"{name}|ends"]
    questions = []
    for number, (start, end) in enumerate(itertools.pairwise(data["candidates_ends"])):
        if start == end:
            continue
        group = int(data["group_of"][number])
        places = data["candidates"][start:end].astype(np.int64)
        own = slice(int(scored[number]), int(scored[number]) + len(places))
        questions.append(
            Candidates(
                places,
                data["scores"][start:end].astype(np.float64),
                stored[f"{name}|{student}"][own].astype(np.float64),
                lengths[int(data["first_text"][group]) + places],
                frozenset(data["gold"][gold_ends[number] : gold_ends[number + 1]].tolist()),
                bool(data["tuned"][group]),
            )
        )
    return questions


def measure(questions: list[Candidates], mixture: Mixture, *, any_counts: bool, depth: int | None = None) -> str:
    """Return the figures of both halves; with a depth only so many candidates are reranked."""
    figures: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for asked in questions:
        scores = mixture.scores(asked)
        if depth is not None:
            scores[depth:] = asked.recall[depth:] - 1e6
        ranked = asked.places[np.argsort(-scores, kind="stable")]
        shares = [len(asked.gold.intersection(ranked[:k].tolist())) / len(asked.gold) for k in (5, 10)]
        figures[asked.tuned].append(tuple(float(s > 0) if any_counts else s for s in shares))  # type: ignore[arg-type]
    means = [100 * np.mean(values, axis=0) for values in figures.values()]
    return "   ".join(f"{five:5.2f} {ten:5.2f}" for five, ten in means)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--student", default="3x384")
    call = parser.parse_args()
    with np.load(call.scores) as stored:
        numbers = {name: stored[name] for name in stored.files}
    mixtures = [
        Mixture(0.0),
        *(Mixture(weight) for weight in (0.1, 0.2, 0.3)),
        Mixture(0.3, 60, -2),
        Mixture(0.3, 80, -3),
    ]
    for path in sorted(call.prepared.glob("set_*.npz.xz")):
        name = path.name.split(".")[0]
        questions = read_set(path, numbers, call.student)
        for mixture, depth in itertools.product(mixtures, (8, 10, 20, 30, None)):
            line = measure(questions, mixture, any_counts=name == "set_qmsum", depth=depth)
            sys.stdout.write(f"{name} {mixture} depth {depth}: {line}\n")


if __name__ == "__main__":
    main()
