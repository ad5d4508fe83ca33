"""The mean of the weights of several trainings of one model.

    python -m training.average OUT/reader6 FIRST/reader6 SECOND/reader6

The reader of answers is the mean of one trained on published questions and one trained on these and on questions in the
shape of memory: the first finds words better, the second knows better when there are none.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np


def read(prefix: Path) -> dict[str, np.ndarray]:
    """Return the weights that a training wrote in parts."""
    weights: dict[str, np.ndarray] = {}
    for path in sorted(prefix.parent.glob(f"{prefix.name}.*.npz")):
        with np.load(path) as stored:
            weights |= {name: stored[name].astype(np.float32) for name in stored.files}
    return weights


def main() -> None:
    target, *sources = map(Path, sys.argv[1:])
    states = [read(source) for source in sources]
    target.parent.mkdir(parents=True, exist_ok=True)
    mean = {name: np.mean([state[name] for state in states], axis=0) for name in states[0]}
    np.savez(target.with_name(f"{target.name}.0.npz"), **mean)


if __name__ == "__main__":
    main()
