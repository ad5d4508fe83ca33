"""An encoder with new layers begins where the one without them stood."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from training import average, deepen
from training.export import WEIGHTS, trained_weights

pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.skipif(not (WEIGHTS / "reranker.onnx").exists(), reason="the weights are not in this checkout")


def encoded(prefix: Path, layers: int) -> np.ndarray:
    """Return the vectors that weights give for some word pieces."""
    from longmind.models import minilm_graph

    weights = trained_weights(prefix)
    session = runtime.InferenceSession(minilm_graph.build_encoder(weights, layers).SerializeToString())
    pieces = np.random.default_rng(3).integers(1_000, 20_000, 24)
    words = weights["embeddings.word_embeddings.weight"][pieces][None].astype(np.float32)
    tokens: np.ndarray = session.run(None, {"vectors": words, "segments": np.ones((1, 24), np.int64)})[0][0]
    return tokens


def test_new_layers_change_little_at_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = average.shipped("reranker")
    np.savez(tmp_path / "before.0.npz", **before)
    monkeypatch.setattr(sys, "argv", ["deepen", f"{tmp_path}/after", "shipped:reranker"])
    deepen.main()
    after = average.read(f"{tmp_path}/after")
    layers = {name.split(".")[2] for name in after if name.startswith("bert.layers.")}
    assert layers == {str(number) for number in range(12)}
    shallow, deep = encoded(tmp_path / "before", 6), encoded(tmp_path / "after", 12)
    assert np.corrcoef(shallow.ravel(), deep.ravel())[0, 1] > 0.8


def test_what_is_no_layer_stays_as_it_was() -> None:
    before = average.shipped("reranker")
    after = deepen.deepened(before)
    ends = [name for name in before if ".layers." not in name]
    assert ends
    assert all(after[name] is before[name] for name in ends)
    assert after["bert.layers.4.wide.weight"] is before["bert.layers.2.wide.weight"]
    assert not after["bert.layers.5.narrow.weight"].any()
