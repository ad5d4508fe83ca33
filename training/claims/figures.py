"""What a reader of statements finds in labelled turns, and how much of it is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from training.claims.examples import Claim, Examples, batches
from training.claims.model import ClaimReader

LONGEST_OBJECT = 40
LEAST = 0.2
"""The least belief in a beginning and an end that makes them an object."""
PRECISE = 0.85
SHOWN = (0.3, 0.5, 0.7)
Found = dict[int, list[tuple[float, Claim]]]
"""The claims that were read in each turn, with their confidence."""


@torch.no_grad()
def read(model: ClaimReader, examples: Examples, chosen: np.ndarray) -> Found:
    """Return the claims that a model finds, with the product of its beliefs as confidence."""
    model.eval()
    device = examples.device
    found: Found = {int(number): [] for number in chosen}
    for part in batches(chosen, 256, examples.lengths, None):
        inputs = examples.inputs(part)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            tokens, holds, numbers = model.encode(inputs)
        held = torch.sigmoid(holds).tolist()
        sure = (torch.sigmoid(numbers) * (inputs[1] == 1)[:, :, None, None]).cpu().numpy()
        spans = [(row, *span) for row in range(len(part)) for span in _spans(sure[row])]
        if not spans:
            continue
        table = torch.tensor([span[:4] for span in spans], device=device)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            status, pointers = model.describe(tokens, inputs[2], *table.T)
        states, places = torch.softmax(status, 1).max(1), torch.softmax(pointers, 2).max(2)
        believed = (states.values * places.values[:, 0]).tolist()
        for span, state, pointer, belief in zip(
            spans, states.indices.tolist(), places.indices.tolist(), believed, strict=True
        ):
            row, relation, start, end, confidence = span
            claim = (relation, state, start, end, *pointer)
            found[int(part[row])].append((confidence * held[row] * belief, claim))
    return found


def _spans(sure: np.ndarray) -> list[tuple[int, int, int, float]]:
    """Return the likeliest objects of a turn, of which no two overlap: relation, first and last piece, belief."""
    spans = []
    for start, relation in np.argwhere(sure[:, 0] >= LEAST):
        ends = sure[start : start + LONGEST_OBJECT, 1, relation]
        end = int(ends.argmax())
        if ends[end] >= LEAST:
            spans.append(
                (int(relation), int(start), int(start + end), float(math.sqrt(sure[start, 0, relation] * ends[end])))
            )
    chosen: list[tuple[int, int, int, float]] = []
    for span in sorted(spans, key=lambda each: -each[3]):
        if all(span[2] < other[1] or span[1] > other[2] for other in chosen):
            chosen.append(span)
    return chosen


def judged(found: Found, examples: Examples) -> list[tuple[float, bool, bool]]:
    """Return for every claim that was read its confidence, whether it is right, and whether it does harm.

    A claim is right if relation, status and subject are, and its object overlaps the right one by half. It does harm
    if it states as current what no current label is near.
    """
    current = examples.statuses.index("current")
    judgements = []
    for number, claims in found.items():
        unmatched = list(examples.claims[number])
        for confidence, claim in sorted(claims, key=lambda pair: -pair[0]):
            match = next((gold for gold in unmatched if _same(claim, gold)), None)
            if match is not None:
                unmatched.remove(match)
            near = any(g[1] == current and _overlap(claim, g) >= 0.3 for g in examples.claims[number])
            judgements.append((confidence, match is not None, match is None and claim[1] == current and not near))
    return judgements


def figures(found: Found, examples: Examples) -> dict[str, Any]:
    """Return precision, recall and harm at some confidences, and the recall at which claims are precise enough."""
    judgements = sorted(judged(found, examples), reverse=True)
    wanted = sum(len(examples.claims[number]) for number in found)
    best, right, result = 0.0, 0, {}
    for count, (_, is_right, _) in enumerate(judgements, 1):
        right += is_right
        if count >= 20 and right / count >= PRECISE:
            best = right / max(wanted, 1)
    for least in SHOWN:
        kept = [entry for entry in judgements if entry[0] >= least]
        result[f"{least}"] = _shares(kept, wanted, len(found))
    return {"recall where precise": round(best, 4), "all": _shares(judgements, wanted, len(found)), **result}


def _shares(kept: Sequence[tuple[float, bool, bool]], wanted: int, turns: int) -> tuple[float, float, float]:
    right, harmful = sum(entry[1] for entry in kept), sum(entry[2] for entry in kept)
    return round(right / max(len(kept), 1), 3), round(right / max(wanted, 1), 3), round(harmful / max(turns, 1), 4)


def _overlap(a: Claim, b: Claim) -> float:
    both = min(a[3], b[3]) - max(a[2], b[2]) + 1
    return max(both, 0) / (max(a[3], b[3]) - min(a[2], b[2]) + 1)


def _same(claim: Claim, gold: Claim) -> bool:
    subject = (claim[4] == 0) == (gold[4] == 0) and (gold[4] == 0 or (claim[4] <= gold[5] and claim[5] >= gold[4]))
    return claim[0] == gold[0] and claim[1] == gold[1] and subject and _overlap(claim, gold) >= 0.5
