"""How far the score of a hit could mean a probability.

    python -m training.calibrate --prepared prepared --scores OUT/scores.npz [--student 3x384]

Fits a logistic regression over the score of recall, its share of the best score, and the rank, with the reranker's
number and without it, on half of the held-out training questions. Prints the expected calibration error of the first
ten hits on the other half and on the evaluation sets, beside that of today's scores.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from training.bert import load_arrays

HITS, BINS, STEPS, RIDGE = 10, 10, 60, 1e-3
Floats = NDArray[np.float64]


class Hits(NamedTuple):
    """The first hits of questions: what is known of each, whether it is right, and the number of its question."""

    signs: Floats
    """Score, best score of the question, share of it, logarithm of the rank, reranker's number, and the best one."""
    right: Floats
    question: NDArray[np.int64]


def first_hits(data: dict[str, NDArray[Any]], stored: dict[str, NDArray[Any]], name: str, student: str) -> Hits:
    """Return the first hits of a set, or of the held-out training questions."""
    ends, numbers = stored[f"{name}|ends"], stored[f"{name}|{student}"].astype(np.float64)
    asked = stored["held|questions"] if name == "held" else np.arange(len(ends) - 1)
    signs, right, question = [], [], []
    for number, q in enumerate(asked):
        start, end = int(data["candidates_ends"][q]), int(data["candidates_ends"][q + 1])
        if start == end:
            continue
        scores = data["scores"][start:end].astype(np.float64)
        own = numbers[int(ends[number]) : int(ends[number]) + len(scores)]
        gold = set(data["gold"][data["gold_ends"][q] : data["gold_ends"][q + 1]].tolist())
        for rank, place in enumerate(np.argsort(-scores, kind="stable")[:HITS]):
            share = scores[place] / max(scores.max(), 1e-9)
            signs.append([scores[place], scores.max(), share, np.log1p(rank), own[place], own.max()])
            right.append(data["candidates"][start + place] in gold)
            question.append(number)
    return Hits(np.array(signs), np.array(right, np.float64), np.array(question))


def features(signs: Floats, with_reranker: bool) -> Floats:
    """Return what the regression sees."""
    score, _, share = signs[:, 0], signs[:, 1], signs[:, 2]
    columns = [*signs[:, :4].T, score * share, np.log(score + 0.01)]
    if with_reranker:
        number, best = signs[:, 4], signs[:, 5]
        columns += [number, best, number - best, np.maximum(number, -4), number * share, 1 / (1 + np.exp(-number))]
    return np.stack(columns, 1)


class Regression:
    """A logistic regression over standardised features."""

    def __init__(self, values: Floats, right: Floats) -> None:
        self.mean, self.spread = values.mean(0), values.std(0) + 1e-9
        rows = self._rows(values)
        self.weights = np.zeros(rows.shape[1])
        for _ in range(STEPS):
            likely = 1 / (1 + np.exp(-rows @ self.weights))
            slope = rows.T @ (likely - right) / len(right) + RIDGE * self.weights
            curve = (rows * (likely * (1 - likely))[:, None]).T @ rows / len(right)
            self.weights -= np.linalg.solve(curve + RIDGE * np.eye(len(slope)), slope)

    def likely(self, values: Floats) -> Floats:
        """Return the chance of each hit to be right."""
        chances: Floats = 1 / (1 + np.exp(-self._rows(values) @ self.weights))
        return chances

    def _rows(self, values: Floats) -> Floats:
        return np.column_stack(((values - self.mean) / self.spread, np.ones(len(values))))


def calibration_error(likely: Floats, right: Floats) -> float:
    """Return the mean distance between stated and true chance over ten bins, weighted by their size."""
    places = np.minimum((likely * BINS).astype(int), BINS - 1)
    inside = [places == number for number in range(BINS)]
    return float(sum(m.mean() * abs(likely[m].mean() - right[m].mean()) for m in inside if m.any()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument("--student", default="3x384")
    call = parser.parse_args()
    with np.load(call.scores) as file:
        stored = {name: file[name] for name in file.files}
    names = ["held", *(path.name.split(".")[0] for path in sorted(call.prepared.glob("set_*.npz.xz")))]
    sets = {}
    for name in names:
        data = load_arrays(call.prepared / ("questions.npz.xz" if name == "held" else f"{name}.npz.xz"))
        sets[name] = first_hits(data, stored, name, call.student)
    fitted, rest = sets["held"].question % 2 == 0, sets["held"].question % 2 == 1
    sets["held"], training = (
        Hits(*(part[rest] for part in sets["held"])),
        Hits(*(part[fitted] for part in sets["held"])),
    )
    for with_reranker in (False, True):
        model = Regression(features(training.signs, with_reranker), training.right)
        for name, hits in sets.items():
            today = calibration_error(np.clip(hits.signs[:, 0], 0, 1), hits.right)
            then = calibration_error(model.likely(features(hits.signs, with_reranker)), hits.right)
            kind = "with" if with_reranker else "without"
            sys.stdout.write(f"{name}, {kind} the reranker: {today:.3f} today, {then:.3f} calibrated\n")


if __name__ == "__main__":
    main()
