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
    recalled: float
    """The logarithm of the odds that the memory with the words is right, by the score of its hit."""
    contrast: float
    """How much better the best memory fits the same question about somebody else who speaks."""
    contrast_here: float
    """The same for the memory with the words: what fits both questions alike speaks less against them."""
    uncontrasted: float
    """Whether that could not be compared."""


WEIGHTS = Signs(-1.365, 0.272, 0.556, -0.285, 0.293, -0.219)
_MOST_READ, _MOST_CONTRAST = 12.0, 6.0
"""Beyond these a sign says no more."""
_LEAST_CHANCE, _MOST_CHANCE = 0.05, 0.995
"""The same for the score of a hit: that of a turn is low where a fact that was drawn from it stands before it."""


def signs_of(*, read: float, score: float, contrast: tuple[float, float] | None) -> Signs:
    """Return the signs of an answer.

    ``score`` is that of the hit with its words, from 0 to 1; ``contrast`` that of the best memory, and of that hit.
    """
    chance = min(max(score, _LEAST_CHANCE), _MOST_CHANCE)
    best, here = contrast or (0.0, 0.0)
    return Signs(
        constant=1.0,
        read=_clipped(read, _MOST_READ),
        recalled=math.log(chance / (1 - chance)),
        contrast=_clipped(best, _MOST_CONTRAST),
        contrast_here=_clipped(here, _MOST_CONTRAST),
        uncontrasted=float(contrast is None),
    )


def confidence_of(signs: Sequence[float], weights: Sequence[float] = WEIGHTS) -> float:
    """Return how likely an answer with these signs is right."""
    return 1 / (1 + math.exp(-sum(sign * weight for sign, weight in zip(signs, weights, strict=True))))


def _clipped(value: float, most: float) -> float:
    return max(-most, min(most, value))
