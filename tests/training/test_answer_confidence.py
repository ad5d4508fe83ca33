"""The weights of the confidence of answers follow the signs, and none speaks against what it is a sign of."""

from __future__ import annotations

import numpy as np

from longmind.answering.confidence import Signs
from training.answer_confidence import fit


def test_a_sign_that_comes_out_the_wrong_way_round_is_left_out() -> None:
    chance = np.random.default_rng(3)
    read, recalled = chance.normal(size=400), chance.choice([-1.0, 1.0], 400)
    signs = np.stack([np.ones(400), read, recalled, *np.zeros((3, 400))], 1)
    right = (read - 0.5 * recalled > 0).astype(float)
    weights = Signs(*fit(signs, right))
    assert weights.read > 0.5
    assert weights.recalled == 0
    assert Signs(*fit(signs, (read + 0.5 * recalled > 0).astype(float))).recalled > 0.1
