"""The columns of a view: the fields of each row, and integer codes for their strings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmind.types import STATES

NONE = -1
"""The code of a missing string, and of a missing neighbour row."""
STATE_CODES = {state: code for code, state in enumerate(STATES)}
COLUMNS: dict[str, type[np.generic]] = {
    "alive": np.bool_,
    "said": np.bool_,
    "has_vector": np.bool_,
    "length": np.float32,
    "kind": np.int16,
    "state": np.int8,
    "user": np.int32,
    "session": np.int32,
    "thread": np.int32,
    "importance": np.float32,
    "trust": np.float32,
    "seq": np.int64,
    "occurred_at": np.float64,
    "recorded_at": np.float64,
    "valid_from": np.float64,
    "valid_to": np.float64,
    "expires_at": np.float64,
    "before": np.int32,
    "after": np.int32,
    "near_norm": np.float32,
}


class Codes:
    """Integer codes for strings, in the order they were first seen."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._codes: dict[str, int] = {}

    def restore(self, names: Iterable[str]) -> None:
        """Take in names that have the codes 0, 1, 2 ... There must be no others."""
        self.names = list(names)
        self._codes = {name: code for code, name in enumerate(self.names)}

    def of(self, name: str | None) -> int:
        if name is None:
            return NONE
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = len(self.names)
            self.names.append(name)
        return code

    def known(self, names: Iterable[str]) -> list[int]:
        return [self._codes[n] for n in names if n in self._codes]


def listed(codes: NDArray[Any], wanted: Sequence[int], count: int) -> NDArray[np.bool_]:
    """Return which of these codes are wanted; ``NONE`` never is."""
    flags: NDArray[np.bool_]
    if len(wanted) <= 4:  # to compare is cheaper than to look up
        flags = np.zeros(len(codes), np.bool_)
        for code in wanted:
            flags |= codes == code
        return flags
    table = np.zeros(count + 1, np.bool_)
    table[list(wanted)] = True
    flags = table[codes]
    return flags
