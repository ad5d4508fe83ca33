"""How sure the reader of statements is, how sure it must be, and how good it is then.

    python -m training.claims.thresholds [--out calibration.json] [--harm 0.015] [--precision 0.86] [--change 0.90]

Reads the turns of the development writers with the exported model. A logistic regression over the model's own beliefs,
the relation and the status tells how likely a claim is right; relations and statuses that go wrong are held back by it.
There are four thresholds, each the lowest confidence at which claims of what holds now do little harm, at which those
of what somebody has and does add hardly any, at which all that is kept is precise enough, and at which a claim may
change what is known; judged on each writer by the regression of the others. A relation without a right claim is never
read. ``training.export statements ... --extra calibration.json`` stores all of it with the model. Prints the figures of
the development and the test writers.

A claim is right if it equals a label. Labels are one reading of many, so what equals none was read once more
(``judged.jsonl``): without sight of labels or confidence, is this stated, and worth keeping? A tenth of those that
equal a label were mixed among them, of which 97 % were found right. Figures "by reading" count these verdicts.

Figures "as learnt" are of what memory makes of the claims that are kept: rules drop some ("she" who is nobody that the
turn names, hearsay, a mother who is only mentioned) and change the status of others. They count the labels that memory
would learn if it read all of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from longmind.consolidate.rules.claims import Claim
from longmind.consolidate.rules.naming import named_person
from longmind.consolidate.rules.relations import RELATIONS
from longmind.consolidate.rules.stated import apply_claim, settled_status
from longmind.models.claim_decoding import SIGNS, Calibration, DecodedClaim
from longmind.models.small_models import load
from longmind.models.statement_reader import TrainedStatementReader
from longmind.models.statements import STATUSES, StatedClaim
from longmind.models.statements import Turn as ReadTurn
from training.claims.labels import DATA, DEVELOPMENT, EVERYDAY, FRIENDS, TEST, Label, Turn, overlap, read_turns, same

JUDGED = Path(__file__).with_name("judged.jsonl")
SINGLE = frozenset(name for name, relation in RELATIONS.items() if not relation.many)
POSSESSIONS = frozenset({"owns", "uses", "member_of", "hobby", "habit", "skill"})
"""What somebody has, uses and does: read most reliably of what may have many values, so it may be less sure."""
STEPS = tuple(n / 200 for n in range(60, 200))
NEVER = 1.01
SAID_AT = datetime(2026, 11, 2, 12, tzinfo=UTC)
"""The day on which all turns are taken to be said."""
LEAST_JUDGED = 0.4
"""The confidence from which on claims were read once more."""
SHOWN = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)
PENALTIES = {"signs": 1.0, "relations": 5.0, "statuses": 2.0}
"""How strongly the weights of each part are drawn to zero."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim that was read, whether it is right, and whether it states something false as holding now."""

    claim: StatedClaim
    decoded: DecodedClaim
    right: bool
    """Whether it equals a label."""
    harmful: bool
    read_right: bool = False
    """Whether it equals a label, or was found right by reading."""
    met: tuple[int, ...] = ()
    """The labels of its turn that are about the same words."""
    place: tuple[str, int] = ("", 0)
    """Writer and turn."""
    learnt: bool = True
    """Whether rules let memory learn it, if it is kept; of what is denied, if it is sure enough to change something."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was read of some writers, of how many turns and labels."""

    judged: list[Judged]
    turns: int
    labels: int
    learnable: frozenset[tuple[str, int, int]]
    """The labels, by writer, turn and number, that memory would learn if it read all of them."""


Verdicts = dict[tuple[str, int, str, str, str, int], str]
"""What reading a claim found, by writer, turn, relation, status, subject and place of the object."""


def read_verdicts(path: Path = JUDGED) -> Verdicts:
    """Return what was found by reading claims that equal no label."""
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    names = ("writer", "turn", "relation", "status", "subject", "at")
    return {tuple(entry[name] for name in names): entry["verdict"] for entry in entries}  # type: ignore[misc]


