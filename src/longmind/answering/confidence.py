"""How likely an answer is right: a logistic function of what is known about how it was found.

The weights are fitted by ``python -m training.answer_confidence`` on the LoCoMo conversations that are used for tuning;
nothing is reported on those. A right answer counts by its F1, and a question without an answer as wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from longmind.text.questions import QuestionForm


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
    covered: float
    """The share of the question's words that the memory and the turns beside it have."""
    time: float
    several: float
    number: float
    yes_or_no: float


WEIGHTS = Signs(-2.656, 0.138, 0.679, -0.107, 0.828, 0.0, 0.0, -0.827, 1.481, 0.333, -0.453, 1.564)
LEAST_CONTRAST, MOST_CONTRAST = -10.0, 8.0


def signs_of(
    form: QuestionForm,
    *,
    read: float,
    about: float | None,
    others: float,
    contrast: float | None,
    covered: float,
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
        covered=covered,
        time=float(form.kind == "time"),
        several=float(form.kind == "list"),
        number=float(form.kind in ("count", "duration")),
        yes_or_no=float(form.kind == "yes or no"),
    )


def confidence_of(signs: Sequence[float], weights: Sequence[float] = WEIGHTS) -> float:
    """Return how likely an answer with these signs is right."""
    return 1 / (1 + math.exp(-sum(sign * weight for sign, weight in zip(signs, weights, strict=True))))


def _clipped(value: float, most: float) -> float:
    return max(-most, min(most, value))
