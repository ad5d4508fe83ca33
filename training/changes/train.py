"""Training of the reader of changes: does a known fact still hold after a turn, and is a claim of a turn right.

    python -m training.changes.train --prepared prepared --taught OUT --start start/statements --out OUT [--tiny]

The first token tells whether a fact is gone, or whether a claim is right; two numbers for each token tell where the new
value begins and ends, the first token where there is none. It learns labels, and what teachers
(``training.changes.teach``) think of all that has none. What is measured and kept is a moving mean of the weights. It
starts from the reader of statements, or the reader of changes (``python -m training.average start/changes
shipped:changes``).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from training.bert import WIDTH, new_encoder
from training.changes.examples import Examples
from training.changes.fitting import EPOCH, figures, fit
from training.changes.model import ChangeReader
from training.changes.teach import UNTOLD
from training.loop import arguments, begin
from training.texts import load_state, save


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser, epochs=12, size=64, rate=2e-4, minutes=4.0, head_factor=5.0)
    parser.add_argument("--start", type=Path, help="weights of this reader, or of that of statements, to go on from")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--taught", type=Path, help="the folder with what teachers said")
    parser.add_argument("--mixed", type=float, default=0.5, help="how much teachers count beside a label")
    parser.add_argument("--drop", type=float, default=0.1)
    call = parser.parse_args()
    device = begin(call.out, call.seed)
    examples = Examples(call.prepared / "changes.npz.xz", device)
    parts = dict(EPOCH)
    if call.taught is None:
        parts = {name: times for name, times in EPOCH.items() if name not in UNTOLD}
    else:
        told = [np.load(path) for path in sorted(call.taught.glob("taught.*.npz"))]
        gone, verdicts = (np.mean([one[name] for one in told], 0, np.float32) for name in ("gone", "verdicts"))
        examples.teach(told[0]["numbers"], gone, verdicts, call.mixed)
    encoder = new_encoder(call.prepared, call.drop, call.layers, call.start)
    model = ChangeReader(encoder, WIDTH)
    if call.start is not None:
        own = model.state_dict()
        state = {name: value for name, value in load_state(call.start).items() if name in own}
        model.load_state_dict(state, strict=False)
    model.to(device)
    mean, curve = fit(model, examples, parts, call)
    curve.append(figures(mean, examples))
    sys.stdout.write(f"{json.dumps(curve[-1])}\n")
    save(mean, call.out, f"changes{call.layers}")
    (call.out / "changes_curve.json").write_text(json.dumps(curve))


if __name__ == "__main__":
    main()
