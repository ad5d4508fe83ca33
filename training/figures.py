"""Figures that several trainings print."""

from __future__ import annotations

import numpy as np


def area(numbers: np.ndarray, wanted: np.ndarray) -> float:
    """Return how likely a wanted example has a higher number than another one."""
    ranks = np.argsort(np.argsort(numbers))
    count = wanted.sum()
    return float((ranks[wanted].sum() - count * (count - 1) / 2) / max(count * (~wanted).sum(), 1))
