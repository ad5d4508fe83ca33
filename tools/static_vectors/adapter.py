"""What is learnt: a weight for every token, and one map of the sum. Forward and back by hand, in numpy.

The vector of a text is the sum of its tokens' vectors, each times its weight, mapped and scaled to unit length. The
tokens' own vectors stay as they are published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
_LEAST = np.float32(1e-6)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of some texts, one after the other."""

    flat: NDArray[np.int64]
    text: NDArray[np.int64]
    """Which text each token is of, ascending."""
    texts: int

    @classmethod
    def of(cls, ids: Sequence[Sequence[int]]) -> Tokens:
        flat = np.fromiter((token for text in ids for token in text), np.int64)
        return cls(flat, np.repeat(np.arange(len(ids)), [len(text) for text in ids]), len(ids))

    def some(self, kept: NDArray[np.bool_]) -> Tokens:
        return Tokens(self.flat[kept], self.text[kept], self.texts)


@dataclass(slots=True)
class Made:
    """The vectors of some texts, and what is needed to go back from them."""

    tokens: Tokens
    sums: Floats
    lengths: Floats
    unit: Floats


class Adapter:
    """Weights of tokens and a map, and how the loss changes with them."""

    def __init__(self, table: Floats) -> None:
        self.table = table
        self.log_weights = np.zeros(len(table), np.float32)
        self.map = np.eye(table.shape[1], dtype=np.float32)
        self.weights_slope = np.zeros_like(self.log_weights)
        self.map_slope = np.zeros_like(self.map)

    def forward(self, tokens: Tokens) -> Made:
        weighted = self.table[tokens.flat] * np.exp(self.log_weights[tokens.flat])[:, None]
        sums = np.zeros((tokens.texts, self.table.shape[1]), np.float32)
        if len(tokens.flat):
            starts = np.flatnonzero(np.diff(tokens.text, prepend=-1))
            sums[tokens.text[starts]] = np.add.reduceat(weighted, starts, axis=0)
        mapped = sums @ self.map
        lengths = np.maximum(np.linalg.norm(mapped, axis=1, keepdims=True), _LEAST).astype(np.float32)
        return Made(tokens, sums, lengths, mapped / lengths)

    def backward(self, made: Made, slope: Floats) -> None:
        """Add to the slopes what a slope of the loss in the vectors means for weights and map."""
        across = np.sum(slope * made.unit, axis=1, keepdims=True)
        mapped = (slope - made.unit * across) / made.lengths
        self.map_slope += made.sums.T @ mapped
        sums, tokens = mapped @ self.map.T, made.tokens
        by_token = np.einsum("ij,ij->i", self.table[tokens.flat], sums[tokens.text])
        by_token *= np.exp(self.log_weights[tokens.flat])
        self.weights_slope += np.bincount(tokens.flat, by_token, len(self.log_weights)).astype(np.float32)


class Adam:
    """The usual optimiser, for one array."""

    def __init__(self, values: Floats, rate: float) -> None:
        self._values, self._rate = values, rate
        self._mean, self._square, self._steps = np.zeros_like(values), np.zeros_like(values), 0

    def step(self, slope: Floats, share: float) -> None:
        """One step along a slope, which is then cleared, at a share of the full rate."""
        self._steps += 1
        self._mean += np.float32(0.1) * (slope - self._mean)
        self._square += np.float32(0.001) * (slope * slope - self._square)
        mean = self._mean / (1 - 0.9**self._steps)
        root = np.sqrt(self._square / (1 - 0.999**self._steps)) + 1e-8
        self._values -= (share * self._rate * mean / root).astype(np.float32)
        slope[:] = 0
