"""A teacher of the reader of changes: MPNet, trained on labelled facts and claims, tells of all others what it thinks.

    python -m training.changes.teach --prepared prepared --out OUT --seed 1 [--minutes 4] [--tiny]

What it says, how likely facts are gone and claims right, is written to ``OUT/taught.SEED.npz`` for every example that
is not measured on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

import numpy as np

from training.changes.examples import Examples
from training.changes.fitting import EPOCH, figures, fit, read
from training.changes.model import ChangeReader
from training.loop import arguments, begin
from training.mpnet import MPNET_WIDTH, new_trunk

TAUGHT = ("derived", "paired", "found", "unjudged")
"""What is taught: what nobody has written or judged."""
UNTOLD = ("paired", "unjudged")
"""What has no labels."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser, epochs=3, size=64, rate=6e-5, minutes=4.0, head_factor=10.0)
    call = parser.parse_args()
    device = begin(call.out, call.seed)
    began = time.time()
    examples = Examples(call.prepared / "changes.npz.xz", device)
    model = ChangeReader(new_trunk(call.prepared), MPNET_WIDTH).to(device)
    parts = {name: times for name, times in EPOCH.items() if name not in UNTOLD}
    model, curve = fit(model, examples, parts, call)
    curve.append(figures(model, examples))
    chosen = np.concatenate([examples.part(name)[: 32 if call.tiny else None] for name in TAUGHT])
    numbers, verdicts, _ = read(model, examples, chosen)
    shares = np.exp(verdicts - verdicts.max(1, keepdims=True))
    np.savez(
        call.out / f"taught.{call.seed}.npz",
        numbers=chosen.astype(np.uint32),
        gone=(1 / (1 + np.exp(-numbers))).astype(np.float16),
        verdicts=(shares / shares.sum(1, keepdims=True)).astype(np.float16),
    )
    (call.out / f"teacher_curve.{call.seed}.json").write_text(json.dumps(curve))
    sys.stdout.write(f"{json.dumps(curve[-1])}; {time.time() - began:.0f} s\n")


if __name__ == "__main__":
    main()
