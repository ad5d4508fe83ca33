"""Prepared turns as batches for the reader of statements and for its teachers; they lie on the device that trains."""

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


class Lists:
    """A list of entries for each turn, as columns on the device: those of a batch are picked at once."""

    def __init__(self, ends: np.ndarray, columns: tuple[np.ndarray, ...], device: str) -> None:
        self._ends = ends.astype(np.int64)
        self._columns = tuple(torch.from_numpy(column).to(device) for column in columns)
        self._device = device

    def of(self, chosen: np.ndarray) -> tuple[Tensor, ...]:
        """Return the entries of turns: the row of each entry in the batch, and its columns."""
        starts = self._ends[chosen]
        counts = self._ends[chosen + 1] - starts
        rows = np.repeat(np.arange(len(chosen)), counts)
        places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts - starts, counts)
        index = torch.from_numpy(places).to(self._device, non_blocking=True)
        return torch.from_numpy(rows).to(self._device, non_blocking=True), *(column[index] for column in self._columns)


class Examples:
    """All prepared turns; which of them are trained on, measured on, or have no labels."""

    def __init__(self, path: Path, device: str) -> None:
        data = load_arrays(path)
        ends = data["ids_ends"].astype(np.int64)
        self.device = device
        self.heads, self.lengths = data["heads"].astype(np.int64), np.diff(ends)
        self._ids = torch.from_numpy(data["ids"].astype(np.int32)).to(device)
        self._turns = torch.from_numpy(np.stack((ends[:-1], self.lengths, self.heads))).to(device)
        self.folds = data["writers"].astype(int) % FOLDS
        self.turns = np.stack([data[name].astype(int) for name in ("writers", "lines", "variants")], 1)
        self.relations = [str(name) for name in data["relations"]]
        self.statuses = [str(name) for name in data["statuses"]]
        self.parts = data["parts"]
        self.claims: list[list[Claim]] = [
            [tuple(claim) for claim in data["claims"][a:b].reshape(-1, 8).tolist()]
            for a, b in itertools.pairwise(data["claims_ends"].astype(np.int64))
        ]

    def __len__(self) -> int:
        return len(self.parts)

    def part(self, name: str) -> np.ndarray:
        """Return the turns of a part."""
        return np.flatnonzero(self.parts == PARTS.index(name))

    def inputs(self, chosen: np.ndarray) -> Inputs:
        """Return the padded tensors of some turns."""
        longest = int(self.lengths[chosen].max())
        longest += -longest % 8
        starts, lengths, heads = self._turns[:, torch.from_numpy(chosen).to(self.device)]
        places = torch.arange(longest, device=self.device)[None]
        real = places < lengths[:, None]
        ids = self._ids[(starts[:, None] + places).clamp(max=len(self._ids) - 1)].long().masked_fill(~real, 0)
        return ids, (real & (places >= heads[:, None])).long(), lengths


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
