"""Fit the weights that make the chance of a hit from its signs.

    python -m training.hit_signs --data ../shared/data --out hit_signs.npz
    python -m training.calibrate --signs hit_signs.npz [--write]

A logistic regression, once for recall with the small reranker and once without it. Every source counts alike, and a
fourth of the questions are such that the memory cannot answer them. A hit never gets a higher chance than the one
before it; as that lowers chances, a second, small regression puts their level right. Prints the expected calibration
error of sources that were left out, each in its turn; ``--write`` writes ``longmind/recall/chance_weights.py``.
``python -m benchmarks calibration`` measures the result on the evaluation sets.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longmind.recall import chance_weights
from longmind.recall.chances import READ_SIGNS, SIGNS

STEPS, RIDGE, BINS = 40, 1e-3, 10
UNANSWERABLE = 0.25
"""The share of questions that the memory cannot answer."""
Floats = NDArray[np.float64]


class Hits(NamedTuple):
    """Hits in the order of their questions: signs, whether right, and the weight of each."""

    signs: Floats
    right: Floats
    weight: Floats
    starts: NDArray[np.bool_]
    """Whether a hit is the first of its question."""
    source: NDArray[np.str_]
    answerable: NDArray[np.bool_]

    def some(self, chosen: NDArray[np.bool_]) -> Hits:
        return Hits(*(part[chosen] for part in self))


def read_hits(paths: Sequence[Path], reranked: bool) -> Hits:
    """Return the hits that were collected with the reranker or without it."""
    files = [dict(np.load(path)) for path in paths]
    columns = {name: np.concatenate([file[name] for file in files]) for name in files[0]}
    chosen = columns["reranked"] == reranked
    columns = {name: values[chosen] for name, values in columns.items()}
    signs = np.nan_to_num(columns["signs"][:, : len(READ_SIGNS if reranked else SIGNS)].astype(np.float64))
    source, question, answerable = columns["source"], columns["question"], columns["answerable"]
    starts = np.ones(len(signs), np.bool_)
    starts[1:] = (question[1:] != question[:-1]) | (source[1:] != source[:-1])
    weight = np.zeros(len(signs))
    for name in np.unique(source):
        for can, share in ((True, 1 - UNANSWERABLE), (False, UNANSWERABLE)):
            here = (source == name) & (answerable == can)
            weight[here] = share / max(int(here.sum()), 1)
    return Hits(signs, columns["right"].astype(np.float64), weight, starts, source, answerable)


def regression(values: Floats, right: Floats, weight: Floats) -> Floats:
    """Return the weights of a logistic regression, the constant first."""
    mean, spread = values.mean(0), values.std(0) + 1e-9
    rows = np.column_stack((np.ones(len(values)), (values - mean) / spread))
    fitted, share = np.zeros(rows.shape[1]), weight / weight.sum()
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-rows @ fitted))
        slope = rows.T @ (share * (likely - right)) + RIDGE * fitted
        curve = (rows * (share * likely * (1 - likely))[:, None]).T @ rows + RIDGE * np.eye(len(fitted))
        fitted -= np.linalg.solve(curve, slope)
    weights = np.r_[fitted[0], fitted[1:] / spread]
    weights[0] -= weights[1:] @ mean
    return weights


def log_odds(weights: Floats, hits: Hits) -> Floats:
    """Return the logarithms of odds of hits, none above that of the hit before it."""
    odds = hits.signs @ weights[1:] + weights[0]
    for place in range(1, len(odds)):
        if not hits.starts[place]:
            odds[place] = min(odds[place], odds[place - 1])
    lowered: Floats = odds
    return lowered


def fit(hits: Hits) -> Floats:
    """Return the weights of the signs, the constant first."""
    weights = regression(hits.signs, hits.right, hits.weight)
    constant, slope = regression(log_odds(weights, hits)[:, None], hits.right, hits.weight)
    level = weights * slope
    level[0] += constant
    return level


def calibration_error(likely: Floats, right: Floats) -> float:
    """Return the mean distance between stated and true chance over ten bins, weighted by their size."""
    places = np.minimum((likely * BINS).astype(int), BINS - 1)
    inside = [places == number for number in range(BINS)]
    return float(sum(m.mean() * abs(likely[m].mean() - right[m].mean()) for m in inside if m.any()))


def _left_out(hits: Hits) -> list[tuple[str, float]]:
    errors = []
    for name in np.unique(hits.source):
        rest, own = hits.some(hits.source != name), hits.some((hits.source == name) & hits.answerable)
        errors.append((str(name), calibration_error(1 / (1 + np.exp(-log_odds(fit(rest), own))), own.right)))
    return errors


def _table(name: str, signs: tuple[str, ...], weights: Floats) -> str:
    rows = "".join(f"    {weight:.4f},  # {sign}\n" for sign, weight in zip(("constant", *signs), weights, strict=True))
    return f"{name} = (\n{rows})\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--signs", type=Path, nargs="+", required=True)
    parser.add_argument("--write", action="store_true")
    call = parser.parse_args()
    tables = []
    for reranked, name, signs in ((False, "UNREAD", SIGNS), (True, "READ", READ_SIGNS)):
        hits = read_hits(call.signs, reranked)
        for source, error in _left_out(hits):
            sys.stdout.write(f"{name} {source}: {error:.3f}\n")
        tables.append(_table(name, signs, fit(hits)))
    text = f'"""{chance_weights.__doc__}"""\n\n' + "".join(tables)
    if call.write:
        Path(chance_weights.__file__).write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