def with_verdicts(judged: Sequence[Judged], turn: Turn, writer: str, number: int, verdicts: Verdicts) -> list[Judged]:
    """Return the claims of a turn with what reading them found; one that nobody has read counts by the labels."""
    results = []
    for each in judged:
        claim = each.claim
        subject = "speaker" if claim.subject is None else turn.text[slice(*claim.subject)]
        verdict = verdicts.get((writer, number, claim.relation, claim.status, subject, claim.object[0]))
        right = each.right or verdict == "right"
        near = [n for n, label in enumerate(turn.claims) if right and overlap(claim.object, label.object) >= 0.3]
        harmful = each.harmful if verdict is None else claim.status == "current" and verdict == "wrong"
        results.append(replace(each, harmful=harmful and not right, read_right=right, met=tuple(near)))
    return results


def judge(claims: Sequence[tuple[StatedClaim, DecodedClaim]], labels: Sequence[Label]) -> list[Judged]:
    """Compare the claims of a turn with its labels; each label is met once."""
    unmet, judged = list(labels), []
    for claim, decoded in sorted(claims, key=lambda pair: -pair[0].confidence):
        match = next((label for label in unmet if same(claim, label)), None)
        if match is not None:
            unmet.remove(match)
        near = any(label.status == "current" and overlap(claim.object, label.object) >= 0.3 for label in labels)
        harmful = match is None and claim.status == "current" and not near
        judged.append(Judged(claim, decoded, match is not None, harmful))
    return judged


def fit(judged: Sequence[Judged], relations: int) -> Calibration:
    """Fit the regression by Newton's method; the penalties keep it from learning few claims by heart."""
    sizes = (len(SIGNS), relations, len(STATUSES))
    rows = np.zeros((len(judged), sum(sizes) + 1))
    for row, j in zip(rows, judged, strict=True):
        row[: sizes[0]] = j.decoded.signs
        row[sizes[0] + j.decoded.relation] = row[sizes[0] + sizes[1] + j.decoded.status] = row[-1] = 1
    right = np.array([j.read_right for j in judged], np.float64)
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
        kept = [j.read_right for j in judged if j.claim.confidence >= step]
        if kept and sum(kept) / len(kept) >= wanted:
            return step
    return NEVER


def least_beside(judged: Sequence[Judged], keep: float, possessed: float, change: float, wanted: float) -> float:
    """Return the lowest threshold for what does not hold now at which all that is kept is precise enough."""
    for step in (step for step in STEPS if step >= LEAST_JUDGED):
        kept = [j.read_right for j in judged if Limits(keep, possessed, step, change).keeps(j.claim)]
        if kept and sum(kept) / len(kept) >= wanted:
            return step
    return NEVER


def least_harm(judged: Sequence[Judged], turns: int, most: float) -> float:
    """Return the lowest threshold from which on no more than a share of turns states something false as current."""
    for step in STEPS:
        if sum(j.harmful and j.claim.confidence >= step for j in judged) <= most * turns:
            return step
    return NEVER


def learnt_figures(sample: Sample, kept: Sequence[Judged], change: float) -> str:
    """Return precision, recall and harm of what memory learns of the claims that are kept, as a line.

    What is denied is learnt only from the confidence on from which it may change something.
    """
    learnt = [j for j in kept if j.learnt and (j.claim.status != "negated" or j.claim.confidence >= change)]
    right, count = sum(j.read_right for j in learnt), max(len(learnt), 1)
    met = {(*place, number) for place, numbers in _met(learnt).items() for number in numbers} & sample.learnable
    return (
        f"{len(learnt)} claims of {len(sample.learnable)} labels; by reading precision {right / count:.3f}, recall "
        f"{len(met) / len(sample.learnable):.3f}; "
        f"false as current in {sum(j.harmful for j in learnt) / sample.turns:.2%} of {sample.turns} turns"
    )


