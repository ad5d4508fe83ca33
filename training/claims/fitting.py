"""The training of the reader of statements and its teachers."""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from torch import Tensor
from torch.nn import functional

from training import loop
from training.claims.examples import Examples, batches
from training.claims.figures import figures, read
from training.claims.model import ClaimReader, Inputs
from training.claims.targets import Targets, Wanted


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
    chance = np.random.default_rng(call.seed)

    def loss(part: np.ndarray) -> Tensor:
        inputs = examples.inputs(part)
        return loss_of(model, inputs, targets.of(part, inputs))

    mean, curve = loop.run(
        model,
        examples.device,
        call.epochs * math.ceil(len(chosen) / call.size),
        lambda: batches(chosen, call.size, examples.lengths, chance),
        loss,
        lambda mean: figures(read(mean, examples, measured), examples),
        call,
    )
    assert isinstance(mean, ClaimReader)
    return mean, curve
