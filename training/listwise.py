"""Training by lists, until the time is over: a right text stands against wrong ones, and the rate follows the clock."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from training.texts import Texts, batches_by_length, epoch_lists

Loss = Callable[[Tensor, np.ndarray], Tensor]
"""The loss of some lists: the rows of their texts, the right one first, and the question of each."""
TOLD = 300
"""Steps between two lines."""


def train_by_lists(
    model: nn.Module,
    loss_of: Loss,
    made: Texts,
    kept: np.ndarray,
    shares: np.ndarray,
    size: int,
    device: str,
    call: argparse.Namespace,
) -> list[dict[str, float]]:
    """Train on lists of ``size`` texts of the questions that are kept; return how the loss fell."""
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in trained if p.ndim > 1], "weight_decay": 0.01},
        {"params": [p for p in trained if p.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=call.rate, betas=(0.9, 0.98))
    chance, began, step, curve, losses = np.random.default_rng(torch.initial_seed()), time.time(), 0, [], []
    progress, epoch, lengths = 0.0, 0, made.lengths.cpu().numpy()
    while progress < 1:
        lists, asked = epoch_lists(made, kept, shares, size, chance)
        for part in batches_by_length(lengths, lists, call.lists, chance):
            progress = (time.time() - began) / (60 * call.minutes)
            if progress >= 1 or (call.tiny and step >= 6):
                progress = 1.0
                break
            model.train()
            for entry in optimizer.param_groups:
                entry["lr"] = (
                    call.rate * min(1.0, progress / 0.05 + 0.01) * max(0.01, 0.5 * (1 + math.cos(math.pi * progress)))
                )
            loss = loss_of(torch.from_numpy(lists[part]).to(device), asked[part])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            losses.append(loss.detach())
            step += 1
            if step % TOLD == 0:
                recent = torch.stack(losses[-TOLD:]).mean().item()
                curve.append({"step": step, "seconds": round(time.time() - began, 1), "loss": round(recent, 4)})
                sys.stdout.write(f"  step {step} epoch {epoch} {time.time() - began:.0f} s loss {recent:.4f}\n")
                sys.stdout.flush()
        epoch += 1
    return curve
