"""Training of a large reranker: a cross-encoder over a question and a text with its neighbours.

    python -m training.rerank --prepared prepared --out OUT [--minutes 4] [--seed 1] [--tiny]

Listwise: one right text against 15 wrong ones that our own recall had ranked high. It is the teacher of the reranker
that is shipped (``training.distil``).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from longmind.models import rerank_pairs as pairs
from training.bert import WIDTH, Bert, unpack
from training.texts import (
    HELD_OUT,
    SHARES,
    Questions,
    Texts,
    batches_by_length,
    epoch_lists,
    first_of_list,
    make_texts,
    save,
)

LIST = 16
"""How many texts stand against each other."""


class Reranker(nn.Module):
    """The encoder and a number for its first token."""

    def __init__(self, layers: int = 6, drop: float = 0.1) -> None:
        super().__init__()
        self.bert = Bert(layers, drop)
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, ids: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        return self.score(self.bert(ids, segments, lengths)[:, 0]).squeeze(-1)


@torch.no_grad()
def score_all(model: Reranker, made: Texts, device: str, size: int) -> Tensor:
    """Return the number of every candidate, batched by length."""
    model.eval()
    scores = torch.zeros(len(made.lengths), device=device)
    for rows in torch.argsort(made.lengths).split(size):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            scores[rows] = model(*made.batch(rows)).float()
    return scores


def train(
    model: Reranker, made: Texts, kept: np.ndarray, shares: np.ndarray, device: str, call: argparse.Namespace
) -> list[dict[str, float]]:
    """Train until the time is over; the rate follows the clock."""
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": 0.01},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=call.rate, betas=(0.9, 0.98))
    chance, began, step, curve, losses = np.random.default_rng(call.seed), time.time(), 0, [], []
    progress, epoch, lengths = 0.0, 0, made.lengths.cpu().numpy()
    while progress < 1:
        lists, _ = epoch_lists(made, kept, shares, LIST, chance)
        for part in batches_by_length(made, lengths, lists, call.lists, chance):
            progress = (time.time() - began) / (60 * call.minutes)
            if progress >= 1 or (call.tiny and step >= 6):
                progress = 1.0
                break
            model.train()
            rows = torch.from_numpy(lists[part]).to(device)
            for entry in optimizer.param_groups:
                entry["lr"] = (
                    call.rate * min(1.0, progress / 0.06 + 0.01) * max(0.02, 0.5 * (1 + math.cos(math.pi * progress)))
                )
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                scores = model(*made.batch(rows.flatten())).float().view(len(rows), LIST)
            loss = functional.cross_entropy(scores, torch.zeros(len(rows), dtype=torch.long, device=device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            losses.append(loss.detach())
            step += 1
            if step % 300 == 0:
                recent = torch.stack(losses[-300:]).mean().item()
                curve.append({"step": step, "seconds": round(time.time() - began, 1), "loss": round(recent, 4)})
                sys.stdout.write(f"  step {step} epoch {epoch} {time.time() - began:.0f} s loss {recent:.4f}\n")
                sys.stdout.flush()
        epoch += 1
    return curve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lists", type=int, default=64)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tiny", action="store_true")
    call = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(call.seed)
    torch.set_float32_matmul_precision("high")
    call.out.mkdir(parents=True, exist_ok=True)
    began = time.time()
    questions = Questions(call.prepared / "questions.npz.xz")
    chosen = np.arange(len(questions))[:: 2000 if call.tiny else 1]
    made = make_texts(questions, chosen, pairs.pair, device)
    sys.stdout.write(f"{len(chosen)} questions, {len(made.right)} pairs, read in {time.time() - began:.0f} s\n")
    sys.stdout.flush()
    held = np.flatnonzero(questions.group_of[chosen] % HELD_OUT == 7)
    kept = np.flatnonzero(questions.group_of[chosen] % HELD_OUT != 7)
    shares = np.array([SHARES.get(questions.source(int(chosen[q])), 1.0) for q in kept])
    model = Reranker().to(device)
    model.bert.load_state_dict(unpack(call.prepared / "trunk.npz.xz"))
    curve = train(model, made, kept, shares, device, call)
    save(model, call.out, "reranker6")
    right = 100 * first_of_list(score_all(model, made, device, 64 if call.tiny else 4096).cpu().numpy(), made, held)
    sys.stdout.write(
        f"the best candidate is right in {right:.1f} % of held-out questions; {time.time() - began:.0f} s\n"
    )
    (call.out / "curve.json").write_text(json.dumps(curve))


if __name__ == "__main__":
    main()
