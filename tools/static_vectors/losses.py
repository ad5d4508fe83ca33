"""How well vectors rank: alone, and together with the words as recall adds them up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmind.recall.fusion import OWN_SHARE
from longmind.recall.policy import Weights
from longmind.store.search.threads import REACH, WEIGHTS

Floats = NDArray[np.float32]
SHARPNESS = np.float32(17.0)
"""What a cosine is multiplied by before it counts as evidence."""
_NEAR, _OWN = np.float32(Weights().near_vector), np.float32(Weights().vector)
_LEAST = np.float32(1e-3)


def neighbours(threads: NDArray[np.int32]) -> Floats:
    """How much each text (across) counts among the surroundings of each (down), as in recall."""
    size = len(threads)
    matrix = np.zeros((size, size), np.float32)
    for offset, weight in zip(range(-REACH, REACH + 1), WEIGHTS, strict=True):
        at = np.arange(max(0, -offset), min(size, size - offset))
        at = at[threads[at] == threads[at + offset]]
        matrix[at, at + offset] = weight
    return matrix


class Ranking:
    """The scores of one group, by meaning alone and with the words, and the way back from their slopes."""

    def __init__(self, asked: Floats, told: Floats, around: Floats, leaning: Floats, by_words: Floats) -> None:
        self._asked, self._told, self._around, self._leaning = asked, told, around, leaning
        near = around @ told
        self._lengths = np.maximum(np.linalg.norm(near, axis=1, keepdims=True), 1e-6).astype(np.float32)
        self._near = near / self._lengths
        self.cosines = asked @ told.T
        self._near_cosines = asked @ self._near.T
        mixed = OWN_SHARE * self.cosines + (1 - OWN_SHARE) * self._near_cosines
        said = np.isfinite(by_words)
        near_share, self._near_scale = _shares(self._near_cosines, said)
        own_share, self._own_scale = _shares(mixed, said)
        self.together = by_words + leaning * _NEAR * near_share + (1 - leaning) * _OWN * own_share

    def backward(self, cosines: Floats, together: Floats) -> tuple[Floats, Floats]:
        """The slopes in the vectors of the questions and of the texts. The best score is taken as given."""
        own = together * (1 - self._leaning) * _OWN * self._own_scale
        near = together * self._leaning * _NEAR * self._near_scale + (1 - OWN_SHARE) * own
        direct = cosines + OWN_SHARE * own
        asked = direct @ self._told + near @ self._near
        by_near = near.T @ self._asked
        by_near -= self._near * np.sum(by_near * self._near, axis=1, keepdims=True)
        told = direct.T @ self._asked + self._around.T @ (by_near / self._lengths)
        return asked.astype(np.float32), told.astype(np.float32)


def _shares(values: Floats, said: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Shares of the best of each line, none below 0, and how they change with the values."""
    best = np.maximum(np.where(said, values, 0).max(axis=1, keepdims=True), _LEAST)
    return np.maximum(values, 0) / best, (values > 0) / best


def loss(scores: Floats, gold: NDArray[np.bool_]) -> tuple[float, Floats]:
    """Each answer against all that is none, in the mean over answers and questions; and the slope in the scores."""
    said = np.isfinite(scores)
    others = _log_sum(np.where(gold, -np.inf, scores))
    with np.errstate(invalid="ignore"):
        ahead = np.where(gold, np.logaddexp(scores, others) - scores, 0)
    weight = gold / (gold.sum(axis=1, keepdims=True) * len(gold))
    missed = np.where(gold, -np.expm1(-ahead), 0)  # the chance that a wrong one is taken for this answer
    slope = -weight * missed
    with np.errstate(invalid="ignore"):
        share = np.where(said & ~gold, np.exp(scores - others), 0)
    slope += share * (weight * missed).sum(axis=1, keepdims=True)
    return float((weight * ahead).sum()), slope.astype(np.float32)


def _log_sum(scores: Floats) -> Any:
    most = scores.max(axis=1, keepdims=True)
    most = np.where(np.isfinite(most), most, 0)
    with np.errstate(divide="ignore"):
        return most + np.log(np.exp(scores - most).sum(axis=1, keepdims=True))
