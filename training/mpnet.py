"""all-mpnet-base-v2 (Apache-2.0, 109 million parameters) in torch: the teacher of all three small models.

    python -m training.mpnet --weights FOLDER --out prepared

It reads the same word pieces as MiniLM: their vocabulary is BERT's, with four more in front. ``FOLDER`` holds
``model.safetensors``; what is written are weights of 8 bits in two files, for the way to the machine that trains.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.bert import pack, unpack

MPNET_WIDTH, HEADS, LAYERS, BUCKETS, PLACES = 768, 12, 12, 32, 514
FURTHEST = 128
"""From this distance on, all places are equally far."""
CLS, SEP, SHIFT = 101, 102, 4
"""BERT's numbers of the first piece and of a border, and how much greater MPNet's numbers are."""
PADDING = 1


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(MPNET_WIDTH, 3 * MPNET_WIDTH)
        self.attended = nn.Linear(MPNET_WIDTH, MPNET_WIDTH)
        self.first_norm = nn.LayerNorm(MPNET_WIDTH, eps=1e-5)
        self.wide = nn.Linear(MPNET_WIDTH, 4 * MPNET_WIDTH)
        self.narrow = nn.Linear(4 * MPNET_WIDTH, MPNET_WIDTH)
        self.second_norm = nn.LayerNorm(MPNET_WIDTH, eps=1e-5)

    def forward(self, value: Tensor, bias: Tensor, drop: float) -> Tensor:
        rows, length, width = value.shape
        q, k, v = self.qkv(value).view(rows, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        heads = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        mixed = self.attended(heads.transpose(1, 2).reshape(rows, length, width))
        value = self.first_norm(value + functional.dropout(mixed, drop, self.training))
        wide = self.narrow(functional.gelu(self.wide(value)))
        return self.second_norm(value + functional.dropout(wide, drop, self.training))


class MPNet(nn.Module):
    """The encoder over BERT's word pieces: numbers, segments and lengths in, one vector for each piece out."""

    def __init__(self, drop: float = 0.1) -> None:
        super().__init__()
        self.words = nn.Embedding(30527, MPNET_WIDTH)
        self.words.weight.requires_grad_(False)
        self.places = nn.Embedding(PLACES, MPNET_WIDTH)
        self.segments = nn.Embedding(2, MPNET_WIDTH)
        nn.init.zeros_(self.segments.weight)
        self.distances = nn.Embedding(BUCKETS, HEADS)
        self.norm = nn.LayerNorm(MPNET_WIDTH, eps=1e-5)
        self.layers = nn.ModuleList(_Layer() for _ in range(LAYERS))
        self.drop = drop

    def forward(self, ids: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        positions = torch.arange(ids.shape[1], device=ids.device)
        real = positions[None] < lengths[:, None]
        own = torch.where(ids == CLS, 0, torch.where(ids == SEP, 2, ids + SHIFT)).masked_fill(~real, PADDING)
        value = self.words(own) + self.places(positions + 2)[None] + self.segments(segments)
        value = functional.dropout(self.norm(value), self.drop, self.training)
        bias = self.distances(buckets(positions)).permute(2, 0, 1)[None]
        bias = bias.expand(len(ids), -1, -1, -1).masked_fill(~real[:, None, None, :], -1e4)
        for layer in self.layers:
            value = layer(value, bias, self.drop)
        return value


def buckets(positions: Tensor) -> Tensor:
    """Return for each pair of places the number of its distance: exact up to 7, then by logarithm, apart by side."""
    distance = positions[:, None] - positions[None]
    half, exact = BUCKETS // 2, BUCKETS // 4
    side = (distance < 0).long() * half
    distance = distance.abs()
    scaled = torch.log(distance.clamp(min=1).float() / exact) / math.log(FURTHEST / exact) * (half - exact)
    far = (exact + scaled.long()).clamp(max=half - 1)
    return side + torch.where(distance < exact, distance, far)


def published(weights: dict[str, np.ndarray]) -> dict[str, Tensor]:
    """Return the published weights under our names."""

    def tensor(name: str) -> Tensor:
        return torch.from_numpy(np.asarray(weights[name], np.float32))

    state = {
        "words.weight": tensor("embeddings.word_embeddings.weight"),
        "places.weight": tensor("embeddings.position_embeddings.weight"),
        "segments.weight": torch.zeros(2, MPNET_WIDTH),
        "distances.weight": tensor("encoder.relative_attention_bias.weight"),
        "norm.weight": tensor("embeddings.LayerNorm.weight"),
        "norm.bias": tensor("embeddings.LayerNorm.bias"),
    }
    names = {
        "attended": "attention.attn.o",
        "first_norm": "attention.LayerNorm",
        "wide": "intermediate.dense",
        "narrow": "output.dense",
        "second_norm": "output.LayerNorm",
    }
    for number in range(LAYERS):
        for kind in ("weight", "bias"):
            layer = f"encoder.layer.{number}"
            parts = [tensor(f"{layer}.attention.attn.{part}.{kind}") for part in "qkv"]
            state[f"layers.{number}.qkv.{kind}"] = torch.cat(parts)
            for name, theirs in names.items():
                state[f"layers.{number}.{name}.{kind}"] = tensor(f"{layer}.{theirs}.{kind}")
    return state


def read_trunk(prepared: Path) -> dict[str, Tensor]:
    """Return the weights that ``main`` wrote."""
    return unpack(prepared / "mpnet.0.npz.xz") | unpack(prepared / "mpnet.1.npz.xz")


def new_trunk(prepared: Path, drop: float = 0.1) -> MPNet:
    """Return the encoder with its published weights."""
    trunk = MPNet(drop)
    trunk.load_state_dict(read_trunk(prepared))
    return trunk


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    call = parser.parse_args()
    from safetensors.numpy import load_file

    call.out.mkdir(parents=True, exist_ok=True)
    state = published(load_file(call.weights / "model.safetensors"))
    upper = {name for name in state if name.startswith("layers.") and int(name.split(".")[1]) >= LAYERS // 3}
    for number, part in enumerate((state.keys() - upper, upper)):
        path = call.out / f"mpnet.{number}.npz.xz"
        pack({name: state[name] for name in sorted(part)}, path)
        sys.stdout.write(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
