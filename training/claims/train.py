"""Training of the reader of statements: which claims a turn holds.

    python -m training.claims.train --prepared prepared --out OUT [--start OUT/reader6] [--minutes 3] [--tiny]

For the turn: does it hold a claim at all. For every token and relation: does an object begin here, does one end here.
For every object that is read: its status, and where its subject and its time stand (at the first token: the speaker, or
no time). The confidence of a claim is the product of the belief in each of these.

What is measured and kept is a moving mean of the weights. Training may start from a reader of answers, which knows
where a name or a phrase begins and ends.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.bert import WIDTH, Bert, unpack
from training.texts import batch, load_state, save

LONGEST_OBJECT = 40
LEAST = 0.2
"""The least belief in a beginning and an end that makes them an object."""
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
MEAN = 0.998
"""How slowly the moving mean of the weights follows."""
Claim = tuple[int, int, int, int, int, int, int, int]
"""Relation, status, and the first and last token of object, subject and time."""


class ClaimReader(nn.Module):
    """The encoder with the ends for objects, statuses and pointers."""

    def __init__(self, relations: int, statuses: int, layers: int = 6, drop: float = 0.2) -> None:
        super().__init__()
        self.bert = Bert(layers, drop)
        self.holds = nn.Linear(WIDTH, 1)
        self.objects = nn.Linear(WIDTH, 2 * relations)
        nn.init.constant_(self.objects.bias, -5.0)  # hardly any token begins or ends an object
        self.relation = nn.Embedding(relations, 64)
        self.claim = nn.Linear(2 * WIDTH + 64, WIDTH)
        self.status = nn.Linear(WIDTH, statuses)
        self.asks = nn.Linear(WIDTH, 4 * 96)
        self.keys = nn.Linear(WIDTH, 4 * 96)

    def encode(self, ids: Tensor, segments: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the tokens, whether there is a claim, and for each token and relation the beginning and the end."""
        tokens = self.bert(ids, segments, lengths)
        holds = self.holds(tokens[:, 0]).squeeze(-1).float()
        return tokens, holds, self.objects(tokens).unflatten(-1, (2, -1)).float()

    def describe(
        self, tokens: Tensor, lengths: Tensor, row: Tensor, relation: Tensor, start: Tensor, end: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return for each claim the numbers of its status, and of the four pointers over the tokens of its turn."""
        parts = (tokens[row, start], tokens[row, end], self.relation(relation))
        claim = functional.gelu(self.claim(torch.cat(parts, -1)))
        asks = self.asks(claim).unflatten(-1, (4, 96))
        keys = self.keys(tokens)[row].unflatten(-1, (4, 96))
        pointers = torch.einsum("cpk,ctpk->cpt", asks, keys).float() / math.sqrt(96)
        beyond = torch.arange(tokens.shape[1], device=tokens.device)[None] >= lengths[row][:, None]
        return self.status(claim).float(), pointers.masked_fill(beyond[:, None], -1e4)


def batches(examples: list[dict[str, Any]], size: int, device: str) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    """Yield padded batches and their examples."""
    for start in range(0, len(examples), size):
        part = examples[start : start + size]
        yield batch([(e["ids"], e["head"]) for e in part], device), part


def loss_of(
    model: ClaimReader, inputs: tuple[Tensor, Tensor, Tensor], part: list[dict[str, Any]], device: str
) -> Tensor:
    tokens, holds, numbers = model.encode(*inputs)
    wanted = torch.zeros_like(numbers)
    rows = [(row, *claim) for row, e in enumerate(part) for claim in e["claims"]]
    for row, relation, _, start, end, *_ in rows:
        wanted[row, start, 0, relation] = 1
        wanted[row, end, 1, relation] = 1
    real = (inputs[1] == 1).float()[:, :, None, None]
    weights = real * (1 + 3 * wanted)
    loss = (functional.binary_cross_entropy_with_logits(numbers, wanted, reduction="none") * weights).sum() / len(part)
    claimed = torch.tensor([0.98 if e["claims"] else 0.02 for e in part], device=device)
    loss = loss + functional.binary_cross_entropy_with_logits(holds, claimed)
    if rows:
        table = torch.tensor(rows, device=device)
        status, pointers = model.describe(tokens, inputs[2], table[:, 0], table[:, 1], table[:, 3], table[:, 4])
        loss = loss + functional.cross_entropy(status, table[:, 2], label_smoothing=0.05)
        loss = loss + functional.cross_entropy(pointers.flatten(0, 1), table[:, 5:9].flatten())
    return loss


@torch.no_grad()
def read(
    model: ClaimReader, examples: list[dict[str, Any]], device: str, least: float
) -> list[list[tuple[float, Claim]]]:
    """Return the claims that the model finds in each example, with their confidence."""
    model.eval()
    results: list[list[tuple[float, Claim]]] = []
    for inputs, part in batches(examples, 128, device):
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            tokens, holds, numbers = model.encode(*inputs)
        held = torch.sigmoid(holds).tolist()
        sure = (torch.sigmoid(numbers) * (inputs[1] == 1)[:, :, None, None]).cpu().numpy()
        spans = []
        for row in range(len(part)):
            for start, relation in np.argwhere(sure[row, :, 0] >= least):
                ends = sure[row, start : start + LONGEST_OBJECT, 1, relation]
                end = int(ends.argmax())
                if ends[end] >= least:
                    spans.append(
                        (
                            row,
                            int(relation),
                            int(start),
                            int(start + end),
                            float(math.sqrt(sure[row, start, 0, relation] * ends[end])),
                        )
                    )
        found: list[list[tuple[float, Claim]]] = [[] for _ in part]
        if spans:
            table = torch.tensor([s[:4] for s in spans], device=device)
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                status, pointers = model.describe(tokens, inputs[2], *table.T)
            states, places = torch.softmax(status, 1).max(1), torch.softmax(pointers, 2).max(2)
            believed = (states.values * places.values[:, 0]).tolist()
            for span, state, pointer, belief in zip(
                spans, states.indices.tolist(), places.indices.tolist(), believed, strict=True
            ):
                row, relation, start, end, confidence = span
                found[row].append((confidence * held[row] * belief, (relation, state, start, end, *pointer)))
        results.extend(found)
    return results


def figures(
    read_claims: list[list[tuple[float, Claim]]], examples: list[dict[str, Any]], least: float, current: int
) -> dict[str, float]:
    """Return precision, recall and harm.

    A claim is right if relation, status and subject are, and its object overlaps the right one by half.
    """
    right = given = wanted = harmful = exact = 0
    for claims, example in zip(read_claims, examples, strict=True):
        gold = [tuple(claim) for claim in example["claims"]]
        kept = [claim for confidence, claim in claims if confidence >= least]
        unmatched = list(gold)
        for claim in kept:
            match = next((g for g in unmatched if _same(claim, g)), None)
            if match is not None:
                unmatched.remove(match)
                right += 1
                exact += claim[2:4] == match[2:4]
            elif claim[1] == current and not any(g[1] == current and _overlap(claim, g) >= 0.3 for g in gold):
                harmful += 1
        given += len(kept)
        wanted += len(gold)
    return {
        "least": least,
        "precision": round(right / max(given, 1), 4),
        "recall": round(right / max(wanted, 1), 4),
        "exact spans": round(exact / max(right, 1), 4),
        "false as current, of turns": round(harmful / len(examples), 4),
        "place alone": _f1(read_claims, examples, least, lambda a, b: _overlap(a, b) >= 0.5),
        "and relation": _f1(read_claims, examples, least, lambda a, b: _overlap(a, b) >= 0.5 and a[0] == b[0]),
    }


def _f1(
    read_claims: list[list[tuple[float, Claim]]],
    examples: list[dict[str, Any]],
    least: float,
    same: Callable[[Any, Any], bool],
) -> float:
    """Return how far the claims agree with the right ones where only some of their fields count."""
    common = total = 0
    for claims, example in zip(read_claims, examples, strict=True):
        kept, left = [claim for confidence, claim in claims if confidence >= least], list(example["claims"])
        total += len(kept) + len(left)
        for claim in kept:
            match = next((gold for gold in left if same(claim, gold)), None)
            if match is not None:
                left.remove(match)
                common += 1
    return round(2 * common / max(total, 1), 4)


def _overlap(a: Any, b: Any) -> float:
    both = min(a[3], b[3]) - max(a[2], b[2]) + 1
    return max(both, 0) / (max(a[3], b[3]) - min(a[2], b[2]) + 1)


def _same(claim: Claim, gold: Any) -> bool:
    subject = (claim[4] == 0) == (gold[4] == 0) and (gold[4] == 0 or (claim[4] <= gold[5] and claim[5] >= gold[4]))
    return claim[0] == gold[0] and claim[1] == gold[1] and subject and _overlap(claim, gold) >= 0.5


def trained_trunk(prefix: Path) -> dict[str, Tensor]:
    """Return the encoder of a model that was trained before, without the word vectors."""
    return {n.removeprefix("bert."): value for n, value in load_state(prefix).items() if n.startswith("bert.")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepared", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", type=Path)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=2, help="of the order of turns; the layers begin alike")
    parser.add_argument("--tiny", action="store_true")
    call = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    call.out.mkdir(parents=True, exist_ok=True)
    data = json.loads(gzip.decompress((call.prepared / "claims.json.gz").read_bytes()))
    model = ClaimReader(len(data["relations"]), len(data["statuses"])).to(device)
    trunk = unpack(call.prepared / "trunk.npz.xz")
    model.bert.load_state_dict(trunk if call.start is None else trunk | trained_trunk(call.start))
    train, development, test = data["train"], data["development"], data["test"]
    if call.tiny:
        train, development, test = train[:32], development[:16], test[:16]
    mean = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(MEAN))
    chance = np.random.default_rng(call.seed)
    torch.manual_seed(call.seed)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=call.rate, weight_decay=0.01)
    total = call.epochs * math.ceil(len(train) / call.size)
    step, began, curve = 0, time.time(), []
    for epoch in range(call.epochs):
        model.train()
        losses = []
        for inputs, part in batches([train[n] for n in chance.permutation(len(train))], call.size, device):
            progress = max(step / total, (time.time() - began) / (60 * call.minutes))
            if progress >= 1:
                break
            for entry in optimizer.param_groups:
                entry["lr"] = call.rate * min(1.0, (step + 1) / (total * 0.06)) * max(0.02, 1 - progress)
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                loss = loss_of(model, inputs, part, device)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            mean.update_parameters(model)
            losses.append(loss.item())
            step += 1
        claims = read(mean.module, development, device, LEAST)
        result = figures(claims, development, 0.3, data["statuses"].index("current"))
        curve.append({"epoch": epoch + 1, "loss": float(np.mean(losses)) if losses else None, **result})
        sys.stdout.write(f"{curve[-1]} {time.time() - began:.0f} s\n")
        sys.stdout.flush()
    for name, part in (("development", development), ("test", test)):
        claims = read(mean.module, part, device, LEAST)
        for least in THRESHOLDS:
            curve.append({"part": name, **figures(claims, part, least, data["statuses"].index("current"))})
            sys.stdout.write(f"{curve[-1]}\n")
    save(mean.module, call.out, "claims6")
    (call.out / "claims_curve.json").write_text(json.dumps(curve))


if __name__ == "__main__":
    main()
