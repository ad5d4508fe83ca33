"""The default embedder: a weighted sum of static word-piece vectors, multiplied by a trained matrix.

The word pieces and their vectors are those of ``wordllama`` (see NOTICE), copied bit by bit into one file
of this package. The plain sum equals what ``wordllama`` computes; a test compares them.

The weight of each piece and the matrix were trained on questions and their answers. They are 200 kB and part of this
package; ``docs/concepts/static-vectors.md`` says what they were trained on and how to train them again.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from longmind.models.embed import clipped, unit_rows
from longmind.models.tensor_file import read_tensors
from longmind.models.traces import observed_embed
from longmind.models.word_pieces import WordPieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from longmind.models.embed import Vectors

MAX_CHARACTERS = 32_768
"""Characters of a text that are embedded. Beyond some eight thousand tokens the mean hardly changes."""
INLINE_TEXTS, INLINE_CHARACTERS = 64, 8_192
"""Up to this many texts and characters embedding takes a few milliseconds, so no thread is used."""
PART = 4_096
"""Texts embedded in one call of a thread, so that a cancelled call stops soon."""
TABLE = Path(__file__).with_name("static_vectors.safetensors")
ADAPTER = Path(__file__).with_name("static_adapter.safetensors")
TRAINED = "static/longmind-1-256"
PLAIN = "static/wordllama-l2-supercat-256"


class Table(NamedTuple):
    """The published word pieces and their vectors."""

    pieces: WordPieces
    rows: NDArray[np.float16]


class _Adapter(NamedTuple):
    weights: NDArray[np.float32]
    map: NDArray[np.float32]


class StaticEmbedder:
    """Word-piece vectors of ``l2_supercat``, summed by trained weights and mapped, 256 dimensions; no model to run.

    Without ``trained`` it is their plain mean, which stores made by an earlier version hold.
    """

    dimensions = 256

    def __init__(self, *, trained: bool = True) -> None:
        self.name = TRAINED if trained else PLAIN
        self._trained = trained

    @observed_embed("longmind")
    async def embed(self, texts: Sequence[str]) -> Vectors:
        texts = clipped(texts, MAX_CHARACTERS)
        trained = self._trained
        table, adapter = _load(trained) if trained in _loaded else await asyncio.to_thread(_load, trained)
        import numpy as np

        if len(texts) <= INLINE_TEXTS and sum(map(len, texts)) <= INLINE_CHARACTERS:
            return _vectors(table, adapter, texts)
        parts = [texts[start : start + PART] for start in range(0, len(texts), PART)]
        return np.concatenate([await asyncio.to_thread(_vectors, table, adapter, part) for part in parts])

    async def close(self) -> None:
        """Do nothing: the weights (16 MB) are shared by all static embedders of the process."""

    def __repr__(self) -> str:
        return f"StaticEmbedder({self.name!r})"


_loading = threading.Lock()
_loaded: set[bool] = set()
"""Which variants have been loaded: True for the trained vectors, False for the plain ones."""


def _load(trained: bool) -> tuple[Table, _Adapter | None]:
    with _loading:
        read = read_table(), _read_adapter() if trained else None
        _loaded.add(trained)
        return read


@functools.cache
def _read_adapter() -> _Adapter:
    import numpy as np

    trained = read_tensors(ADAPTER)
    return _Adapter(np.exp(trained["log_weights"].astype(np.float32)), trained["map"].astype(np.float32))


@functools.cache
def read_table() -> Table:
    """Return the word pieces and their vectors, read from the file once for the process.

    The vectors stay in half precision: widening the whole table costs more than widening the rows a text needs.
    """
    tensors = read_tensors(TABLE)
    return Table(WordPieces(tensors["pieces"].tobytes().decode().split("\n")), tensors["vectors"])


def _vectors(table: Table, adapter: _Adapter | None, texts: list[str]) -> Vectors:
    """Embed the texts one by one.

    Gathering all tokens of a batch at once is slower, because they do not fit the processor's cache. One product for
    all texts would also round differently, and the vector of a text must not depend on the rest of its batch.
    """
    import numpy as np

    rows = np.zeros((len(texts), table.rows.shape[1]), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        ids = table.pieces.ids(text)
        if ids and adapter is None:
            table.rows[ids].sum(axis=0, dtype=np.float32, out=row)
        elif ids and adapter is not None:
            np.dot(adapter.weights[ids] @ table.rows[ids].astype(np.float32), adapter.map, out=row)
    return unit_rows(rows)
