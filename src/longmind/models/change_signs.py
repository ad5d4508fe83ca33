"""Of which relations a turn may tell a change: two small layers over the vectors of the reader of statements.

They say much more often that there may be a change than there is one. What they name is read together with what is
known, by the reader of changes, which costs as much as reading a turn does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmind.models.claim_decoding import Array


def signs_of_change(tokens: Array, head: int) -> Array:
    """Return what tells of changes: the largest and the mean of each number of the passage, and its first vector."""
    own = tokens[head:-1]
    return np.concatenate((own.max(axis=0), own.mean(axis=0), tokens[0]))


class ChangeSigns:
    """The two layers, and from which likelihoods on a relation is worth reading."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._inner, self._inner_bias, self._outer, self._outer_bias = (
            np.asarray(arrays[f"signs.{name}"], np.float32)
            for name in ("inner.weight", "inner.bias", "outer.weight", "outer.bias")
        )
        self._least, self._likely = float(arrays["signs.least"]), float(arrays["signs.likely"])

    @classmethod
    def stored(cls, arrays: Mapping[str, NDArray[Any]]) -> ChangeSigns | None:
        """Return the layers that are stored with a model, if there are any."""
        return cls(arrays) if "signs.least" in arrays else None

    def likely(self, signs: Array) -> Array:
        """Return for each relation how likely a turn tells a change of it."""
        inner = np.maximum(self._inner @ signs + self._inner_bias, 0)
        numbers = np.clip(self._outer @ inner + self._outer_bias, -30, 30)
        likely: Array = 1 / (1 + np.exp(-numbers))
        return likely

    def find(self, tokens: Array, head: int) -> list[tuple[int, bool]]:
        """Return the numbers of the relations that are worth reading with what a text names, the likeliest first.

        With each comes whether it is worth reading also with what the text does not name.
        """
        likely = self.likely(signs_of_change(tokens, head))
        order = [int(number) for number in np.argsort(-likely) if likely[number] >= self._least]
        return [(number, bool(likely[number] >= self._likely)) for number in order]
