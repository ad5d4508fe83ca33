"""The weights of the confidence of answers follow the signs, and none speaks against what it is a sign of."""

from __future__ import annotations

import numpy as np

from longmind.answering.confidence import Signs
from training.answer_confidence import fit


def test_a_sign_that_comes_out_the_wrong_way_round_is_left_out() -> None:
    chance = np.random.default_rng(3)
    read, about = chance.normal(size=400), chance.choice([-1.0, 1.0], 400)
    signs = np.stack([np.ones(400), read, about, *np.zeros((4, 400))], 1)
    right = (read - 0.5 * about > 0).astype(float)
    weights = Signs(*fit(signs, right))
    assert weights.read > 0.5
    assert weights.about == 0
    assert Signs(*fit(signs, (read + 0.5 * about > 0).astype(float))).about > 0.1
