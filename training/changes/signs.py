"""Training of the layers that tell of which relations a turn may tell a change, over the reader of statements.

    python -m training.changes.signs [--write]

The encoder stays as it is: turns are read once, with the exported model, and two small layers are trained on its
vectors on a CPU in a minute. Turns that end a fact are learnt, and turns labelled with their claims as what tells of no
change but those that they state. A near miss ("he nearly sold it") is neither: that is what the reader of changes is
for. ``RATES``, how many relations may be named for a turn of talk, decides from which likelihood on a relation is worth
reading with a fact that the turn names, and with one that it does not name.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from longmind.consolidate.rules.relations import LASTING
from longmind.models.small_models import load
from longmind.models.statement_reader import TrainedStatementReader
from longmind.models.statements import RELATIONS
from longmind.models.statements import Turn as ReadTurn
from training.changes.turns import DATA, DEVELOPMENT, TEST, KnownTurn, read_turns
from training.claims import labels
from training.claims.prepare import part_of
from training.export import store_ends

RATES = {"least": 1.5, "likely": 0.5}
"""Relations named for a turn of talk, for facts that the turn names, and for those that it does not."""
PLAIN = {"train": 6_000, "development": 1_500}
"""Turns labelled with claims that are read, by what they are for."""
_WORK = ("works_as", "works_at", "works_in")


class Layers(nn.Module):
    """The two layers; what they read is brought to a mean of 0 and a spread of 1."""

    def __init__(self, signs: torch.Tensor, hidden: int = 64) -> None:
        super().__init__()
        self.register_buffer("mean", signs.mean(0))
        self.register_buffer("spread", signs.std(0) + 1e-3)
        self.inner = nn.Linear(signs.shape[1], hidden)
        self.outer = nn.Linear(hidden, len(RELATIONS))

    def forward(self, signs: torch.Tensor) -> torch.Tensor:
        value = functional.dropout((signs - self.mean) / self.spread, 0.2, self.training)
        inner: torch.Tensor = functional.dropout(functional.relu(self.inner(value)), 0.3, self.training)
        return self.outer(inner)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the layers as they are stored, over numbers as they are."""
        weight = self.inner.weight / self.spread
        stored = {
            "signs.inner.weight": weight,
            "signs.inner.bias": self.inner.bias - weight @ self.mean,
            "signs.outer.weight": self.outer.weight,
            "signs.outer.bias": self.outer.bias,
        }
        return {name: value.detach().numpy() for name, value in stored.items()}


def targets(changes: Sequence[KnownTurn], plain: Sequence[labels.Turn]) -> tuple[np.ndarray, np.ndarray]:
    """Return for each turn and relation whether it tells a change, and how much that counts: not where nobody knows."""
    wanted = np.zeros((len(changes) + len(plain), len(RELATIONS)), np.float32)
    counts = np.ones_like(wanted)
    for row, turn in enumerate(changes):
        for relation in _WORK if turn.relation in _WORK else ():
            counts[row, RELATIONS.index(relation)] = 0
        wanted[row, RELATIONS.index(turn.relation)] = turn.gone
        counts[row, RELATIONS.index(turn.relation)] = turn.gone
    for row, said in enumerate(plain, len(changes)):
        for claim in said.claims:
            ended = claim.status == "ended"
            wanted[row, RELATIONS.index(claim.relation)] = counts[row, RELATIONS.index(claim.relation)] = ended
    never = [number for number, relation in enumerate(RELATIONS) if relation not in LASTING]
    wanted[:, never], counts[:, never] = 0, 1
    return wanted, counts


def train(signs: np.ndarray, wanted: np.ndarray, counts: np.ndarray, epochs: int = 25, size: int = 64) -> Layers:
    """Return the layers, trained on the signs of turns."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    inputs, goals, weights = (torch.from_numpy(array) for array in (signs, wanted, counts))
    layers = Layers(inputs)
    optimizer = torch.optim.AdamW(layers.parameters(), 1e-3, weight_decay=0.05)
    steps = epochs * -(-len(signs) // size)
    slower = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, steps)
    for _ in range(epochs):
        for rows in torch.randperm(len(signs)).split(size):
            each = functional.binary_cross_entropy_with_logits(layers(inputs[rows]), goals[rows], reduction="none")
            loss = (each * weights[rows]).sum(1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            slower.step()
    return layers.eval()


def likelihoods(layers: Layers, signs: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return torch.sigmoid(layers(torch.from_numpy(signs))).numpy()


def report(name: str, turns: Sequence[KnownTurn], likely: np.ndarray, least: float) -> str:
    """Return how often the relation of a turn that ends a fact is named, by kinds, and how many are named in all."""
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for turn, own in zip(turns, likely, strict=True):
        by_kind[turn.kind].append(bool(own[RELATIONS.index(turn.relation)] >= least))
    kinds = ", ".join(f"{kind} {np.mean(by_kind[kind]):.2f}" for kind in ("told", "hinted", "unnamed"))
    return f"{name}: named of what has ended, {kinds}; {np.mean((likely >= least).sum(1)):.2f} relations a turn\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the layers with the weights")
    call = parser.parse_args()
    reader = TrainedStatementReader(load("statements"))
    if tuple(reader.relations) != RELATIONS:
        raise SystemExit("The reader of statements has its relations in another order than the inventory.")

    def read(turns: Sequence[KnownTurn | labels.Turn]) -> np.ndarray:
        signs = reader.signs_of_change([ReadTurn(turn.text, turn.previous) for turn in turns])
        return np.stack(signs).astype(np.float32)

    written = [turn for path in sorted(DATA.glob("*.jsonl")) for turn in read_turns(path)]
    learnt = [turn for turn in written if turn.writer not in (*DEVELOPMENT, *TEST)]
    every = [turn for path in sorted(labels.DATA.glob("*.jsonl")) for turn in labels.read_turns(path)]
    chance = random.Random(1)
    plain = {
        part: chance.sample([turn for turn in every if part_of(turn) == part], count) for part, count in PLAIN.items()
    }
    layers = train(np.concatenate((read(learnt), read(plain["train"]))), *targets(learnt, plain["train"]))
    talk = likelihoods(layers, read(plain["development"]))
    order = np.sort(talk.ravel())[::-1]
    limits = {name: float(order[int(rate * len(talk))]) for name, rate in RATES.items()}
    for name, writers in {"development": DEVELOPMENT, "test": TEST}.items():
        turns = [turn for turn in written if turn.writer in writers]
        likely = likelihoods(layers, read(turns))
        for kind, limit in limits.items():
            sys.stdout.write(report(f"{name}, {kind} {limit:.4f}", turns, likely, limit))
    if call.write:
        store_ends("statements", layers.arrays() | {f"signs.{kind}": np.asarray(limits[kind]) for kind in limits})


if __name__ == "__main__":
    main()