def figures(sample: Sample, kept: Sequence[Judged]) -> str:
    """Return precision, recall and harm of what is kept, as a line: by labels, and by reading."""
    right, found = sum(j.right for j in kept), sum(j.read_right for j in kept)
    met = sum(len(labels) for labels in _met(kept).values())
    count = max(len(kept), 1)
    return (
        f"{len(kept)} claims of {sample.labels} labels; by labels precision {right / count:.3f}, recall "
        f"{right / sample.labels:.3f}; by reading precision {found / count:.3f}, recall {met / sample.labels:.3f}; "
        f"false as current in {sum(j.harmful for j in kept) / sample.turns:.2%} of {sample.turns} turns"
    )


def _met(kept: Sequence[Judged]) -> dict[tuple[str, int], set[int]]:
    """Return the labels that claims meet, by writer and turn."""
    met: dict[tuple[str, int], set[int]] = {}
    for each in kept:
        met.setdefault(each.place, set()).update(each.met)
    return met


def read(reader: TrainedStatementReader, writer: str, verdicts: Verdicts) -> Sample:
    """Return what the reader reads in the turns of a writer."""
    turns = list(read_turns(DATA / f"{writer}.jsonl"))
    claims = reader.decode_all([ReadTurn(turn.text, turn.previous) for turn in turns])
    judged = [
        replace(each, place=(writer, number))
        for number, (turn, own) in enumerate(zip(turns, claims, strict=True))
        for each in after_rules(with_verdicts(judge(own, turn.claims), turn, writer, number, verdicts), turn)
    ]
    labels = frozenset((writer, number, label) for number, turn in enumerate(turns) for label in learnable(turn))
    return Sample(judged, len(turns), sum(len(turn.claims) for turn in turns), labels)


def after_rules(judged: Sequence[Judged], turn: Turn) -> list[Judged]:
    """Return the claims of a turn with whether memory would learn them, and state them as holding now."""
    sure = [j.claim for j in judged if j.claim.confidence >= LEAST_JUDGED]
    speaker, person = _speaker(turn), named_person(sure, turn.text, _speaker(turn))
    results = []
    for each in judged:
        claim = replace(each.claim, certain=True)
        learnt = isinstance(apply_claim(claim, turn.text, speaker, SAID_AT, person), Claim)
        harmful = each.harmful and learnt and settled_status(claim, turn.text, SAID_AT) == "current"
        results.append(replace(each, learnt=learnt, harmful=harmful))
    return results


def learnable(turn: Turn) -> list[int]:
    """Return the numbers of the labels that memory would learn if it read all of them."""
    claims = [
        StatedClaim(
            label.relation, label.status, label.object, 1.0, certain=True, subject=label.subject, time=label.time
        )
        for label in turn.claims
    ]
    person = named_person(claims, turn.text, _speaker(turn))
    applied = [apply_claim(claim, turn.text, _speaker(turn), SAID_AT, person) for claim in claims]
    return [number for number, result in enumerate(applied) if isinstance(result, Claim)]


def _speaker(turn: Turn) -> str:
    return turn.speaker or "user"


