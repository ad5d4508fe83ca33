"""The embedder that is always there: the mean of static word-piece vectors.

The weights travel inside the ``wordllama`` package. They are read from its folder directly rather than through its
own loader, which looks for the tokenizer in a folder it does not ship and then downloads it, imports an HTTP client
and sets up logging for the whole process. The vectors are the same; a test compares them.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.errors import ModelMissing
from recollect.models.base import clipped, unit_rows
from recollect.models.embedding_traces import observed_embed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.models.base import Vectors

MAX_CHARACTERS = 32_768
"""What is read of a text. The mean of more than some eight thousand tokens no longer says anything more."""
INLINE_CHARACTERS = 16_384
"""Up to this many characters the work takes a few milliseconds, less than a thread is worth."""
PART = 4_096
"""Texts done at a time in a thread, so that a cancelled call stops soon."""
INSTALL = 'Run: pip install --force-reinstall --no-deps "wordllama>=0.4"'


class _Table(NamedTuple):
    tokenizer: Any
    rows: NDArray[np.float16]


class StaticEmbedder:
    """Mean of the word-piece vectors of ``l2_supercat``, 256 dimensions. No network, no model to run."""

    name = "static/wordllama-l2-supercat-256"
    dimensions = 256

    @observed_embed("recollect")
    async def embed(self, texts: Sequence[str]) -> Vectors:
        texts = clipped(texts, MAX_CHARACTERS)
        table = _load() if _loaded.is_set() else await asyncio.to_thread(_load)
        import numpy as np

        if sum(map(len, texts)) <= INLINE_CHARACTERS:
            return _means(table, texts)
        parts = [texts[start : start + PART] for start in range(0, len(texts), PART)]
        return np.concatenate([await asyncio.to_thread(_means, table, part) for part in parts])

    async def close(self) -> None:
        """Nothing to free: the weights (16 MB) are shared by all static embedders of the process."""

    def __repr__(self) -> str:
        return f"StaticEmbedder({self.name!r})"


_loading = threading.Lock()
_loaded = threading.Event()


def _load() -> _Table:
    with _loading:
        table = _read()
        _loaded.set()
        return table


@functools.cache
def _read() -> _Table:
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
        return _Table(tokenizer, file.get_tensor("embedding.weight"))


def _means(table: _Table, texts: list[str]) -> Vectors:
    """One pass per text: gathering all tokens of a batch at once is slower, it falls out of the processor's cache."""
    import numpy as np

    sums = np.zeros((len(texts), table.rows.shape[1]), dtype=np.float32)
    for row, encoding in enumerate(table.tokenizer.encode_batch_fast(texts, add_special_tokens=False)):
        if encoding.ids:
            table.rows[encoding.ids].sum(axis=0, dtype=np.float32, out=sums[row])
    return unit_rows(sums)
