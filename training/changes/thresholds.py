"""Calibration and threshold of the reader of changes, by writers that it was not trained on.

    python -m training.changes.thresholds [--write]

A logistic regression with one sign, the model's own number, tells how likely a fact is gone. It is ``certain`` from
where no more than ``WRONG`` of the turns after which a fact holds would end it: most mentions of what is known change
nothing, so that this share, and not precision on turns of which many change something, is what harms a memory.
With ``--write`` both are stored with the weights.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from longmind.models.change_reader import TrainedChangeReader
from longmind.models.small_models import load
from longmind.models.statements import Span
from training.changes.turns import DATA, DEVELOPMENT, GONE, HOLDS, TEST, KnownTurn, as_fact, read_turns
from training.export import store_ends

WRONG = 0.015
Reading = tuple[float, Span | None]


def calibrate(numbers: np.ndarray, gone: np.ndarray, rounds: int = 50) -> tuple[float, float]:
    """Return the slope and the bias of the logistic regression of ``gone`` on the numbers, by Newton's method."""
    signs = np.stack((numbers, np.ones_like(numbers)), axis=1)
    weights = np.zeros(2)
    for _ in range(rounds):
        chance = 1 / (1 + np.exp(-signs @ weights))
        spread = (signs * (chance * (1 - chance))[:, None]).T @ signs + 1e-6 * np.eye(2)
        weights += np.linalg.solve(spread, signs.T @ (gone - chance))
    return float(weights[0]), float(weights[1])


def threshold(chances: np.ndarray, gone: np.ndarray, wrong: float = WRONG) -> float:
    """Return the lowest chance from which on at most a share ``wrong`` of the turns after which a fact holds lies."""
    holding = np.sort(chances[~gone])[::-1]
    allowed = int(wrong * len(holding))
    return float(np.nextafter(holding[allowed], 1.0)) if allowed < len(holding) else 0.0


def report(turns: Sequence[KnownTurn], read: Sequence[Reading], chances: np.ndarray, certain: float) -> str:
    """Return, for each kind of turn, how often the fact is held to be gone, and how often the new value is right."""
    by_kind: dict[str, list[bool]] = defaultdict(list)
    values: list[bool] = []
    for turn, (_, new), chance in zip(turns, read, chances, strict=True):
        by_kind[turn.kind].append(bool(chance >= certain))
        if turn.gone and chance >= certain:
            values.append(_same(turn.text, turn.new, new))
    gone = np.asarray([turn.gone for turn in turns])
    found = chances >= certain
    lines = [
        f"{len(turns)} turns: precision {np.mean(gone[found]):.3f}, recall {np.mean(found[gone]):.3f}, "
        f"wrong {np.mean(found[~gone]):.4f}, new value right {np.mean(values):.3f} of {len(values)}"
    ]
    kinds = [kind for kind in (*sorted(GONE), *sorted(HOLDS)) if by_kind[kind]]
    lines += [f"  {kind:9} {sum(by_kind[kind]):4} of {len(by_kind[kind])}" for kind in kinds]
    return "\n".join(lines) + "\n"


def _same(text: str, wanted: Span | None, found: Span | None) -> bool:
    """Whether two values are the same but for the words around one of them."""
    if wanted is None or found is None:
        return wanted == found
    return wanted[0] < found[1] and found[0] < wanted[1] and abs(len(text[slice(*wanted)]) - (found[1] - found[0])) < 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wrong", type=float, default=WRONG)
    parser.add_argument("--write", action="store_true")
    call = parser.parse_args()
    reader = TrainedChangeReader(load("changes"))
    began = time.process_time()
    turns = {writer: list(read_turns(DATA / f"{writer}.jsonl")) for writer in (*DEVELOPMENT, *TEST)}
    read = {writer: reader.decode([as_fact(turn) for turn in own]) for writer, own in turns.items()}
    numbers = {writer: np.asarray([number for number, _ in own]) for writer, own in read.items()}
    seconds, count = time.process_time() - began, sum(map(len, turns.values()))
    gone = np.asarray([turn.gone for writer in DEVELOPMENT for turn in turns[writer]])
    slope, bias = calibrate(np.concatenate([numbers[writer] for writer in DEVELOPMENT]), gone.astype(float))
    chances = {writer: 1 / (1 + np.exp(-(slope * own + bias))) for writer, own in numbers.items()}
    certain = threshold(np.concatenate([chances[writer] for writer in DEVELOPMENT]), gone, call.wrong)
    sys.stdout.write(
        f"{count / seconds:.0f} facts a second of CPU; slope {slope:.3f}, bias {bias:.3f}, certain {certain:.3f}\n"
    )
    for name, writers in {"development": DEVELOPMENT, "test": TEST}.items():
        for group in (*((writer,) for writer in writers), writers):
            own = [turn for writer in group for turn in turns[writer]]
            found = [each for writer in group for each in read[writer]]
            sure = np.concatenate([chances[writer] for writer in group])
            sys.stdout.write(f"{name}, {' and '.join(group)}: {report(own, found, sure, certain)}")
    if call.write:
        stored = {"calibration.slope": slope, "calibration.bias": bias, "certain": certain}
        store_ends("changes", {name: np.asarray(value) for name, value in stored.items()})


if __name__ == "__main__":
    main()
