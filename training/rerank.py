"""Training of a large reranker: MPNet reads a question and a text with its neighbours side by side.

    python -m training.rerank --prepared prepared --out OUT [--minutes 4] [--seed 1] [--tiny]

Listwise: one right text against wrong ones that our own recall had ranked high. It is the teacher of the reranker that
is shipped (``training.distil``): its numbers for all candidates of the training questions are written to
``OUT/reranked.npz``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from longmind.models import rerank_pairs as pairs
from training.listwise import Loss, train_by_lists
from training.loop import begin
from training.mpnet import MPNET_WIDTH, MPNet, new_trunk
from training.texts import (
    HELD_OUT,
    SHARES,
    Questions,
    Texts,
    first_of_list,
    make_texts,
)

LIST = 12
"""How many texts stand against each other."""


class Reranker(nn.Module):
    """An encoder and a number for its first token."""

    def __init__(self, trunk: MPNet) -> None:
        super().__init__()
        self.trunk = trunk
        self.score = nn.Linear(MPNET_WIDTH, 1)

    def forward(self, ids: Tensor, segments: Tensor, lengths: Tensor) -> Tensor:
        return self.score(self.trunk(ids, segments, lengths)[:, 0]).squeeze(-1)


@torch.no_grad()
def score_all(model: Reranker, made: Texts, device: str, size: int) -> Tensor:
    """Return the number of every candidate, batched by length."""
    model.eval()
    scores = torch.zeros(len(made.lengths), device=device)
    for rows in torch.argsort(made.lengths).split(size):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            scores[rows] = model(*made.batch(rows)).float()
    return scores


def loss_of(model: Reranker, made: Texts, device: str) -> Loss:
    """Return the loss of lists: how little the right text stands out."""

    def loss(rows: Tensor, _: np.ndarray) -> Tensor:
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            scores = model(*made.batch(rows.flatten())).float().view(len(rows), LIST)
        return functional.cross_entropy(scores, torch.zeros(len(rows), dtype=torch.long, device=device))

    return loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lists", type=int, default=64)
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--minutes", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tiny", action="store_true")
    call = parser.parse_args()
    device = begin(call.out, call.seed)
    began = time.time()
    questions = Questions(call.prepared / "questions.npz.xz")
    chosen = np.arange(len(questions))[:: 2000 if call.tiny else 1]
    made = make_texts(questions, chosen, pairs.pair, device)
    sys.stdout.write(f"{len(chosen)} questions, {len(made.right)} pairs, read in {time.time() - began:.0f} s\n")
    sys.stdout.flush()
    held = np.flatnonzero(questions.group_of[chosen] % HELD_OUT == 7)
    kept = np.flatnonzero(questions.group_of[chosen] % HELD_OUT != 7)
    shares = np.array([SHARES.get(questions.source(int(chosen[q])), 1.0) for q in kept])
    model = Reranker(new_trunk(call.prepared)).to(device)
    curve = train_by_lists(model, loss_of(model, made, device), made, kept, shares, LIST, device, call)
    scores = score_all(model, made, device, 16 if call.tiny else 4096).cpu().numpy()
    np.savez_compressed(call.out / "reranked.npz", scores=scores.astype(np.float16))
    right = 100 * first_of_list(scores, made, held)
    sys.stdout.write(
        f"the best candidate is right in {right:.1f} % of held-out questions; {time.time() - began:.0f} s\n"
    )
    (call.out / "curve.json").write_text(json.dumps(curve))


if __name__ == "__main__":
    main()
