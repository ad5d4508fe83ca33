"""Longmind's own small models: a reranker, and readers of answers, of statements and of changes.

Each is an encoder made from all-MiniLM-L6-v2, as an ONNX file with 8-bit weights, and a few small arrays that turn its
token vectors into an answer. The word vectors, which are half of the weights, are shared by all. The files come with
the ``longmind-models`` package; their checksums are compared when they are loaded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from longmind.errors import ModelError, ModelMissing
from longmind.models.embed_minilm import import_runtime

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

ModelName = Literal["reranker", "answers", "statements", "changes"]
PACKAGES = ("longmind_models", "onnxruntime", "tokenizers")
INSTALL = 'Run: pip install "longmind[models]"'
CLS, SEP = 101, 102
"""The word pieces that begin a text and that end each of its parts."""
MAX_CHARACTERS = 8_192
"""Characters of a text that are split into pieces."""
_ONE_THREAD = 250_000
"""The number of multiplications up to which OpenBLAS computes a product of matrices in the thread that asks for it."""


class Pieces(NamedTuple):
    """The word pieces of a text: their numbers, and where each begins and ends in it."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class SmallModel:
    """An encoder with the arrays of its ends. It may be used by several threads at the same time.

    One pair runs at a time: with 8-bit weights the scale of a layer's input is taken over the whole batch, so that a
    pair's numbers would depend on its neighbours, and batches are no faster on one thread.
    """

    def __init__(
        self, name: ModelName, session: Any, words: _Words, tokenizer: Any, ends: Mapping[str, Floats]
    ) -> None:
        self.name = name
        self.ends = ends
        """The weights of the last layers by name, and what else belongs to the model, such as thresholds."""
        self._session, self._words, self._tokenizer = session, words, tokenizer

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Split texts into word pieces, without marks."""
        encoded = self._tokenizer.encode_batch([text[:MAX_CHARACTERS] for text in texts], add_special_tokens=False)
        return [Pieces(encoding.ids, encoding.offsets) for encoding in encoded]

    def encode(self, ids: Sequence[int], head: int) -> Floats:
        """Return a vector for each piece.

        The first ``head`` pieces are the first segment, the rest the second.
        """
        import numpy as np

        segments = np.ones((1, len(ids)), np.int64)
        segments[0, :head] = 0
        try:
            tokens: Floats = self._session.run(None, {"vectors": self._words.take(ids)[None], "segments": segments})[0][
                0
            ]
        except Exception as error:  # the runtime's errors share no class of their own
            raise ModelError(f"The small model {self.name} failed: {error}") from error
        return tokens

    def end(self, name: str, tokens: Floats) -> Floats:
        """Return what one of the ends, a layer of its own, makes of the vectors of pieces."""
        result: Floats = product(tokens, self.ends[f"{name}.weight"]) + self.ends[f"{name}.bias"]
        return result


def product(value: Floats, weights: Floats) -> Floats:
    """Return ``value @ weights.T``, some rows at a time, so that no product is large enough to be given to threads.

    Threads of BLAS wait for each other by spinning. On a machine with other work that takes many times longer than
    these small products, and as much of the processor as the model itself.
    """
    import numpy as np

    if value.ndim == 1 or value.shape[0] * weights.size <= _ONE_THREAD:
        whole: Floats = value @ weights.T
        return whole
    rows = max(1, _ONE_THREAD // weights.size)
    return np.concatenate([value[start : start + rows] @ weights.T for start in range(0, len(value), rows)])


class _Words:
    """The word vectors in 8 bits, with a scale for each."""

    def __init__(self, vectors: NDArray[np.int8], scales: Floats) -> None:
        self._vectors, self._scales = vectors, scales

    def take(self, ids: Sequence[int]) -> Floats:
        import numpy as np

        rows = np.asarray(ids)
        taken: Floats = self._vectors[rows].astype(np.float32) * self._scales[rows, None]
        return taken


def missing() -> list[str]:
    """Return the packages that the small models need and that are not installed."""
    return [package for package in PACKAGES if importlib.util.find_spec(package) is None]


def load(name: ModelName) -> SmallModel:
    """Return a model; each is loaded once in a process. Raises ``ModelMissing`` if a package is not installed."""
    with _loading:
        if name not in _loaded:
            absent = missing()
            if absent:
                raise ModelMissing(f"The small models need {', '.join(absent)}.", hint=INSTALL)
            _loaded[name] = _open(name)
        return _loaded[name]


_loading = threading.Lock()
_loaded: dict[ModelName, SmallModel] = {}
_shared: tuple[_Words, Any] | None = None


def _open(name: ModelName) -> SmallModel:
    import numpy as np

    global _shared
    from longmind_models import WEIGHTS
    from tokenizers import Tokenizer

    if _shared is None:
        with np.load(checked(WEIGHTS / "words.npz")) as stored:
            words = _Words(stored["vectors"], stored["scales"].astype(np.float32))
        tokenizer = Tokenizer.from_file(str(checked(WEIGHTS / "tokenizer.json")))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        _shared = words, tokenizer
    runtime = import_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    path = checked(WEIGHTS / f"{name}.onnx")
    try:
        session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's errors share no class of their own
        raise ModelError(f"ONNX Runtime cannot load {path.name}: {error}") from error
    with np.load(checked(WEIGHTS / f"{name}.npz")) as stored:
        ends = {key: stored[key] for key in stored.files}
    return SmallModel(name, session, _shared[0], _shared[1], ends)


def checked(path: Path) -> Path:
    """Return a file of the weights if it has the checksum that the manifest states; raise ``ModelError`` otherwise."""
    hint = "Run: pip install --force-reinstall --no-deps longmind-models"
    try:
        wanted = json.loads((path.parent / "manifest.json").read_bytes())["files"].get(path.name)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"The weights of the small models cannot be read: {error}", hint=hint) from error
    if digest != wanted:
        raise ModelError(f"{path.name} is not the file that was published.", hint=hint, expected=wanted, found=digest)
    return path
