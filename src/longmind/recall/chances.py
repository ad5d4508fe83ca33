"""The score of a hit: the chance that it is right.

Recall orders hits by their fit, which compares them with each other. How likely a hit is right also depends on how well
the best one fits at all, on its place, and on what the small reranker read. From these signs a logistic function makes
a chance. Its weights (``chance_weights``) are fitted by ``python -m training.calibrate``, once for questions whose
first candidates the small reranker has read and once for those that it has not.

The order of hits is that of their fit, so a hit never gets a higher chance than the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from longmind.recall import chance_weights

if TYPE_CHECKING:
    from longmind.recall.ranking import Candidate

Floats = NDArray[np.float64]

SIGNS = ("confidence", "share", "rank", "first", "confidence of the first", "memories")
"""What the chance of a hit is made from, in the order of the weights.

How much of the question the best row has, in words or in meaning; the hit's fit as a share of the best; the logarithm
of its rank; whether it is the first, and the confidence once more for that one; the logarithm of how many memories
were searched: among many, more fit by chance.
"""
READ_SIGNS = (*SIGNS, "read for it", "read", "best read")
"""The same for a question whose first candidates the small reranker has read: its number, whether it has read this
hit, and its best number."""
BOUND = 8.0
"""A number of the reranker, a logarithm of odds, counts up to this."""


def signs_of(candidates: Sequence[Candidate], confidence: float, memories: int) -> Floats:
    """Return the signs of candidates, the best first: a row for each, in the order of ``SIGNS`` or ``READ_SIGNS``.

    ``confidence`` says how well the best row fits, and ``memories`` how many were searched.
    """
    count, fits = len(candidates), np.array([candidate.score for candidate in candidates])
    numbers = [candidate.read for candidate in candidates]
    signs = np.zeros((count, len(SIGNS) if all(number is None for number in numbers) else len(READ_SIGNS)))
    signs[:, 0] = confidence
    signs[:, 1] = fits / max(float(fits[0]), 1e-9)
    signs[:, 2] = np.log1p(np.arange(count))
    signs[0, 3:5] = 1.0, confidence
    signs[:, 5] = np.log1p(memories)
    if signs.shape[1] > len(SIGNS):
        read = np.array([number is not None for number in numbers])
        signs[:, 6] = np.clip([number or 0.0 for number in numbers], -BOUND, BOUND)
        signs[:, 7] = read
        signs[:, 8] = signs[read, 6].max()
    return signs


def chances_of(signs: Floats, certain: Sequence[float | None]) -> Floats:
    """Return the chance of each hit, which never rises from one to the next; ``certain`` holds those that are known."""
    weights = np.array(chance_weights.READ if signs.shape[1] == len(READ_SIGNS) else chance_weights.UNREAD)
    estimated = 1 / (1 + np.exp(-(signs @ weights[1:] + weights[0])))
    known = np.array([np.nan if chance is None else chance for chance in certain])
    chances: Floats = np.minimum.accumulate(np.where(np.isnan(known), estimated, known))
    return chances
