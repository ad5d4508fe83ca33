"""The training loop of the reader of statements and its teachers."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.claims.examples import Examples, batches
from training.claims.figures import figures, read
from training.claims.model import ClaimReader, Inputs
from training.claims.targets import Targets, Wanted

MEAN = 0.998
"""How slowly the moving mean of the weights follows."""


def loss_of(model: ClaimReader, inputs: Inputs, wanted: Wanted) -> Tensor:
    tokens, holds, numbers = model.encode(inputs)
    real = (inputs[1] == 1).float()[:, :, None, None]
    weights = real * (1 + 3 * wanted.objects)
    each = functional.binary_cross_entropy_with_logits(numbers, wanted.objects, reduction="none")
    loss = (each * weights).sum() / len(numbers)
    loss = loss + functional.binary_cross_entropy_with_logits(holds, wanted.holds.clamp(0.02, 0.98))
    if len(wanted.claims):
        table, total = wanted.claims, wanted.weights.sum().clamp(min=1e-6)
        status, pointers = model.describe(tokens, inputs[2], table[:, 0], table[:, 1], table[:, 3], table[:, 4])
        told = functional.cross_entropy(status, wanted.statuses, reduction="none")
        placed = functional.cross_entropy(pointers.flatten(0, 1), table[:, 5:9].flatten(), reduction="none")
        loss = (
            loss + (told * wanted.weights).sum() / total + (placed.view(-1, 4).mean(1) * wanted.weights).sum() / total
        )
    return loss


def fit(
    model: ClaimReader,
    examples: Examples,
    chosen: np.ndarray,
    targets: Targets,
    measured: np.ndarray,
    call: argparse.Namespace,
) -> tuple[ClaimReader, list[dict[str, Any]]]:
    """Train on the chosen turns; return the moving mean of the weights, and the curve."""
    mean = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(MEAN))
    chance = np.random.default_rng(call.seed)
    trained = [p for p in model.parameters() if p.requires_grad]
    heads = {id(p) for name, p in model.named_parameters() if not name.startswith("bert.")}
    groups = [
        {"params": [p for p in trained if id(p) not in heads], "factor": 1.0},
        {"params": [p for p in trained if id(p) in heads], "factor": call.head_factor},
    ]
    optimizer = torch.optim.AdamW(groups, lr=call.rate, weight_decay=0.01, betas=(0.9, 0.98))
    total = call.epochs * math.ceil(len(chosen) / call.size)
    step, began, curve = 0, time.time(), list[dict[str, Any]]()
    for epoch in range(call.epochs):
        model.train()
        losses = []
        for part in batches(chosen, call.size, examples.lengths, chance):
            progress = max(step / total, (time.time() - began) / (60 * call.minutes))
            if progress >= 1:
                break
            rate = call.rate * min(1.0, (step + 1) / (total * 0.06)) * max(0.02, 1 - progress)
            for entry in optimizer.param_groups:
                entry["lr"] = rate * entry["factor"]
            inputs = examples.inputs(part)
            with torch.autocast(examples.device, dtype=torch.bfloat16, enabled=examples.device == "cuda"):
                loss = loss_of(model, inputs, targets.of(part, inputs))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            mean.update_parameters(model)
            losses.append(loss.detach())
            step += 1
        if not losses:
            break
        curve.append({"epoch": epoch + 1, "loss": float(torch.stack(losses).mean())})
        if (epoch + 1) % call.every == 0:
            curve[-1] |= figures(read(mean.module, examples, measured), examples)
        sys.stdout.write(f"{json.dumps(curve[-1])} {time.time() - began:.0f} s\n")
        sys.stdout.flush()
    return mean.module, curve


def arguments(parser: argparse.ArgumentParser, *, epochs: int, size: int, rate: float, minutes: float) -> None:
    """Add what every training of this kind may be told."""
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--size", type=int, default=size)
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument("--head-factor", type=float, default=1.0, help="how much faster the ends learn than the trunk")
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--every", type=int, default=1, help="after how many epochs it is measured")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--tiny", action="store_true", help="a few steps on a CPU, to see that it works")
