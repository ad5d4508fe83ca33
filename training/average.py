"""The mean of the weights of several trainings of one model.

    python -m training.average OUT/matcher6 FIRST/matcher6 SECOND/matcher6
    python -m training.average OUT/matcher6 FIRST/matcher6 shipped:reranker

Trainings that begin alike and see other examples, or the same in another order, end near each other, and their mean is
often better than each of them. ``shipped:`` takes the weights that ``longmind-models`` has now. An end that one of them
does not have, since it served training only, is left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from training.export import PARTS, WEIGHTS


def read(source: str) -> dict[str, np.ndarray]:
    """Return the weights that a training wrote in parts, or those that are shipped."""
    if source.startswith("shipped:"):
        return shipped(source.removeprefix("shipped:"))
    prefix, weights = Path(source), dict[str, np.ndarray]()
    for path in sorted(prefix.parent.glob(f"{prefix.name}.*.npz")):
        with np.load(path) as stored:
            weights |= {name: stored[name].astype(np.float32) for name in stored.files}
    return weights


def shipped(name: str, folder: Path = WEIGHTS) -> dict[str, np.ndarray]:
    """Return the weights of a shipped model under the names of training, as far as 8 bits tell them."""
    import onnx
    from onnx import numpy_helper

    stored = {each.name: numpy_helper.to_array(each) for each in onnx.load(folder / f"{name}.onnx").graph.initializer}

    def matrix(name: str) -> np.ndarray:
        zero = stored[f"{name}_zero_point"].astype(np.float32)
        whole = (stored[f"{name}_quantized"].astype(np.float32) - zero) * stored[f"{name}_scale"]
        return np.asarray(whole, np.float32)

    weights = {
        "bert.places.weight": stored["places"],
        "bert.segments.weight": matrix("segment:table"),
        "bert.norm.weight": stored["embeddings.LayerNorm.weight"],
        "bert.norm.bias": stored["embeddings.LayerNorm.bias"],
    }
    layers = {key.split(":")[0] for key in stored if key.endswith(":qkv_quantized")}
    for layer in layers:
        ours = f"bert.layers.{layer.rpartition('.')[2]}"
        weights[f"{ours}.qkv.weight"] = matrix(f"{layer}:qkv").T
        weights[f"{ours}.qkv.bias"] = stored[f"{layer}:qkv-bias"]
        for part, published in PARTS.items():
            is_norm = part.endswith("norm")
            dense = stored[f"{layer}.{published}.weight"] if is_norm else matrix(f"{layer}.{published}.weight").T
            weights[f"{ours}.{part}.weight"] = dense
            weights[f"{ours}.{part}.bias"] = stored[f"{layer}.{published}.bias"]
    with np.load(folder / f"{name}.npz") as ends:
        weights |= {key: ends[key].astype(np.float32) for key in ends.files if key.endswith((".weight", ".bias"))}
    return weights


def main() -> None:
    target, *sources = sys.argv[1:]
    states = [read(source) for source in sources]
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    mean = {
        name: np.mean([state[name] for state in states], axis=0)
        for name in states[0]
        if all(name in state for state in states)
    }
    np.savez(path.with_name(f"{path.name}.0.npz"), **mean)


if __name__ == "__main__":
    main()
