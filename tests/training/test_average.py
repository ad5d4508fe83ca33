"""The mean of trainings, one of which may be what is shipped."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from training import average
from training.export import WEIGHTS, trained_weights

pytest.importorskip("onnx")


def test_the_mean_is_taken_weight_by_weight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "a.0.npz", x=np.zeros(3), y=np.ones(2))
    np.savez(tmp_path / "b.0.npz", x=np.ones(3))
    np.savez(tmp_path / "b.1.npz", y=np.full(2, 3.0))
    np.savez(tmp_path / "a.1.npz", end_of_one_only=np.ones(1))
    monkeypatch.setattr(sys, "argv", ["average", f"{tmp_path}/mean", f"{tmp_path}/a", f"{tmp_path}/b"])
    average.main()
    mean = average.read(f"{tmp_path}/mean")
    assert {name: value.tolist() for name, value in mean.items()} == {"x": [0.5] * 3, "y": [2.0] * 2}


@pytest.mark.skipif(not (WEIGHTS / "answers.onnx").exists(), reason="the weights are not in this checkout")
def test_shipped_weights_can_be_exported_again(tmp_path: Path) -> None:
    shipped = average.read("shipped:answers")
    np.savez(tmp_path / "reader6.0.npz", **shipped)
    weights = trained_weights(tmp_path / "reader6")
    assert weights["encoder.layer.5.attention.self.key.weight"].shape == (384, 384)
    assert weights["encoder.layer.0.intermediate.dense.weight"].shape == (1536, 384)
    assert weights["span.weight"].shape == (2, 384)
    assert all(np.isfinite(value).all() for value in weights.values())
