"""Training of the reader of changes: does a known fact still hold after a turn, and what has taken its place.

    python -m training.changes.train --prepared prepared --start start/statements --out OUT [--tiny]

The first token tells whether the fact is gone; two numbers for each token tell where the new value begins and ends, the
first token where there is none. What is measured and kept is a moving mean of the weights. It starts from the reader of
statements, or the reader of answers (``python -m training.average start/statements shipped:statements``).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.bert import WIDTH, Bert, load_arrays, unpack
from training.loop import arguments, run
from training.texts import load_state, save

PARTS = ("written", "derived", "development", "development of claims")
NEVER = -1e4


class ChangeReader(nn.Module):
    """An encoder, whether the fact is gone, and for each token whether a new value begins or ends there."""

    def __init__(self, trunk: nn.Module) -> None:
        super().__init__()
        self.bert = trunk
        self.gone = nn.Linear(WIDTH, 1)
        self.span = nn.Linear(WIDTH, 2)

    def forward(self, ids: Tensor, segments: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        tokens = self.bert(ids, segments, lengths)
        places = torch.arange(ids.shape[1], device=ids.device)[None]
        readable = ((segments == 1) & (places < lengths[:, None] - 1)) | (places == 0)
        numbers = self.span(tokens).float().masked_fill(~readable[..., None], NEVER)
        return self.gone(tokens[:, 0]).squeeze(-1).float(), numbers


class Examples:
    """Prepared turns, on the device that trains."""

    def __init__(self, path: Path, device: str) -> None:
        data = load_arrays(path)
        ends = data["ids_ends"].astype(np.int64)
        self.device = device
        self.lengths = np.diff(ends)
        self.gone, self.parts = data["gone"].astype(np.float32), data["parts"]
        self._starts, self._heads = ends[:-1], data["heads"].astype(np.int64)
        self._ids = torch.from_numpy(data["ids"].astype(np.int32)).to(device)
        self._new = torch.from_numpy(data["new"].astype(np.int64)).to(device)
        self._gone = torch.from_numpy(self.gone).to(device)

    def part(self, name: str) -> np.ndarray:
        return np.flatnonzero(self.parts == PARTS.index(name))

    def batch(self, chosen: np.ndarray) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor, Tensor]:
        """Return the inputs of some turns, whether the fact is gone, and the places of the new value."""
        longest = int(self.lengths[chosen].max())
        longest += -longest % 8
        table = np.stack((self._starts[chosen], self.lengths[chosen], self._heads[chosen], chosen))
        starts, lengths, heads, rows = torch.from_numpy(table).to(self.device)
        places = torch.arange(longest, device=self.device)[None]
        real = places < lengths[:, None]
        ids = self._ids[(starts[:, None] + places).clamp(max=len(self._ids) - 1)].long().masked_fill(~real, 0)
        return (ids, (real & (places >= heads[:, None])).long(), lengths), self._gone[rows], self._new[rows]


def epoch(examples: Examples, written: int, holding: float, chance: np.random.Generator) -> np.ndarray:
    """Return the turns of an epoch: written ones several times, derived ones that end a fact, and some others."""
    derived, own = examples.part("derived"), examples.part("written")
    gone = derived[examples.gone[derived] > 0]
    holds = chance.permutation(derived[examples.gone[derived] == 0])[: int(holding * len(gone))]
    return np.concatenate([*[own] * written, gone, holds])


def batches(chosen: np.ndarray, size: int, lengths: np.ndarray, chance: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield turns in batches of about one length, in random order."""
    order = chance.permutation(chosen)
    for start in range(0, len(order), size * 50):
        part = order[start : start + size * 50]
        part = part[np.argsort(lengths[part] + chance.random(len(part)) * 4, kind="stable")]
        yield from (part[at : at + size] for at in chance.permutation(range(0, len(part), size)))


