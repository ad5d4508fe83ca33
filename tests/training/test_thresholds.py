"""Claims are judged by their labels, and the confidence is fitted to the verdicts."""

from __future__ import annotations

import numpy as np

from longmind.models.claim_decoding import SIGNS, DecodedClaim
from longmind.models.statements import RELATIONS, STATUSES, StatedClaim, Status
from training.claims.labels import Label
from training.claims.thresholds import NEVER, Judged, calibrated, fit, judge, lowest


def read(
    relation: str, status: Status, object: tuple[int, int], confidence: float = 0.9
) -> tuple[StatedClaim, DecodedClaim]:
    stated = StatedClaim(relation, status, object, confidence)
    numbers = RELATIONS.index(relation), STATUSES.index(status)
    return stated, DecodedClaim(*numbers, object, None, None, (0.0,) * len(SIGNS), confidence)


def test_a_claim_is_right_if_everything_is() -> None:
    label = Label("lives_in", "current", (10, 15))
    assert [j.right for j in judge([read("lives_in", "current", (10, 15))], [label])] == [True]
    assert [j.right for j in judge([read("lives_in", "past", (10, 15))], [label])] == [False]
    assert [j.right for j in judge([read("from", "current", (10, 15))], [label])] == [False]
    assert [j.right for j in judge([read("lives_in", "current", (0, 5))], [label])] == [False]


def test_a_label_is_met_once_and_a_false_present_is_harmful() -> None:
    label = Label("lives_in", "past", (10, 15))
    first, second = judge(
        [read("lives_in", "past", (10, 15), 0.9), read("lives_in", "current", (10, 15), 0.5)], [label]
    )
    assert (first.right, first.harmful) == (True, False)
    assert (second.right, second.harmful) == (False, True)


def test_the_fit_follows_signs_and_holds_back_a_relation_that_goes_wrong() -> None:
    chance = np.random.default_rng(3)
    judged = []
    for number in range(400):
        relation = number % 2
        sign = float(chance.normal())
        right = bool(sign > 0 and (relation == 0 or chance.random() < 0.3))
        decoded = DecodedClaim(relation, 0, (0, 1), None, None, (sign, 0.0, 0.0, 0.0, 0.0), 0.5)
        judged.append(Judged(StatedClaim(RELATIONS[relation], "current", (0, 1), 0.5), decoded, right, False))
    calibration = fit(judged, len(RELATIONS))
    good, bad = (calibration.confidence((2.0, 0, 0, 0, 0), relation, 0) for relation in (0, 1))
    assert good > 0.9
    assert bad < good - 0.05
    assert calibration.confidence((-2.0, 0, 0, 0, 0), 0, 0) < 0.3
    sure = calibrated(judged, calibration)
    threshold = lowest(sure, 0.85)
    kept = [j.right for j in sure if j.claim.confidence >= threshold]
    assert 0.3 < threshold < NEVER
    assert sum(kept) >= 0.85 * len(kept)
    assert lowest([j for j in sure if not j.right], 0.5) == NEVER
