"""A deeper encoder that begins by computing about what a trained one computes.

    python -m training.deepen start/statements shipped:statements

Behind every layer comes a new one that at first adds nothing: what its attention and its wide layer give is multiplied
by zero, and its two norms give back about what they get (vectors of random words correlate with those of before at
0.88). So a training goes on from where the shallow encoder stood, and the new layers learn what they can add.
``shipped:`` takes the weights that ``longmind-models`` has now.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

Weights = dict[str, np.ndarray]


def deepened(weights: Weights) -> Weights:
    """Return the weights of an encoder of twice as many layers that gives about the same vectors."""
    result = {name: value for name, value in weights.items() if ".layers." not in name}
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("bert.layers."))
    for number in range(layers):
        own = {
            name.split(".", 3)[3]: value for name, value in weights.items() if name.startswith(f"bert.layers.{number}.")
        }
        result |= {f"bert.layers.{2 * number}.{name}": value for name, value in own.items()}
        result |= {f"bert.layers.{2 * number + 1}.{name}": value for name, value in _passing(own).items()}
    return result


def _passing(layer: Weights) -> Weights:
    """Return a layer that gives back the vectors that another layer gives."""
    new = dict(layer)
    for part in ("attended", "narrow"):
        new |= {f"{part}.{kind}": np.zeros_like(layer[f"{part}.{kind}"]) for kind in ("weight", "bias")}
    weight, bias = layer["second_norm.weight"], layer["second_norm.bias"]
    spread = np.sqrt(np.mean(weight**2) + np.var(bias))
    for part in ("first_norm", "second_norm"):
        new |= {f"{part}.weight": np.full_like(weight, spread), f"{part}.bias": np.full_like(bias, np.mean(bias))}
    return new


def main() -> None:
    from training.average import read

    target, source = sys.argv[1:]
    path = Path(target)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path.with_name(f"{path.name}.0.npz"), **deepened(read(source)))


if __name__ == "__main__":
    main()
