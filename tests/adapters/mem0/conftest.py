"""mem0 itself, and the face of it over Longmind: the tests of behaviour run on both."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ["MEM0_TELEMETRY"] = "False"


class HashEmbedder:
    """Vectors of words, so that mem0 runs without a model."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        vector = [0.0] * 256
        for word in text.lower().replace(".", " ").replace("?", " ").split():
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % 256] += 1.0
        length = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / length for value in vector]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


def real_mem0(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a ``mem0.Memory`` of the installed package, on its own vector store and history."""
    monkeypatch.setenv("MEM0_DIR", str(folder / "mem0"))
    from mem0 import Memory
    from mem0.memory import main

    monkeypatch.setattr(main.EmbedderFactory, "create", lambda *args, **kwargs: HashEmbedder())
    config = {
        "vector_store": {
            "provider": "qdrant",
            "config": {"path": str(folder / "qdrant"), "embedding_model_dims": 256, "collection_name": "test"},
        },
        "llm": {"provider": "openai", "config": {"api_key": "none"}},
        "history_db_path": str(folder / "history.db"),
    }
    return Memory.from_config(config)


@pytest.fixture(params=["mem0", "longmind"])
def m(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> Iterator[Any]:
    """A memory of mem0's, or of Longmind in the same shape."""
    record_property("suite", f"behaviour of mem0, on {request.param}")
    if request.param == "mem0":
        with real_mem0(tmp_path, monkeypatch) as memory:
            yield memory
        return
    from longmind.adapters.mem0 import Memory
    from longmind.sync import Longmind

    with Longmind.open("memory:") as longmind:
        yield Memory(longmind)
