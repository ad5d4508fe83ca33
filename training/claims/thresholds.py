"""How sure the reader of statements is, how sure it must be for each relation, and how good it is then.

    python -m training.claims.thresholds [--out calibration.json] [--precision 0.7] [--change 0.7]

Reads the turns of the development writers with the exported model. A logistic regression over the model's own beliefs,
the relation and the status tells how likely a claim is right; relations and statuses that go wrong are held back by it.
The thresholds are then the lowest confidence at which claims are precise enough, judged on each writer by the
regression of the other. A relation without a right claim is never read. ``training.export statements ... --extra
calibration.json`` stores all of it with the model. Prints the figures of the development and the test writers.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from longmind.models.claim_decoding import SIGNS, Calibration, DecodedClaim
from longmind.models.small_models import load
from longmind.models.statement_reader import TrainedStatementReader
from longmind.models.statements import STATUSES, Span, StatedClaim
from longmind.models.statements import Turn as ReadTurn
from training.claims.labels import DATA, DEVELOPMENT, TEST, Label, read_turns

STEPS = tuple(n / 200 for n in range(60, 200))
NEVER = 1.01
SHOWN = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
PENALTIES = {"signs": 1.0, "relations": 5.0, "statuses": 2.0}
"""How strongly the weights of each part are drawn to zero."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim that was read, whether it is right, and whether it states something false as holding now."""

    claim: StatedClaim
    decoded: DecodedClaim
    right: bool
    harmful: bool


@dataclass(frozen=True, slots=True)
class Sample:
    """What was read of some writers, of how many turns and labels."""

    judged: list[Judged]
    turns: int
    labels: int


def judge(claims: Sequence[tuple[StatedClaim, DecodedClaim]], labels: Sequence[Label]) -> list[Judged]:
    """Compare the claims of a turn with its labels; each label is met once."""
    unmet, judged = list(labels), []
    for claim, decoded in sorted(claims, key=lambda pair: -pair[0].confidence):
        match = next((label for label in unmet if _is_same(claim, label)), None)
        if match is not None:
            unmet.remove(match)
        near = any(label.status == "current" and _overlap(claim.object, label.object) >= 0.3 for label in labels)
        harmful = match is None and claim.status == "current" and not near
        judged.append(Judged(claim, decoded, match is not None, harmful))
    return judged


def _is_same(claim: StatedClaim, label: Label) -> bool:
    if claim.relation != label.relation or claim.status != label.status or _overlap(claim.object, label.object) < 0.5:
        return False
    if claim.subject is None or label.subject is None:
        return claim.subject is label.subject
    return _overlap(claim.subject, label.subject) > 0


def _overlap(a: Span, b: Span) -> float:
    return max(0, min(a[1], b[1]) - max(a[0], b[0])) / (max(a[1], b[1]) - min(a[0], b[0]))


def fit(judged: Sequence[Judged], relations: int) -> Calibration:
    """Fit the regression by Newton's method; the penalties keep it from learning few claims by heart."""
    sizes = (len(SIGNS), relations, len(STATUSES))
    rows = np.zeros((len(judged), sum(sizes) + 1))
    for row, j in zip(rows, judged, strict=True):
        row[: sizes[0]] = j.decoded.signs
        row[sizes[0] + j.decoded.relation] = row[sizes[0] + sizes[1] + j.decoded.status] = row[-1] = 1
    right = np.array([j.right for j in judged], np.float64)
    penalty = np.concatenate([np.full(n, p) for n, p in zip(sizes, PENALTIES.values(), strict=True)] + [[0.001]])
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (likely - right) + penalty * weights
        curve = (rows * (likely * (1 - likely))[:, None]).T @ rows + np.diag(penalty)
        weights -= np.linalg.solve(curve, slope)
    signs, kinds, statuses, bias = np.split(weights, np.cumsum(sizes))
    return Calibration(signs, kinds, statuses, float(bias[0]))


