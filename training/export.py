"""From trained weights to what is shipped: ONNX with 8-bit weights; prints its checksum and what a pair costs.

python -m training.export OUT/reranker6 models/src/longmind_models/reranker.onnx
"""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from longmind.models import minilm_graph
from longmind.models.embed_minilm import import_runtime, read_weights

_PARTS = {
    "attended": "attention.output.dense",
    "first_norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "second_norm": "output.LayerNorm",
}


def trained_weights(prefix: Path) -> dict[str, Any]:
    """Return the weights that training wrote, under the published names, with the published word vectors."""
    state: dict[str, Any] = {}
    for path in sorted(prefix.parent.glob(f"{prefix.name}.*.npz")):
        with np.load(path) as stored:
            state |= {name: stored[name].astype(np.float32) for name in stored.files}
    weights = {"embeddings.word_embeddings.weight": read_weights()["embeddings.word_embeddings.weight"]}
    for name, value in state.items():
        if not name.startswith("bert."):
            weights[name] = value
            continue
        name = name.removeprefix("bert.")
        kind = name.rpartition(".")[2]
        if name.startswith("layers."):
            _, number, part, _ = name.split(".")
            layer = f"encoder.layer.{number}"
            if part == "qkv":
                for place, which in enumerate(("query", "key", "value")):
                    third = len(value) // 3
                    weights[f"{layer}.attention.self.{which}.{kind}"] = value[place * third : (place + 1) * third]
            else:
                weights[f"{layer}.{_PARTS[part]}.{kind}"] = value
        else:
            published = {
                "places.weight": "embeddings.position_embeddings.weight",
                "segments.weight": "embeddings.token_type_embeddings.weight",
                "norm.weight": "embeddings.LayerNorm.weight",
                "norm.bias": "embeddings.LayerNorm.bias",
            }
            weights[published[name]] = value
    return weights


def pair_cost(path: Path, pieces: int = 100, rounds: int = 60) -> float:
    """Return the CPU milliseconds that a model takes for one pair of so many pieces, on one thread."""
    runtime = import_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    ids = np.random.default_rng(0).integers(1_000, 20_000, (1, pieces))
    inputs = {"ids": ids, "segments": np.ones_like(ids), "mask": np.ones(ids.shape, np.int32)}
    session.run(None, inputs)
    began = time.process_time()
    for _ in range(rounds):
        session.run(None, inputs)
    return 1_000 * (time.process_time() - began) / rounds


def main() -> None:
    prefix, target = Path(sys.argv[1]), Path(sys.argv[2])
    weights = trained_weights(prefix)
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
    build = minilm_graph.build_scorer if "score.weight" in weights else minilm_graph.build_span_reader
    target.parent.mkdir(parents=True, exist_ok=True)
    minilm_graph.quantise(build(weights, layers), target)
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    sys.stdout.write(f"{target.name}: {layers} layers, {target.stat().st_size / 1e6:.1f} MB, sha256 {digest}\n")
    sys.stdout.write(f"a pair of 100 pieces: {pair_cost(target):.1f} ms of CPU\n")


if __name__ == "__main__":
    main()
