"""The loop of a training: steps over batches for some epochs or minutes, and a moving mean of the weights."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

MEAN = 0.998
"""How slowly the moving mean of the weights follows."""


def arguments(
    parser: argparse.ArgumentParser,
    *,
    epochs: int,
    size: int,
    rate: float,
    minutes: float,
    head_factor: float = 1.0,
) -> None:
    """Add what every training of this kind may be told."""
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--size", type=int, default=size)
    parser.add_argument("--rate", type=float, default=rate)
    parser.add_argument(
        "--head-factor", type=float, default=head_factor, help="how much faster the ends learn than the trunk"
    )
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--every", type=int, default=1, help="after how many epochs it is measured")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--tiny", action="store_true", help="a few steps on a CPU, to see that it works")


def begin(out: Path, seed: int) -> str:
    """Make the folder that is written to, and return the device that trains; the same seed draws the same by chance."""
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    torch.set_float32_matmul_precision("high")
    return "cuda" if torch.cuda.is_available() else "cpu"


def run(
    model: nn.Module,
    device: str,
    steps: int,
    epoch: Callable[[], Iterable[np.ndarray]],
    loss_of: Callable[[np.ndarray], Tensor],
    measure: Callable[[nn.Module], dict[str, Any]],
    call: argparse.Namespace,
) -> tuple[nn.Module, list[dict[str, Any]]]:
    """Train for so many steps, or until the minutes are over; return the moving mean of the weights, and the curve.

    ``epoch`` returns the batches of an epoch. The rate rises for the first 6 % of the steps, and falls then.
    """
    mean = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(MEAN))
    trained = [p for p in model.parameters() if p.requires_grad]
    heads = {id(p) for name, p in model.named_parameters() if not name.startswith("bert.")}
    groups = [
        {"params": [p for p in trained if id(p) not in heads], "factor": 1.0},
        {"params": [p for p in trained if id(p) in heads], "factor": call.head_factor},
    ]
    optimizer = torch.optim.AdamW(groups, lr=call.rate, weight_decay=0.01, betas=(0.9, 0.98), fused=device == "cuda")
    step, began, curve = 0, time.time(), list[dict[str, Any]]()
    for number in range(call.epochs):
        model.train()
        losses = []
        for batch in epoch():
            progress = max(step / steps, (time.time() - began) / (60 * call.minutes))
            if progress >= 1:
                break
            rate = call.rate * min(1.0, (step + 1) / (steps * 0.06)) * max(0.02, 1 - progress)
            for entry in optimizer.param_groups:
                entry["lr"] = rate * entry["factor"]
            with torch.autocast(device, dtype=torch.bfloat16):
                loss = loss_of(batch)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            mean.update_parameters(model)
            losses.append(loss.detach())
            step += 1
        if not losses:
            break
        curve.append({"epoch": number + 1, "loss": round(float(torch.stack(losses).mean()), 4)})
        if (number + 1) % call.every == 0:
            curve[-1] |= measure(mean.module)
        sys.stdout.write(f"{json.dumps(curve[-1])} {time.time() - began:.0f} s\n")
        sys.stdout.flush()
    return mean.module, curve
