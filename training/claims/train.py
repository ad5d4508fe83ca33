"""Training of the reader of statements that is shipped: which claims a turn holds.

    python -m training.claims.train --prepared prepared --out OUT [--taught OUT] [--start OUT/reader6] [--tiny]

For the turn: does it hold a claim at all. For every token and relation: does an object begin here, does one end here.
For every object that is read: its status, and where its subject and its time stand (at the first token: the speaker, or
no time). The confidence of a claim is the product of the belief in each of these.

With ``--taught`` it also learns what teachers (``training.claims.teach``) say: of labelled turns that they had not
seen, mixed with the labels, and of turns without labels. What is measured and kept is a moving mean of the weights.
Training may start from a reader of answers, which knows where a name or a phrase begins and ends.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from training.bert import WIDTH, new_encoder
from training.claims.examples import Examples
from training.claims.figures import figures, read
from training.claims.fitting import fit
from training.claims.model import ClaimReader
from training.claims.targets import labelled, taught
from training.loop import arguments, begin
from training.texts import load_state, save


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser, epochs=8, size=64, rate=3e-4, minutes=4.0)
    parser.add_argument("--start", type=Path, help="weights of this reader, or of a reader of answers, to go on from")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--taught", type=Path, help="the folder with what teachers said")
    parser.add_argument("--mixed", type=float, default=0.35, help="how much teachers count beside a label")
    parser.add_argument("--drop", type=float, default=0.15)
    call = parser.parse_args()
    device = begin(call.out, call.seed)
    examples = Examples(call.prepared / "claims.npz.xz", device)
    encoder = new_encoder(call.prepared, call.drop, call.layers, call.start)
    model = ClaimReader(encoder, WIDTH, len(examples.relations), len(examples.statuses))
    if call.start is not None:
        model.load_state_dict(load_state(call.start), strict=False)  # of a reader of answers, only the encoder
    model.to(device)
    train, development, test = (examples.part(name) for name in ("train", "development", "test"))
    if call.taught is None:
        targets = labelled(examples)
    else:
        targets, told = taught(examples, sorted(call.taught.glob("taught.*.npz")), call.mixed)
        train = np.concatenate((train, told))
    if call.tiny:
        train, development, test = train[:: len(train) // 128], development[:16], test[:16]
    sys.stdout.write(f"{len(train)} turns\n")
    sys.stdout.flush()
    model, curve = fit(model, examples, train, targets, development, call)
    for name, part in (("development", development), ("test", test)):
        curve.append({"part": name, **figures(read(model, examples, part), examples)})
        sys.stdout.write(f"{json.dumps(curve[-1])}\n")
    save(model, call.out, f"claims{call.layers}")
    (call.out / "claims_curve.json").write_text(json.dumps(curve))


if __name__ == "__main__":
    main()
