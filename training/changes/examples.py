"""Prepared facts and claims beside turns, as batches on the device that trains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training.bert import load_arrays
from training.changes.model import VERDICTS, Inputs

PARTS = (
    "written",
    "derived",
    "paired",
    "development",
    "development of claims",
    "judged",
    "stated",
    "found",
    "unjudged",
    "judged development",
)
"""Facts beside turns that were written for it, made of labelled claims, or put together without a label, and those that
are measured on; claims that somebody judged, that labels state or contradict, that a reader found in labelled turns and
in turns without labels, and those that are measured on."""
UNKNOWN = VERDICTS
"""The verdict of a claim that nobody has judged, and of a fact."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a batch is to give: how likely facts are gone and claims right, and the places of new values.

    What is not known of an example has a weight of 0.
    """

    gone: Tensor
    gone_weight: Tensor
    new: Tensor
    new_weight: Tensor
    verdict: Tensor
    verdict_weight: Tensor


class Examples:
    """All prepared facts and claims, with what labels and teachers say of them."""

    def __init__(self, path: Path, device: str) -> None:
        data = load_arrays(path)
        ends = data["ids_ends"].astype(np.int64)
        self.device = device
        self.lengths = np.diff(ends)
        self.parts = data["parts"]
        self.gone = data["gone"].astype(np.float32)
        """1: gone, 0: it holds, -1: not known."""
        self.verdicts = data["verdicts"].astype(np.int64)
        self._starts, self._heads = ends[:-1], data["heads"].astype(np.int64)
        self._ids = torch.from_numpy(data["ids"].astype(np.int32)).to(device)
        self._new = torch.from_numpy(data["new"].astype(np.int64)).to(device)
        likely = np.concatenate((np.eye(VERDICTS), np.zeros((1, VERDICTS))))[self.verdicts].astype(np.float32)
        self._gone = torch.from_numpy(self.gone.clip(min=0)).to(device)
        self._gone_known = torch.from_numpy((self.gone >= 0).astype(np.float32)).to(device)
        self._new_known = self._gone_known.clone()
        self._verdicts = torch.from_numpy(likely).to(device)
        self._verdict_known = torch.from_numpy((self.verdicts != UNKNOWN).astype(np.float32)).to(device)

    def part(self, name: str) -> np.ndarray:
        return np.flatnonzero(self.parts == PARTS.index(name))

    def teach(self, numbers: np.ndarray, gone: np.ndarray, verdicts: np.ndarray, share: float) -> None:
        """Count what teachers say of some examples: by a share where labels are known, else alone."""
        rows = torch.from_numpy(numbers.astype(np.int64)).to(self.device)
        is_claim = torch.from_numpy(self.parts[numbers] >= PARTS.index("judged")).to(self.device)
        told = torch.from_numpy(gone.astype(np.float32)).to(self.device)
        beside = torch.where(self._gone_known[rows] > 0, share, 1.0)
        self._gone[rows] = self._gone[rows] * (1 - beside) + told * beside
        self._gone_known[rows] = (~is_claim).float()
        told = torch.from_numpy(verdicts.astype(np.float32)).to(self.device)
        beside = torch.where(self._verdict_known[rows] > 0, share, 1.0)[:, None]
        self._verdicts[rows] = self._verdicts[rows] * (1 - beside) + told * beside
        self._verdict_known[rows] = is_claim.float()

    def batch(self, chosen: np.ndarray) -> tuple[Inputs, Wanted]:
        """Return the inputs of some examples, and what they are to give."""
        longest = int(self.lengths[chosen].max())
        longest += -longest % 8
        table = np.stack((self._starts[chosen], self.lengths[chosen], self._heads[chosen], chosen))
        starts, lengths, heads, rows = torch.from_numpy(table).to(self.device)
        places = torch.arange(longest, device=self.device)[None]
        real = places < lengths[:, None]
        ids = self._ids[(starts[:, None] + places).clamp(max=len(self._ids) - 1)].long().masked_fill(~real, 0)
        wanted = Wanted(
            self._gone[rows],
            self._gone_known[rows],
            self._new[rows],
            self._new_known[rows],
            self._verdicts[rows],
            self._verdict_known[rows],
        )
        return (ids, (real & (places >= heads[:, None])).long(), lengths), wanted


def batches(chosen: np.ndarray, size: int, lengths: np.ndarray, chance: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield examples in batches of about one length, in random order."""
    order = chance.permutation(chosen)
    for start in range(0, len(order), size * 50):
        part = order[start : start + size * 50]
        part = part[np.argsort(lengths[part] + chance.random(len(part)) * 4, kind="stable")]
        yield from (part[at : at + size] for at in chance.permutation(range(0, len(part), size)))
