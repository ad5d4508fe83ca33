"""How far two labellings of the same turns agree: ``python -m training.claims.agreement``.

``second/labels.jsonl`` holds some of the turns, labelled again without sight of the first labels, before the
guideline said what to do where two relations could fit; relations that were joined since are joined in it too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from training.claims.labels import DATA, Label, Turn, read_turns

SECOND = Path(__file__).parent / "second" / "labels.jsonl"


def overlap(first: Label, second: Label) -> float:
    """Return the characters that two objects share, as a share of all that they cover."""
    shared = min(first.object[1], second.object[1]) - max(first.object[0], second.object[0])
    return max(shared, 0) / (max(first.object[1], second.object[1]) - min(first.object[0], second.object[0]))


def agreement(pairs: list[tuple[Turn, Turn]], same: Callable[[Label, Label], bool]) -> float:
    """Return the share of claims on which both agree, as F1: twice the common ones by all of both."""
    common = total = 0
    for first, second in pairs:
        left = list(second.claims)
        for label in first.claims:
            match = next((other for other in left if same(label, other)), None)
            if match is not None:
                left.remove(match)
                common += 1
        total += len(first.claims) + len(second.claims)
    return 2 * common / max(total, 1)


def kappa(pairs: list[tuple[Turn, Turn]]) -> float:
    """Return Cohen's kappa of whether a turn holds a claim at all."""
    both = sum(bool(a.claims) == bool(b.claims) for a, b in pairs) / len(pairs)
    first, second = (sum(bool(pair[n].claims) for pair in pairs) / len(pairs) for n in (0, 1))
    chance = first * second + (1 - first) * (1 - second)
    return (both - chance) / (1 - chance)


def main() -> None:
    first = {(turn.writer, turn.text): turn for path in DATA.glob("*.jsonl") for turn in read_turns(path)}
    pairs = [(first[turn.writer, turn.text], turn) for turn in read_turns(SECOND) if (turn.writer, turn.text) in first]

    def place(a: Label, b: Label) -> bool:
        return overlap(a, b) >= 0.5

    def relation(a: Label, b: Label) -> bool:
        return place(a, b) and a.relation == b.relation

    def status(a: Label, b: Label) -> bool:
        return relation(a, b) and a.status == b.status

    def whole(a: Label, b: Label) -> bool:
        return status(a, b) and (a.subject is None) == (b.subject is None)

    sys.stdout.write(
        f"{len(pairs)} turns labelled twice\n"
        f"whether there is a claim: kappa {kappa(pairs):.2f}\n"
        f"F1 of claims: object {agreement(pairs, place):.3f}, and relation {agreement(pairs, relation):.3f}, "
        f"and status {agreement(pairs, status):.3f}, and subject {agreement(pairs, whole):.3f}\n"
    )


if __name__ == "__main__":
    main()