def joined(samples: Sequence[Sample], calibration: Calibration | None = None) -> Sample:
    """Return several samples as one, with the confidences of a calibration if one is given."""
    judged = [j for sample in samples for j in sample.judged]
    judged = judged if calibration is None else calibrated(judged, calibration)
    learnable = frozenset(label for sample in samples for label in sample.learnable)
    return Sample(judged, sum(s.turns for s in samples), sum(s.labels for s in samples), learnable)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument(
        "--harm", type=float, default=0.013, help="share of turns of which something false may be learnt"
    )
    parser.add_argument(
        "--possessions",
        type=float,
        default=0.0005,
        help="share of turns that may add to it of what somebody has and does",
    )
    parser.add_argument("--precision", type=float, default=0.86, help="precision of all that is kept")
    parser.add_argument("--change", type=float, default=0.90, help="precision of what may change something")
    call = parser.parse_args()
    reader, verdicts = TrainedStatementReader(load("statements")), read_verdicts()
    began = time.process_time()
    samples = [read(reader, writer, verdicts) for writer in DEVELOPMENT]
    seconds = time.process_time() - began
    relations = reader.relations
    others = [[s for s in samples if s is not left_out] for left_out in samples]
    honest = [
        j
        for sample, rest in zip(samples, others, strict=True)
        for j in calibrated(sample.judged, fit([j for s in rest for j in s.judged], len(relations)))
    ]
    turns = sum(s.turns for s in samples)
    current = [j for j in honest if j.claim.status == "current"]
    change = lowest([j for j in honest if j.claim.status in ("current", "ended", "negated")], call.change)
    single = [j for j in current if j.claim.relation in SINGLE and j.claim.confidence >= change]
    harm = call.harm - sum(j.harmful for j in single) / turns
    keep = least_harm([j for j in current if j.claim.relation not in SINGLE], turns, harm)
    extra = [j for j in current if j.claim.relation in POSSESSIONS and j.claim.confidence < keep]
    possessed = min(keep, least_harm(extra, turns, call.possessions))
    limits = Limits(keep, possessed, least_beside(honest, keep, possessed, change, call.precision), change)
    calibration = fit([j for sample in samples for j in sample.judged], len(relations))
    never = frozenset(relations) - {j.claim.relation for j in honest if j.read_right}
    if call.out is not None:
        call.out.write_text(json.dumps(_table(relations, limits, never, calibration)))
    sys.stdout.write(
        f"{turns / seconds:.0f} turns a second of CPU; what holds now is kept from {limits.keep}, what somebody has "
        f"and does from {limits.possessed}, all else from {limits.beside}, and changes something from "
        f"{limits.change}; never read: {sorted(never)}\n"
    )
    whole = replace(joined(samples), judged=honest)
    tested = {writer: read(reader, writer, verdicts) for writer in TEST}
    others_of = tuple(writer for writer in TEST if writer not in FRIENDS)
    groups = {"test": TEST, "test, friends": FRIENDS, "test, others": others_of, "test, everyday": EVERYDAY}
    joined_groups = {name: joined([tested[w] for w in group], calibration) for name, group in groups.items()}
    for name, sample in {"development": whole, **joined_groups}.items():
        for limit in SHOWN:
            kept = [j for j in sample.judged if j.claim.confidence >= limit]
            sys.stdout.write(f"{name} from {limit}: {figures(sample, kept)}\n")
        kept = [j for j in sample.judged if limits.keeps(j.claim) and j.claim.relation not in never]
        sys.stdout.write(f"{name} as kept: {figures(sample, kept)}\n")
        sys.stdout.write(f"{name} as learnt: {learnt_figures(sample, kept, limits.change)}\n")


class Limits(NamedTuple):
    """How sure a claim must be: of what holds now, of what somebody has and does, of all else, and to change something.

    What has one value at a time is kept from where it may change something: a home that is only half believed would
    leave the old one standing, which does more harm.
    """

    keep: float
    possessed: float
    beside: float
    change: float

    def keeps(self, claim: StatedClaim) -> bool:
        return claim.confidence >= (self.of(claim.relation) if claim.status == "current" else self.beside)

    def of(self, relation: str) -> float:
        """Return how sure a claim of what holds now must be."""
        if relation in SINGLE:
            return self.change
        return self.possessed if relation in POSSESSIONS else self.keep


def _table(relations: Sequence[str], limits: Limits, never: frozenset[str], calibration: Calibration) -> dict[str, Any]:
    def by_relation(limit: float) -> list[float]:
        return [NEVER if name in never else limit for name in relations]

    return {
        "relations": list(relations),
        "keep": [NEVER if name in never else limits.of(name) for name in relations],
        "beside": by_relation(limits.beside),
        "change": by_relation(limits.change),
        "calibration.signs": calibration.signs.tolist(),
        "calibration.relations": calibration.relations.tolist(),
        "calibration.statuses": calibration.statuses.tolist(),
        "calibration.bias": calibration.bias,
    }


if __name__ == "__main__":
    main()
