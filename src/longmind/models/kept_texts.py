"""What the reranker has read of texts, kept in the process so that each is read once.

An entry is found by what was read and not by a memory, so that nothing has to be brought up to date: another wording is
another text.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from longmind.models.small_models import Floats

KEPT_BYTES = 64 << 20
"""The most memory that what was read takes in one process; what was not used for longest goes first."""
ROOM_AHEAD = 0.75
"""The share of it up to which texts are read ahead, so that they never push out what questions use."""
_ENTRY_BYTES = 200
"""What an entry takes beside its numbers."""


class TextVectors(NamedTuple):
    """The vectors of a text's pieces in 8 bits, a scale for each, and how many pieces the whole text has."""

    vectors: NDArray[np.int8]
    scales: Floats
    length: int

    @property
    def nbytes(self) -> int:
        return self.vectors.nbytes + self.scales.nbytes


class TextPieces(NamedTuple):
    """The word pieces of a text, and of those before and after it: kept for one that is too long to be read at once.

    Of such a text the passage is read that fits the question, so that another question may read another one.
    """

    text: list[int]
    before: list[int]
    after: list[int]

    @property
    def nbytes(self) -> int:
        return 40 * sum(map(len, self))


class KeptTexts:
    """What was read of texts, as much as fits; may be used by several threads at the same time."""

    def __init__(self, most_bytes: int = KEPT_BYTES) -> None:
        self._most, self._bytes = most_bytes, 0
        self._kept: OrderedDict[bytes, TextVectors | TextPieces] = OrderedDict()
        self._lock = threading.Lock()
        self.cleared = 0
        """How often everything was let go of: what was begun before that is not kept."""

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def has_room(self) -> bool:
        """Whether texts may be read ahead."""
        return self._bytes < ROOM_AHEAD * self._most

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._bytes = 0
            self.cleared += 1

    def get(self, key: bytes) -> TextVectors | TextPieces | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def add(self, key: bytes, text: TextVectors | TextPieces, cleared: int) -> None:
        """Keep what was read, unless everything was let go of since it was asked for, when ``cleared`` was read."""
        with self._lock:
            if key in self._kept or cleared != self.cleared:
                return
            self._kept[key] = text
            self._bytes += text.nbytes + _ENTRY_BYTES
            while self._bytes > self._most:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes + _ENTRY_BYTES