def calibrated(judged: Sequence[Judged], calibration: Calibration) -> list[Judged]:
    """Return the claims with the confidence that a calibration gives them."""

    def sure(j: Judged) -> float:
        return calibration.confidence(j.decoded.signs, j.decoded.relation, j.decoded.status)

    return [replace(j, claim=replace(j.claim, confidence=sure(j))) for j in judged]


def lowest(judged: Sequence[Judged], wanted: float) -> float:
    """Return the lowest threshold from which on the claims are precise enough."""
    for step in STEPS:
        kept = [j.right for j in judged if j.claim.confidence >= step]
        if kept and sum(kept) / len(kept) >= wanted:
            return step
    return NEVER


def figures(sample: Sample, threshold: float, never: frozenset[str]) -> str:
    """Return precision, recall and harm of what is kept, as a line."""
    kept = [j for j in sample.judged if j.claim.confidence >= threshold and j.claim.relation not in never]
    right, harmful = sum(j.right for j in kept), sum(j.harmful for j in kept)
    return (
        f"{len(kept)} of {sample.labels} claims, precision {right / max(len(kept), 1):.3f}, recall "
        f"{right / sample.labels:.3f}, false as current in {harmful / sample.turns:.2%} of {sample.turns} turns"
    )


def read(reader: TrainedStatementReader, writer: str) -> Sample:
    """Return what the reader reads in the turns of a writer."""
    turns = list(read_turns(DATA / f"{writer}.jsonl"))
    claims = reader.decode_all([ReadTurn(turn.text, turn.previous) for turn in turns])
    judged = [j for turn, own in zip(turns, claims, strict=True) for j in judge(own, turn.claims)]
    return Sample(judged, len(turns), sum(len(turn.claims) for turn in turns))


def joined(samples: Sequence[Sample], calibration: Calibration) -> Sample:
    judged = calibrated([j for sample in samples for j in sample.judged], calibration)
    return Sample(judged, sum(s.turns for s in samples), sum(s.labels for s in samples))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--precision", type=float, default=0.7)
    parser.add_argument("--change", type=float, default=0.7)
    call = parser.parse_args()
    reader = TrainedStatementReader(load("statements"))
    began = time.process_time()
    samples = [read(reader, writer) for writer in DEVELOPMENT]
    seconds = time.process_time() - began
    relations = reader.relations
    others = [[s for s in samples if s is not left_out] for left_out in samples]
    honest = [
        j
        for sample, rest in zip(samples, others, strict=True)
        for j in calibrated(sample.judged, fit([j for s in rest for j in s.judged], len(relations)))
    ]
    changing = [j for j in honest if j.claim.status in ("current", "ended")]
    keep, change = lowest(honest, call.precision), lowest(changing, call.change)
    calibration = fit([j for sample in samples for j in sample.judged], len(relations))
    never = frozenset(relations) - {j.claim.relation for j in honest if j.right}
    if call.out is not None:
        call.out.write_text(json.dumps(_table(relations, keep, change, never, calibration)))
    sys.stdout.write(
        f"{sum(s.turns for s in samples) / seconds:.0f} turns a second of CPU; kept from {keep}, certain from "
        f"{change}; never read: {sorted(never)}\n"
    )
    whole = Sample(honest, sum(s.turns for s in samples), sum(s.labels for s in samples))
    tested = joined([read(reader, writer) for writer in TEST], calibration)
    for name, sample in (("development", whole), ("test", tested)):
        for limit in SHOWN:
            sys.stdout.write(f"{name} from {limit}: {figures(sample, limit, frozenset())}\n")
        sys.stdout.write(f"{name} as kept: {figures(sample, keep, never)}\n")


def _table(
    relations: Sequence[str], keep: float, change: float, never: frozenset[str], calibration: Calibration
) -> dict[str, Any]:
    return {
        "relations": list(relations),
        "keep": [NEVER if name in never else keep for name in relations],
        "change": [NEVER if name in never else max(keep, change) for name in relations],
        "calibration.signs": calibration.signs.tolist(),
        "calibration.relations": calibration.relations.tolist(),
        "calibration.statuses": calibration.statuses.tolist(),
        "calibration.bias": calibration.bias,
    }


if __name__ == "__main__":
    main()