def loss_of(model: ChangeReader, examples: Examples, chosen: np.ndarray, smooth: float) -> Tensor:
    inputs, gone, new = examples.batch(chosen)
    number, places = model(*inputs)
    told = functional.binary_cross_entropy_with_logits(number, gone * (1 - 2 * smooth) + smooth)
    placed = functional.cross_entropy(places[..., 0], new[:, 0]) + functional.cross_entropy(places[..., 1], new[:, 1])
    return told + 0.5 * placed


@torch.no_grad()
def read(model: ChangeReader, examples: Examples, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each turn the number that tells whether its fact is gone, and whether the new value is right."""
    model.eval()
    numbers, right = np.zeros(len(chosen)), np.zeros(len(chosen), np.bool_)
    order = np.argsort(examples.lengths[chosen], kind="stable")
    for start in range(0, len(order), 256):
        part = order[start : start + 256]
        inputs, _, new = examples.batch(chosen[part])
        with torch.autocast(examples.device, dtype=torch.bfloat16):
            number, places = model(*inputs)
        numbers[part] = number.cpu().numpy()
        right[part] = (places.argmax(1) == new).all(1).cpu().numpy()
    return numbers, right


def figures(model: ChangeReader, examples: Examples, chosen: np.ndarray) -> dict[str, Any]:
    """Return how well the turns that end a fact are told from the others, and how often the new value is right."""
    numbers, right = read(model, examples, chosen)
    gone = examples.gone[chosen] > 0
    order = np.argsort(-numbers)
    hits = np.cumsum(gone[order])
    precision = hits / np.arange(1, len(order) + 1)
    ranks = np.argsort(np.argsort(numbers))
    area = (ranks[gone].sum() - gone.sum() * (gone.sum() - 1) / 2) / max(gone.sum() * (~gone).sum(), 1)
    return {
        "auroc": round(float(area), 4),
        **{
            f"recall at {p}": round(float(max(hits[precision >= p], default=0) / max(gone.sum(), 1)), 3)
            for p in (0.9, 0.95)
        },
        "value": round(float(right[gone].mean()), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser, epochs=12, size=64, rate=1e-4, minutes=4.0, head_factor=10.0)
    parser.add_argument("--start", type=Path, help="weights of this reader, or of that of statements, to go on from")
    parser.add_argument("--drop", type=float, default=0.15)
    parser.add_argument("--smooth", type=float, default=0.03)
    parser.add_argument("--written", type=int, default=3, help="how often an epoch takes a written turn")
    parser.add_argument(
        "--holding", type=float, default=2.5, help="derived turns after which a fact holds, for one that ends it"
    )
    call = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(call.seed)
    call.out.mkdir(parents=True, exist_ok=True)
    examples = Examples(call.prepared / "changes.npz.xz", device)
    encoder = Bert(6, call.drop)
    encoder.load_state_dict(unpack(call.prepared / "trunk.npz.xz"))
    model = ChangeReader(encoder)
    if call.start is not None:
        own = model.state_dict()
        state = {name: value for name, value in load_state(call.start).items() if name in own}
        model.load_state_dict(state, strict=False)
    model.to(device)
    chance = np.random.default_rng(call.seed)
    measured = {name: examples.part(name)[: 32 if call.tiny else None] for name in PARTS[2:]}

    def parts() -> Iterator[np.ndarray]:
        return batches(epoch(examples, call.written, call.holding, chance), call.size, examples.lengths, chance)

    def measure(reader: nn.Module) -> dict[str, Any]:
        assert isinstance(reader, ChangeReader)
        return {name: figures(reader, examples, chosen) for name, chosen in measured.items()}

    steps = call.epochs * math.ceil(len(epoch(examples, call.written, call.holding, chance)) / call.size)
    mean, curve = run(
        model,
        device,
        4 if call.tiny else steps,
        parts,
        lambda part: loss_of(model, examples, part, call.smooth),
        measure,
        call,
    )
    curve.append(measure(mean))
    sys.stdout.write(f"{json.dumps(curve[-1])}\n")
    save(mean, call.out, "changes6")
    (call.out / "changes_curve.json").write_text(json.dumps(curve))


if __name__ == "__main__":
    main()
