"""How likely an answer is right: a logistic function of what is known about how it was found.

The weights are fitted by ``python -m training.answer_confidence`` on chats of our own that the reader was not trained
on. A right answer counts by its F1, and a question without an answer as wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Signs(NamedTuple):
    """What speaks for and against an answer."""

    constant: float
    read: float
    """The reader's score of the words, less that of "no answer here"."""
    about: float
    """Whether the words are about the person asked about (1), unclear (0), or about somebody else (-1)."""
    others: float
    """How much better the reader finds words that are about somebody else."""
    nobody: float
    """Whether the question is about nobody who speaks."""
    contrast: float
    """How much better the same question is answered when it is asked about somebody else who speaks."""
    uncontrasted: float
    """Whether that could not be compared."""


WEIGHTS = Signs(-2.732, 0.243, 0.0, -0.012, 0.165, -0.089, 0.367)
LEAST_CONTRAST, MOST_CONTRAST = -10.0, 8.0
"""Beyond these a contrast says no more."""


def signs_of(
    *,
    read: float,
    about: float | None,
    others: float,
    contrast: float | None,
) -> Signs:
    """Return the signs of an answer; ``about`` is None if the question is about nobody who speaks."""
    return Signs(
        constant=1.0,
        read=_clipped(read, 12.0),
        about=about or 0.0,
        others=_clipped(others - read, 8.0),
        nobody=float(about is None),
        contrast=0.0 if contrast is None else max(LEAST_CONTRAST, min(MOST_CONTRAST, contrast)),
        uncontrasted=float(contrast is None),
    )


def confidence_of(signs: Sequence[float], weights: Sequence[float] = WEIGHTS) -> float:
    """Return how likely an answer with these signs is right."""
    return 1 / (1 + math.exp(-sum(sign * weight for sign, weight in zip(signs, weights, strict=True))))


def _clipped(value: float, most: float) -> float:
    return max(-most, min(most, value))
