"""The embedder protocol, and two functions that every provider uses.

Vectors of two models must never mix, so an embedder has a ``name`` that the store records next to its vectors. The
same name always means the same vectors for the same text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from longmind.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit-length vectors.

    The model is loaded by the first ``embed``, away from the event loop. ``close`` frees what is held; a later
    ``embed`` loads it again.
    """

    @property
    def name(self) -> str:
        """The identity recorded in the store, such as ``static/longmind-1-256``."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector. A model behind a server learns it from its first answer: ``await embed([])``."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in order: unit length, or zero for a text with no known token. Shape (n, d)."""
        ...

    async def close(self) -> None:
        """Release connections and memory."""
        ...


def clipped(texts: Sequence[str], limit: int) -> list[str]:
    """Return the texts, each cut to ``limit`` characters and made encodable.

    A tokenizer processes a whole text before it cuts it to the model's window, so a text of a million characters is cut
    first. A lone surrogate (from badly decoded input) would make it fail, so it becomes ``?``.
    """
    if isinstance(texts, str):
        raise InvalidInput("Texts to embed were given as one string.", hint="Give a list of strings.")
    clipped_texts = []
    for text in texts:
        head = text[:limit]
        clipped_texts.append(head if head.isascii() else head.encode("utf-8", "replace").decode("utf-8"))
    return clipped_texts


def unit_rows(rows: NDArray[Any]) -> Vectors:
    """Scale the rows to unit length; a zero row stays zero."""
    import numpy as np

    wide = rows.astype(np.float64)
    largest = np.abs(wide).max(axis=1, keepdims=True, initial=0.0)
    wide /= np.where(largest == 0.0, 1.0, largest)  # first to the range -1..1, so that no square overflows
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    wide /= np.where(lengths == 0.0, 1.0, lengths)
    return wide.astype(np.float32)
