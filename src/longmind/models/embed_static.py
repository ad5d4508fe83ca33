"""The default embedder: a weighted sum of static word-piece vectors, multiplied by a trained matrix.

The vectors of the word pieces are part of the ``wordllama`` package. They are read directly from its folder, because
its own loader looks for the tokenizer in a folder it does not ship and then downloads it, imports an HTTP client and
configures logging for the whole process. The plain sum equals what that package computes; a test compares them.

The weight of each piece and the matrix were trained on questions and their answers. They are 200 kB and part of this
package; ``docs/concepts/static-vectors.md`` says what they were trained on and how to train them again.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from longmind.errors import ModelMissing
from longmind.models.embed import clipped, unit_rows
from longmind.models.traces import observed_embed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from longmind.models.embed import Vectors

MAX_CHARACTERS = 32_768
"""Characters of a text that are embedded. Beyond some eight thousand tokens the mean hardly changes."""
INLINE_TEXTS, INLINE_CHARACTERS = 64, 16_384
"""Up to this many texts and characters embedding takes a few milliseconds, so no thread is used."""
PART = 4_096
"""Texts embedded in one call of a thread, so that a cancelled call stops soon."""
INSTALL = 'Run: pip install --force-reinstall --no-deps "wordllama>=0.4"'
ADAPTER = Path(__file__).with_name("static_adapter.safetensors")
TRAINED = "static/longmind-1-256"
PLAIN = "static/wordllama-l2-supercat-256"


class Table(NamedTuple):
    """The published word pieces and their vectors."""

    tokenizer: Any
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
    from safetensors.numpy import load_file

    if not ADAPTER.is_file():
        raise ModelMissing(f"The package lacks {ADAPTER.name}.", hint="Install longmind anew.")
    trained = load_file(ADAPTER)
    return _Adapter(np.exp(trained["log_weights"].astype(np.float32)), trained["map"].astype(np.float32))


@functools.cache
def read_table() -> Table:
    from safetensors import safe_open
    from tokenizers import Tokenizer

    package = importlib.util.find_spec("wordllama")
    if package is None or package.origin is None:
        raise ModelMissing("The weights of the static embedder are not installed.", hint=INSTALL)
    folder = Path(package.origin).parent
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    words = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    absent = [file.name for file in (weights, words) if not file.is_file()]
    if absent:
        raise ModelMissing(f"The wordllama package lacks {', '.join(absent)}.", hint=INSTALL)
    tokenizer = Tokenizer.from_file(str(words))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    with safe_open(str(weights), framework="np") as file:
        # Kept as float16: widening the whole table costs more at start than widening the rows a text needs.
        return Table(tokenizer, file.get_tensor("embedding.weight"))


def _vectors(table: Table, adapter: _Adapter | None, texts: list[str]) -> Vectors:
    """Embed the texts one by one.

    Gathering all tokens of a batch at once is slower, because they do not fit the processor's cache. One product for
    all texts would also round differently, and the vector of a text must not depend on the rest of its batch.
    """
    import numpy as np

    rows = np.zeros((len(texts), table.rows.shape[1]), dtype=np.float32)
    for row, encoding in zip(rows, table.tokenizer.encode_batch_fast(texts, add_special_tokens=False), strict=True):
        ids = encoding.ids
        if ids and adapter is None:
            table.rows[ids].sum(axis=0, dtype=np.float32, out=row)
        elif ids and adapter is not None:
            np.dot(adapter.weights[ids] @ table.rows[ids].astype(np.float32), adapter.map, out=row)
    return unit_rows(rows)
