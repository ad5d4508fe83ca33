"""From trained weights to what is shipped: ONNX with 8-bit weights, and the arrays of the ends.

    python -m training.export reranker OUT/matcher6 [--extra FILE.json]

Writes into the weights of ``longmind-models`` and brings their manifest up to date; prints what 100 pieces cost.
Numbers in ``--extra``, such as thresholds, are stored with the ends.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from longmind.models import minilm_graph
from longmind.models.embed_minilm import read_weights, weights_folder

WEIGHTS = Path(__file__).parents[1] / "models" / "src" / "longmind_models" / "weights"
PARTS = {
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
                weights[f"{layer}.{PARTS[part]}.{kind}"] = value
        else:
            published = {
                "places.weight": "embeddings.position_embeddings.weight",
                "segments.weight": "embeddings.token_type_embeddings.weight",
                "norm.weight": "embeddings.LayerNorm.weight",
                "norm.bias": "embeddings.LayerNorm.bias",
            }
            weights[published[name]] = value
    return weights


def write_shared() -> None:
    """Write what all models share: the word vectors in 8 bits, and the tokenizer."""
    vectors = read_weights()["embeddings.word_embeddings.weight"]
    scales = np.abs(vectors).max(axis=1) / 127 + 1e-12
    rounded = np.round(vectors / scales[:, None]).astype(np.int8)
    np.savez(WEIGHTS / "words.npz", vectors=rounded, scales=scales.astype(np.float32))
    shutil.copyfile(weights_folder() / "tokenizer.json", WEIGHTS / "tokenizer.json")


def write_manifest() -> None:
    """Write the checksum of every file."""
    files = sorted(path for path in WEIGHTS.iterdir() if path.name != "manifest.json")
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    (WEIGHTS / "manifest.json").write_text(json.dumps({"files": sums}, indent=1) + "\n")


def store_ends(name: str, arrays: Mapping[str, np.ndarray]) -> None:
    """Store arrays with the others of a model that is exported."""
    path = WEIGHTS / f"{name}.npz"
    with np.load(path) as stored:
        ends = {key: stored[key] for key in stored.files}
    np.savez(path, **(ends | dict(arrays)))
    write_manifest()


def reading_cost(name: str, pieces: int = 100, rounds: int = 40) -> float:
    """Return the CPU milliseconds that a model takes for one text of so many pieces, on one thread."""
    from longmind.models import small_models

    model = small_models.load(name)  # type: ignore[arg-type]
    ids = np.random.default_rng(0).integers(1_000, 20_000, pieces).tolist()
    model.encode(ids, 10)
    times = []
    for _ in range(rounds):
        began = time.process_time()
        model.encode(ids, 10)
        times.append(time.process_time() - began)
    return 1_000 * float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=["reranker", "answers", "statements", "changes"])
    parser.add_argument("prefix", type=Path)
    parser.add_argument("--extra", type=Path)
    call = parser.parse_args()
    WEIGHTS.mkdir(parents=True, exist_ok=True)
    if not (WEIGHTS / "words.npz").exists():
        write_shared()
    weights = trained_weights(call.prefix)
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
    target = WEIGHTS / f"{call.name}.onnx"
    minilm_graph.quantise(minilm_graph.build_encoder(weights, layers), target)
    ends = {name: value for name, value in weights.items() if not name.startswith(("encoder.", "embeddings."))}
    for name, value in (json.loads(call.extra.read_bytes()) if call.extra else {}).items():
        ends[name] = np.asarray(value)
    np.savez(WEIGHTS / f"{call.name}.npz", **ends)
    write_manifest()
    sys.stdout.write(f"{target.name}: {layers} layers, {target.stat().st_size / 1e6:.1f} MB\n")
    sys.stdout.write(f"100 pieces: {reading_cost(call.name):.1f} ms of CPU\n")


if __name__ == "__main__":
    main()
