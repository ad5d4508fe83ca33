"""How sure the reader of statements must be, for each relation, and how good it is then.

    python -m training.claims.thresholds [--out thresholds.json] [--precision 0.85] [--change 0.9]

Reads the turns of the development writers with the exported model and picks for each relation the lowest confidence
from which on its claims are precise enough; a relation that never is gets a threshold that nothing reaches. Few claims
of one relation say little, so their precision is mixed with that of all relations. ``training.export statements ...
--extra thresholds.json`` stores the table with the model. Prints the figures of the development and the test writers.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from longmind.models.small_models import load
from longmind.models.statement_reader import TrainedStatementReader
from longmind.models.statements import RELATIONS, Span, StatedClaim
from longmind.models.statements import Turn as ReadTurn
from training.claims.labels import DATA, DEVELOPMENT, TEST, Label, Turn, read_turns

STEPS = (*tuple(n / 100 for n in range(30, 100)), 0.992, 0.994, 0.996, 0.998)
NEVER = 1.01
PRIOR = 6
"""Claims of all relations that the precision of one is mixed with."""
LEAST_RIGHT = 2
"""Right claims of a relation without which it is not read at all."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim that was read, whether it is right, and whether it states something false as holding now."""

    claim: StatedClaim
    right: bool
    harmful: bool


def judge(claims: Sequence[StatedClaim], labels: Sequence[Label]) -> list[Judged]:
    """Compare the claims of a turn with its labels; each label is met once."""
    unmet, judged = list(labels), []
    for claim in sorted(claims, key=lambda claim: -claim.confidence):
        match = next((label for label in unmet if _is_same(claim, label)), None)
        if match is not None:
            unmet.remove(match)
        near = any(label.status == "current" and _overlap(claim.object, label.object) >= 0.3 for label in labels)
        judged.append(Judged(claim, match is not None, match is None and claim.status == "current" and not near))
    return judged


def _is_same(claim: StatedClaim, label: Label) -> bool:
    if claim.relation != label.relation or claim.status != label.status or _overlap(claim.object, label.object) < 0.5:
        return False
    if claim.subject is None or label.subject is None:
        return claim.subject is label.subject
    return _overlap(claim.subject, label.subject) > 0


def _overlap(a: Span, b: Span) -> float:
    return max(0, min(a[1], b[1]) - max(a[0], b[0])) / (max(a[1], b[1]) - min(a[0], b[0]))


def pick(judged: Sequence[Judged], wanted: float, counts: Callable[[StatedClaim], bool]) -> dict[str, float]:
    """Return by relation the lowest threshold at which its claims are precise enough."""
    chosen = [j for j in judged if counts(j.claim)]
    table = dict.fromkeys(RELATIONS, NEVER)
    for relation in RELATIONS:
        own = [j for j in chosen if j.claim.relation == relation]
        for step in STEPS:
            everything = [j.right for j in chosen if j.claim.confidence >= step]
            rest = [j.right for j in own if j.claim.confidence >= step]
            if sum(rest) < LEAST_RIGHT or not everything:
                break
            mixed = (sum(rest) + PRIOR * sum(everything) / len(everything)) / (len(rest) + PRIOR)
            if mixed >= wanted:
                table[relation] = step
                break
    return table


def figures(judged: Iterable[Judged], labels: int, turns: int, keep: dict[str, float]) -> str:
    """Return precision, recall and harm of what is kept, as a line."""
    kept = [j for j in judged if j.claim.confidence >= keep[j.claim.relation]]
    right, harmful = sum(j.right for j in kept), sum(j.harmful for j in kept)
    return (
        f"{len(kept)} of {labels} claims, precision {right / max(len(kept), 1):.3f}, recall {right / labels:.3f}, "
        f"false as current in {harmful / turns:.2%} of {turns} turns"
    )


def read(reader: TrainedStatementReader, writers: Sequence[str]) -> tuple[list[Turn], list[Judged]]:
    """Return the turns of some writers and what the reader reads in them."""
    turns = [turn for writer in writers for turn in read_turns(DATA / f"{writer}.jsonl")]
    claims = reader.read_all([ReadTurn(turn.text, turn.previous) for turn in turns])
    return turns, [j for turn, own in zip(turns, claims, strict=True) for j in judge(own, turn.claims)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--precision", type=float, default=0.85)
    parser.add_argument("--change", type=float, default=0.9)
    call = parser.parse_args()
    reader = TrainedStatementReader(load("statements"))
    began = time.process_time()
    turns, judged = read(reader, DEVELOPMENT)
    seconds = time.process_time() - began
    keep = pick(judged, call.precision, lambda claim: True)
    change = pick(judged, call.change, lambda claim: claim.status in ("current", "ended"))
    if call.out is not None:
        relations = reader.relations
        table = {
            "relations": relations,
            "keep": [keep.get(name, NEVER) for name in relations],
            "change": [max(keep.get(name, NEVER), change.get(name, NEVER)) for name in relations],
        }
        call.out.write_text(json.dumps(table))
    shown = {name: (keep[name], change[name]) for name in RELATIONS if keep[name] < NEVER}
    sys.stdout.write(f"{len(turns) / seconds:.0f} turns a second of CPU; kept relations: {shown}\n")
    for name, writers in (("development", DEVELOPMENT), ("test", TEST)):
        turns, judged = read(reader, writers)
        labels = sum(len(turn.claims) for turn in turns)
        for limit in (0.3, 0.5, 0.7, 0.8, 0.9, 0.95):
            sys.stdout.write(
                f"{name} from {limit}: {figures(judged, labels, len(turns), dict.fromkeys(RELATIONS, limit))}\n"
            )
        sys.stdout.write(f"{name} with the table: {figures(judged, labels, len(turns), keep)}\n")


if __name__ == "__main__":
    main()
