"""MiniLM is exported once for the whole run: it takes a second or two each time."""

from __future__ import annotations

from pathlib import Path

import pytest

from longmind.models.embed_minilm import MiniLmEmbedder


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def minilm(model_cache: Path) -> MiniLmEmbedder:
    return MiniLmEmbedder(cache=model_cache)


@pytest.fixture(scope="session")
def minilm_int8(model_cache: Path) -> MiniLmEmbedder:
    return MiniLmEmbedder(int8=True, cache=model_cache)
