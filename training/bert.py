"""MiniLM in torch, or narrower: token numbers, segments and lengths in, one vector for each token out.

Word vectors are not trained: they are half of the weights, and all models share those of all-MiniLM-L6-v2.
"""

from __future__ import annotations

import lzma
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, HEAD = 384, 32
"""The width of MiniLM, and of one head of attention."""
PLACES = 256


class Layer(nn.Module):
    """One layer of BERT."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.attended = nn.Linear(width, width)
        self.first_norm = nn.LayerNorm(width, eps=1e-12)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.second_norm = nn.LayerNorm(width, eps=1e-12)

    def forward(self, value: Tensor, mask: Tensor, drop: float) -> Tensor:
        rows, length, width = value.shape
        q, k, v = self.qkv(value).view(rows, length, 3, width // HEAD, HEAD).permute(2, 0, 3, 1, 4)
        heads = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        mixed = self.attended(heads.transpose(1, 2).reshape(rows, length, width))
        value = self.first_norm(value + functional.dropout(mixed, drop, self.training))
        wide = self.narrow(functional.gelu(self.wide(value)))
        return self.second_norm(value + functional.dropout(wide, drop, self.training))


class Bert(nn.Module):
    """The encoder. A narrow one sees the word vectors through a projection."""

    def __init__(self, layers: int = 6, drop: float = 0.1, width: int = WIDTH) -> None:
        super().__init__()
        self.words = nn.Embedding(30522, WIDTH)
        self.words.weight.requires_grad_(False)
        self.narrowed = nn.Linear(WIDTH, width, bias=False) if width != WIDTH else nn.Identity()
        self.places = nn.Embedding(PLACES, width)
        self.segments = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        self.drop = drop

    def forward(self, ids: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        positions = torch.arange(ids.shape[1], device=ids.device)
        real = positions[None] < lengths[:, None]
        value = self.norm(self.narrowed(self.words(ids)) + self.places(positions)[None] + self.segments(segments))
        value = functional.dropout(value, self.drop, self.training)
        mask = real[:, None, None, :]
        for layer in self.layers:
            value = layer(value, mask, self.drop)
        return value


def new_encoder(prepared: Path, drop: float, layers: int, start: Path | None) -> Bert:
    """Return an encoder with the published weights, of six layers; with more of them, the start must have them all."""
    if layers != 6 and start is None:
        raise SystemExit(f"{layers} layers need weights to begin from: --start (training.deepen makes them).")
    encoder = Bert(layers, drop)
    encoder.load_state_dict(unpack(prepared / "trunk.npz.xz"), strict=layers == 6)
    return encoder


def hugging_face(weights: dict[str, np.ndarray], layers: Sequence[int] = range(6)) -> dict[str, Tensor]:
    """Return published weights under our names, of the chosen layers."""

    def tensor(name: str) -> Tensor:
        return torch.from_numpy(np.asarray(weights[name], np.float32))

    state = {
        "words.weight": tensor("embeddings.word_embeddings.weight"),
        "places.weight": tensor("embeddings.position_embeddings.weight")[:PLACES],
        "segments.weight": tensor("embeddings.token_type_embeddings.weight"),
        "norm.weight": tensor("embeddings.LayerNorm.weight"),
        "norm.bias": tensor("embeddings.LayerNorm.bias"),
    }
    names = {
        "attended": "attention.output.dense",
        "first_norm": "attention.output.LayerNorm",
        "wide": "intermediate.dense",
        "narrow": "output.dense",
        "second_norm": "output.LayerNorm",
    }
    for ours, theirs in enumerate(layers):
        for kind in ("weight", "bias"):
            parts = [
                tensor(f"encoder.layer.{theirs}.attention.self.{part}.{kind}") for part in ("query", "key", "value")
            ]
            state[f"layers.{ours}.qkv.{kind}"] = torch.cat(parts)
            for name, published in names.items():
                state[f"layers.{ours}.{name}.{kind}"] = tensor(f"encoder.layer.{theirs}.{published}.{kind}")
    return state


# -- a small file for the way to another machine -----------------------------------------------------------------------


def pack(state: dict[str, Tensor], path: Path) -> None:
    """Write weights in 8 bits a number with a scale for each row, compressed. Training starts from there."""
    arrays: dict[str, np.ndarray] = {}
    for name, tensor in state.items():
        value = tensor.float().numpy()
        if value.ndim == 2:
            scale = np.abs(value).max(axis=1, keepdims=True) / 127 + 1e-12
            arrays[f"{name}|int8"] = np.round(value / scale).astype(np.int8)
            arrays[f"{name}|scale"] = scale.astype(np.float32)
        else:
            arrays[name] = value.astype(np.float32)
    save_arrays(path, arrays)


def unpack(path: Path) -> dict[str, Tensor]:
    """Read what ``pack`` wrote."""
    arrays = load_arrays(path)
    state = {}
    for name, value in arrays.items():
        if name.endswith("|int8"):
            name = name.removesuffix("|int8")
            state[name] = torch.from_numpy(value.astype(np.float32) * arrays[f"{name}|scale"])
        elif not name.endswith("|scale"):
            state[name] = torch.from_numpy(value)
    return state


def save_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write arrays by name, xz-compressed."""
    with lzma.open(path, "wb", preset=2) as file:
        np.savez(file, **arrays)


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read arrays by name."""
    import io

    with lzma.open(path, "rb") as file:
        stored = np.load(io.BytesIO(file.read()))
        return {name: stored[name] for name in stored.files}
