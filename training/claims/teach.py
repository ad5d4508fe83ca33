"""A teacher of the reader of statements: MPNet, trained on the labelled turns, labels what it has not seen.

    python -m training.claims.teach --prepared prepared --fold 0 --out OUT [--minutes 4] [--tiny]

The teacher of a fold is trained on the writers of the other folds. What it reads in the turns of its own fold, and in
those without labels, is written to ``OUT/taught.FOLD.npz``: how likely objects begin and end, and the claims with
their statuses. So what a student learns from it is as unsure as a reader of new turns is.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np
import torch

from training.claims.examples import Examples, batches
from training.claims.figures import figures, read
from training.claims.fitting import fit
from training.claims.model import ClaimReader
from training.claims.targets import labelled as labels_of
from training.loop import arguments, begin
from training.mpnet import MPNET_WIDTH, new_trunk

LIKELY = 0.01
"""What is less likely is not written."""
CLAIMED = 0.25
"""From this belief on, the status and the places of a claim are written."""


@torch.no_grad()
def taught(model: ClaimReader, examples: Examples, chosen: np.ndarray) -> dict[str, np.ndarray]:
    """Return what a teacher says of turns, as arrays."""
    model.eval()
    device = examples.device
    numbers, holds, counts, places, values = [], [], [], [], []
    claims, statuses, weights = [], [], []
    for part in batches(chosen, 256, examples.lengths, None):
        inputs = examples.inputs(part)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            tokens, held, logits = model.encode(inputs)
        sure = torch.sigmoid(logits) * (inputs[1] == 1)[:, :, None, None]
        flat = sure.flatten(1)
        likely = (flat >= LIKELY).nonzero()
        numbers.append(part)
        holds.append(torch.sigmoid(held).cpu().numpy())
        counts.append(torch.bincount(likely[:, 0], minlength=len(part)).cpu().numpy())
        places.append(likely[:, 1].cpu().numpy())
        values.append(flat[likely[:, 0], likely[:, 1]].cpu().numpy())
        begins = (sure[:, :, 0] >= CLAIMED).nonzero()
        if not len(begins):
            continue
        row, start, relation = begins.T
        span = torch.arange(40, device=device)[None] + start[:, None]
        inside = span < sure.shape[1]
        ends = torch.where(inside, sure[row[:, None], span.clamp(max=sure.shape[1] - 1), 1, relation[:, None]], 0.0)
        best = ends.max(1)
        end = start + best.indices
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            status, pointers = model.describe(tokens, inputs[2], row, relation, start, end)
        status = status.softmax(1)
        weight = (sure[row, start, 0, relation] * best.values).sqrt()
        found = torch.stack((relation, status.argmax(1), start, end, *pointers.argmax(2).T), 1)
        kept = (best.values >= CLAIMED).cpu().numpy()
        claims.append(np.concatenate((part[row.cpu().numpy()][:, None], found.cpu().numpy()), 1)[kept])
        statuses.append(status.cpu().numpy()[kept])
        weights.append(weight.cpu().numpy()[kept])
    return {
        "numbers": np.concatenate(numbers).astype(np.uint32),
        "holds": np.concatenate(holds).astype(np.float16),
        "counts": np.concatenate(counts).astype(np.uint16),
        "places": np.concatenate(places).astype(np.uint16),
        "values": np.concatenate(values).astype(np.float16),
        "claims": np.concatenate(claims or [np.zeros((0, 9))]).astype(np.uint32),
        "statuses": np.concatenate(statuses or [np.zeros((0, len(examples.statuses)))]).astype(np.float16),
        "weights": np.concatenate(weights or [np.zeros(0)]).astype(np.float16),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser, epochs=4, size=64, rate=1e-4, minutes=4.0)
    parser.set_defaults(head_factor=5.0)
    parser.add_argument("--fold", type=int, required=True)
    call = parser.parse_args()
    device = begin(call.out, call.seed)
    began = time.time()
    examples = Examples(call.prepared / "claims.npz.xz", device)
    model = ClaimReader(new_trunk(call.prepared), MPNET_WIDTH, len(examples.relations), len(examples.statuses))
    model.to(device)
    train = examples.part("train")
    own, others = train[examples.folds[train] == call.fold], train[examples.folds[train] != call.fold]
    labelled = np.concatenate((own, examples.part("unlabelled")))
    measured = {name: examples.part(name) for name in ("development", "test")}
    if call.tiny:
        others, labelled = others[:128], labelled[:: len(labelled) // 64]
        measured = {name: chosen[:32] for name, chosen in measured.items()}
    sys.stdout.write(f"fold {call.fold}: {len(others)} turns, read in {time.time() - began:.0f} s\n")
    sys.stdout.flush()
    model, curve = fit(model, examples, others, labels_of(examples), measured["development"], call)
    result = figures(read(model, examples, measured["test"]), examples)
    curve.append({"part": "test", **result})
    np.savez(call.out / f"taught.{call.fold}.npz", **taught(model, examples, labelled))
    (call.out / f"teacher_curve.{call.fold}.json").write_text(json.dumps(curve))
    sys.stdout.write(f"fold {call.fold}: test {json.dumps(result)}; {time.time() - began:.0f} s\n")


if __name__ == "__main__":
    main()
