"""Prepared turns as batches for the reader of statements and for its teachers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.bert import load_arrays
from training.claims.model import Inputs

PARTS = ("train", "development", "test", "unlabelled")
FOLDS = 4
"""How many teachers there are; each reads the writers of one fold that it has not learnt from."""
Claim = tuple[int, ...]
"""Relation, status, and the first and last token of object, subject and time."""


class Examples:
    """All prepared turns; which of them are trained on, measured on, or have no labels."""

    def __init__(self, path: Path) -> None:
        data = load_arrays(path)
        self._ids, self._ends = data["ids"], data["ids_ends"].astype(np.int64)
        self.heads = data["heads"].astype(int)
        self.folds = data["writers"].astype(int) % FOLDS
        self.turns = np.stack([data[name].astype(int) for name in ("writers", "lines", "variants")], 1)
        self.relations = [str(name) for name in data["relations"]]
        self.statuses = [str(name) for name in data["statuses"]]
        self.parts = data["parts"]
        self.claims: list[list[Claim]] = [
            [tuple(claim) for claim in data["claims"][a:b].reshape(-1, 8).tolist()]
            for a, b in itertools.pairwise(data["claims_ends"].astype(np.int64))
        ]
        self.lengths = np.diff(self._ends)

    def part(self, name: str) -> np.ndarray:
        """Return the turns of a part."""
        return np.flatnonzero(self.parts == PARTS.index(name))

    def inputs(self, chosen: np.ndarray, device: str) -> Inputs:
        """Return the padded tensors of some turns."""
        lengths = self.lengths[chosen]
        longest = int(lengths.max())
        longest += -longest % 8
        ids = np.zeros((len(chosen), longest), np.int64)
        for row, number in enumerate(chosen):
            ids[row, : lengths[row]] = self._ids[self._ends[number] : self._ends[number + 1]]
        places = np.arange(longest)[None]
        segments = (places >= self.heads[chosen][:, None]) & (places < lengths[:, None])
        arrays = (ids, segments.astype(np.int64), lengths)
        return tuple(torch.from_numpy(array).to(device, non_blocking=True) for array in arrays)


def batches(
    chosen: np.ndarray, size: int, lengths: np.ndarray, chance: np.random.Generator | None
) -> Iterator[np.ndarray]:
    """Yield turns in batches of about one length, in random order if there is ``chance``."""
    if chance is None:
        order = chosen[np.argsort(lengths[chosen], kind="stable")]
        yield from (order[start : start + size] for start in range(0, len(order), size))
        return
    order = chance.permutation(chosen)
    pool = size * 50
    for start in range(0, len(order), pool):
        part = order[start : start + pool]
        part = part[np.argsort(lengths[part] + chance.random(len(part)) * 4, kind="stable")]
        starts = chance.permutation(range(0, len(part), size))
        yield from (part[at : at + size] for at in starts)


def claim_table(examples: Examples, chosen: np.ndarray, device: str) -> Tensor:
    """Return the claims of a batch: the row in the batch, and the eight numbers of each."""
    rows = [(row, *claim) for row, number in enumerate(chosen) for claim in examples.claims[number]]
    return torch.tensor(rows, device=device, dtype=torch.long).reshape(-1, 9)
