"""The training of the reader of changes and of its teachers, and how good they are."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training import loop
from training.changes.examples import Examples, batches
from training.changes.model import ChangeReader
from training.figures import area

MEASURED = ("development", "development of claims", "judged development")
EPOCH = {
    "written": 1.0,
    "derived": 0.35,
    "paired": 0.7,
    "judged": 2.0,
    "stated": 0.35,
    "found": 0.6,
    "unjudged": 0.7,
}
"""How often an epoch takes the examples of a part; less than once is another sample each time."""
SMOOTH = 0.03


def loss_of(model: ChangeReader, examples: Examples, chosen: np.ndarray) -> Tensor:
    inputs, wanted = examples.batch(chosen)
    number, places, verdicts = model(*inputs)
    gone = wanted.gone.clamp(SMOOTH, 1 - SMOOTH)
    each = functional.binary_cross_entropy_with_logits(number, gone, reduction="none")
    told = (each * wanted.gone_weight).mean()
    each = sum(functional.cross_entropy(places[..., n], wanted.new[:, n], reduction="none") for n in (0, 1))
    placed = (each * wanted.new_weight).mean()
    likely = wanted.verdict * (1 - 2 * SMOOTH) + 2 * SMOOTH / wanted.verdict.shape[1]
    each = functional.cross_entropy(verdicts, likely, reduction="none")
    return told + 0.4 * placed + 0.6 * (each * wanted.verdict_weight).mean()


@torch.no_grad()
def read(model: ChangeReader, examples: Examples, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each example the number of its being gone, those of the verdicts, and if the new value is right."""
    model.eval()
    numbers, right = np.zeros(len(chosen)), np.zeros(len(chosen), np.bool_)
    verdicts = np.zeros((len(chosen), 3))
    order = np.argsort(examples.lengths[chosen], kind="stable")
    for start in range(0, len(order), 256):
        part = order[start : start + 256]
        inputs, wanted = examples.batch(chosen[part])
        with torch.autocast(examples.device, dtype=torch.bfloat16):
            number, places, told = model(*inputs)
        numbers[part], verdicts[part] = number.cpu().numpy(), told.cpu().numpy()
        right[part] = (places.argmax(1) == wanted.new).all(1).cpu().numpy()
    return numbers, verdicts, right


def recalls(numbers: np.ndarray, wanted: np.ndarray) -> dict[str, float]:
    """Return what share of the wanted examples is found at some precisions, and where little harm is done."""
    order = np.argsort(-numbers)
    hits = np.cumsum(wanted[order])
    precision = hits / np.arange(1, len(order) + 1)
    least = {f"recall at {p}": max(hits[precision >= p], default=0) / max(wanted.sum(), 1) for p in (0.9, 0.95)}
    harm = np.cumsum(~wanted[order]) / max((~wanted).sum(), 1)
    least |= {f"recall at {h:.1%} wrong": max(hits[harm <= h], default=0) / max(wanted.sum(), 1) for h in (0.015, 0.03)}
    return {name: round(float(value), 3) for name, value in least.items()}


def figures(model: ChangeReader, examples: Examples) -> dict[str, Any]:
    """Return how well what is gone is told from what holds, and right claims from others."""
    results: dict[str, Any] = {}
    for name in MEASURED:
        chosen = examples.part(name)
        numbers, verdicts, right = read(model, examples, chosen)
        if name == "judged development":
            shares = np.exp(verdicts - verdicts.max(1, keepdims=True))
            shares /= shares.sum(1, keepdims=True)
            good, bad = examples.verdicts[chosen] == 0, examples.verdicts[chosen] == 2
            results[name] = {
                "right": round(area(shares[:, 0], good), 4),
                "wrong": round(area(shares[:, 2], bad), 4),
                **recalls(shares[:, 0], good),
            }
            continue
        gone = examples.gone[chosen] > 0
        found = recalls(numbers, gone) | {"value": round(float(right[gone].mean()), 3)}
        results[name] = {"auroc": round(area(numbers, gone), 4), **found}
    return results


def epoch(examples: Examples, parts: Mapping[str, float], chance: np.random.Generator) -> np.ndarray:
    """Return the examples of an epoch."""
    chosen = []
    for name, times in parts.items():
        own = examples.part(name)
        chosen += [own] * int(times)
        chosen.append(chance.permutation(own)[: int((times % 1) * len(own))])
    return np.concatenate(chosen)


def fit(
    model: ChangeReader, examples: Examples, parts: Mapping[str, float], call: argparse.Namespace
) -> tuple[ChangeReader, list[dict[str, Any]]]:
    """Train on epochs of the parts; return the moving mean of the weights, and the curve."""
    chance = np.random.default_rng(call.seed)

    def chosen() -> Iterator[np.ndarray]:
        return batches(epoch(examples, parts, chance), call.size, examples.lengths, chance)

    steps = call.epochs * math.ceil(len(epoch(examples, parts, chance)) / call.size)

    def measure(reader: nn.Module) -> dict[str, Any]:
        assert isinstance(reader, ChangeReader)
        return figures(reader, examples)

    mean, curve = loop.run(
        model,
        examples.device,
        4 if call.tiny else steps,
        chosen,
        lambda part: loss_of(model, examples, part),
        measure,
        call,
    )
    assert isinstance(mean, ChangeReader)
    return mean, curve
