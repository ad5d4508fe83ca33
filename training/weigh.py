"""How a reranker's numbers are best mixed with the scores of recall, on the candidates of the evaluation sets.

    python -m training.weigh --prepared prepared --scores OUT/scores.npz [--layers 6]

For each mixture it prints R@5 and R@10 (QMSum: hit) of the half that may be tuned and of the other half.
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

from longmind.models.rerank_small import JUDGED, LONG, MOST_LONG
from longmind.recall.rerank import SCALE, WEIGHT
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
    """How much the reranker counts, and how many candidates it compares where they are short, and where long."""

    weight: float
    depth: int = 60
    long_depth: int = MOST_LONG

    def order(self, asked: Candidates) -> NDArray[np.int64]:
        """Return the places of candidates, the best first."""
        is_long = float(np.mean(asked.lengths[:JUDGED])) > LONG
        depth = self.long_depth if is_long else self.depth
        scores = asked.recall / (asked.recall.max() + 1e-9)
        scores[:depth] += self.weight * asked.reranker[:depth] / SCALE
        scores[depth:] -= 1e6
        return asked.places[np.argsort(-scores, kind="stable")]


def read_set(path: Path, stored: dict[str, NDArray[Any]], layers: str) -> list[Candidates]:
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
                stored[f"{name}|{layers}"][own].astype(np.float64),
                lengths[int(data["first_text"][group]) + places],
                frozenset(data["gold"][gold_ends[number] : gold_ends[number + 1]].tolist()),
                bool(data["tuned"][group]),
            )
        )
    return questions


def measure(questions: list[Candidates], mixture: Mixture, *, any_counts: bool) -> str:
    """Return the figures of both halves."""
    figures: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for asked in questions:
        ranked = mixture.order(asked)
        shares = [len(asked.gold.intersection(ranked[:k].tolist())) / len(asked.gold) for k in (5, 10)]
        figures[asked.tuned].append(tuple(float(s > 0) if any_counts else s for s in shares))  # type: ignore[arg-type]
    means = [100 * np.mean(values, axis=0) for values in figures.values()]
    return "   ".join(f"{five:5.2f} {ten:5.2f}" for five, ten in means)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--layers", default="6", help="of the student")
    call = parser.parse_args()
    with np.load(call.scores) as stored:
        numbers = {name: stored[name] for name in stored.files}
    mixtures = [Mixture(0.0), *(Mixture(weight) for weight in (0.15, 0.2, 0.25, 0.3))]
    mixtures += [Mixture(WEIGHT, depth, min(depth, MOST_LONG)) for depth in (8, 10, 20, 30, 40)]
    mixtures += [Mixture(WEIGHT, 60, depth) for depth in (10, 20, 60)]
    for path in sorted(call.prepared.glob("set_*.npz.xz")):
        name = path.name.split(".")[0]
        questions = read_set(path, numbers, call.layers)
        for mixture in mixtures:
            sys.stdout.write(f"{name} {mixture}: {measure(questions, mixture, any_counts=name == 'set_qmsum')}\n")


if __name__ == "__main__":
    main()
