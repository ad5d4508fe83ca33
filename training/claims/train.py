"""Training of the reader of statements that is shipped: which claims a turn holds.

    python -m training.claims.train --prepared prepared --out OUT [--taught OUT] [--start OUT/reader6] [--tiny]

For the turn: does it hold a claim at all. For every token and relation: does an object begin here, does one end here.
For every object that is read: its status, and where its subject and its time stand (at the first token: the speaker, or
no time). The confidence of a claim is the product of the belief in each of these.

With ``--taught`` it also learns what teachers (``training.claims.teach``) say: of labelled turns that they had not
seen, mixed with the labels, and of turns without labels. What is measured and kept is a moving mean of the weights.
Training may start from a reader of answers, which knows where a name or a phrase begins and ends.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.bert import WIDTH, Bert, unpack
from training.claims.examples import PARTS, Claim, Examples
from training.claims.figures import figures, read
from training.claims.fitting import Target, Wanted, arguments, fit
from training.claims.model import ClaimReader, Inputs
from training.claims.teach import gold_target
from training.texts import load_state, save


class Taught:
    """What teachers said of turns."""

    def __init__(self, paths: list[Path], turns: int) -> None:
        self._objects: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in range(turns)]
        self._holds: list[list[float]] = [[] for _ in range(turns)]
        self._claims: list[list[tuple[Claim, np.ndarray, float]]] = [[] for _ in range(turns)]
        for path in paths:
            with np.load(path) as stored:
                data = {name: stored[name] for name in stored.files}
            ends = np.concatenate(([0], np.cumsum(data["counts"].astype(np.int64))))
            for place, number in enumerate(data["numbers"].tolist()):
                part = slice(ends[place], ends[place + 1])
                self._objects[number].append((data["places"][part].astype(np.int64), data["values"][part]))
                self._holds[number].append(float(data["holds"][place]))
            for row, statuses, weight in zip(data["claims"].tolist(), data["statuses"], data["weights"], strict=True):
                self._claims[row[0]].append((tuple(row[1:]), statuses.astype(np.float32), float(weight)))

    def knows(self, number: int) -> bool:
        """Whether a teacher has read a turn."""
        return bool(self._objects[number])

    def objects(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the places and the mean beliefs of teachers; a place may come several times, and is then added up."""
        parts = self._objects[number]
        return np.concatenate([p for p, _ in parts]), np.concatenate([v for _, v in parts]).astype(np.float32) / len(
            parts
        )

    def holds(self, number: int) -> float:
        return float(np.mean(self._holds[number]))

    def claims(self, number: int) -> list[tuple[Claim, np.ndarray, float]]:
        return [(c, s, w / max(len(self._objects[number]), 1)) for c, s, w in self._claims[number]]


def taught_target(examples: Examples, taught: Taught, share: float, device: str) -> Target:
    """Return what labels and teachers want of a batch."""
    gold: Target = gold_target(examples, device)
    unlabelled = examples.parts == PARTS.index("unlabelled")

    def target(chosen: np.ndarray, inputs: Inputs) -> Wanted:
        wanted = gold(chosen, inputs)
        rows, places, values = [], [], []
        shares = np.zeros(len(chosen), np.float32)
        holds = np.zeros(len(chosen), np.float32)
        for row, number in enumerate(chosen):
            if taught.knows(number):
                shares[row] = 1.0 if unlabelled[number] else share
                own, likely = taught.objects(number)
                rows.append(np.full(len(own), row))
                places.append(own)
                values.append(likely * shares[row])
                holds[row] = taught.holds(number)
        kept = torch.from_numpy(1 - shares).to(device)
        objects = (wanted.objects * kept[:, None, None, None]).flatten(1)
        if rows:
            index = tuple(torch.from_numpy(np.concatenate(part)).to(device) for part in (rows, places))
            objects.index_put_(index, torch.from_numpy(np.concatenate(values)).to(device), accumulate=True)
        mixed = wanted.holds * kept + torch.from_numpy(holds * shares).to(device)
        return _with_claims(wanted._replace(objects=objects.view_as(wanted.objects), holds=mixed), chosen)

    def _with_claims(wanted: Wanted, chosen: np.ndarray) -> Wanted:
        told = [
            (row, *entry) for row, number in enumerate(chosen) if unlabelled[number] for entry in taught.claims(number)
        ]
        if not told:
            return wanted
        table = torch.tensor([(row, *claim) for row, claim, _, _ in told], device=device, dtype=torch.long)
        statuses = torch.from_numpy(np.stack([each for _, _, each, _ in told])).to(device)
        weights = torch.tensor([weight for *_, weight in told], device=device)
        return wanted._replace(
            claims=torch.cat((wanted.claims, table)),
            statuses=torch.cat((wanted.statuses, statuses)),
            weights=torch.cat((wanted.weights, weights)),
        )

    return target


def trained_trunk(prefix: Path) -> dict[str, Tensor]:
    """Return the encoder of a model that was trained before, without the word vectors."""
    return {n.removeprefix("bert."): value for n, value in load_state(prefix).items() if n.startswith("bert.")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser, epochs=8, size=64, rate=3e-4, minutes=4.0)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--taught", type=Path, help="the folder with what teachers said")
    parser.add_argument("--mixed", type=float, default=0.35, help="how much teachers count beside a label")
    parser.add_argument("--drop", type=float, default=0.15)
    call = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(call.seed)
    call.out.mkdir(parents=True, exist_ok=True)
    examples = Examples(call.prepared / "claims.npz.xz")
    trunk = unpack(call.prepared / "trunk.npz.xz")
    encoder = Bert(6, call.drop)
    encoder.load_state_dict(trunk if call.start is None else trunk | trained_trunk(call.start))
    model = ClaimReader(encoder, WIDTH, len(examples.relations), len(examples.statuses)).to(device)
    train, development, test = (examples.part(name) for name in ("train", "development", "test"))
    target: Target = gold_target(examples, device)
    if call.taught is not None:
        taught = Taught(sorted(call.taught.glob("taught.*.npz")), len(examples.parts))
        target = taught_target(examples, taught, call.mixed, device)
        unlabelled = examples.part("unlabelled")
        train = np.concatenate((train, unlabelled[[taught.knows(number) for number in unlabelled]]))
    if call.tiny:
        train, development, test = train[:: len(train) // 128], development[:16], test[:16]
    sys.stdout.write(f"{len(train)} turns\n")
    sys.stdout.flush()
    model, curve = fit(model, examples, train, target, development, device, call)
    for name, part in (("development", development), ("test", test)):
        curve.append({"part": name, **figures(read(model, examples, part, device), examples)})
        sys.stdout.write(f"{json.dumps(curve[-1])}\n")
    save(model, call.out, "claims6")
    (call.out / "claims_curve.json").write_text(json.dumps(curve))


if __name__ == "__main__":
    main()
