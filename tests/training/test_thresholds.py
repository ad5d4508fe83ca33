"""Claims are judged by their labels, and the confidence is fitted to the verdicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from longmind.models.claim_decoding import SIGNS, DecodedClaim
from longmind.models.statements import RELATIONS, STATUSES, StatedClaim, Status
from training.claims.labels import DATA, DEVELOPMENT, TEST, Label, Turn, read_turns
from training.claims.thresholds import (
    NEVER,
    STEPS,
    Judged,
    Limits,
    after_rules,
    calibrated,
    fit,
    judge,
    learnable,
    least_harm,
    lowest,
    read_verdicts,
    with_verdicts,
)


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
        claim = StatedClaim(RELATIONS[relation], "current", (0, 1), 0.5)
        judged.append(Judged(claim, decoded, right, not right, read_right=right))
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
    careful = least_harm(sure, 400, 0.05)
    assert sum(j.harmful and j.claim.confidence >= careful for j in sure) <= 20
    assert least_harm(sure, 400, 1.0) == STEPS[0]


def test_what_reading_found_counts_beside_the_labels() -> None:
    turn = Turn("w99", "a hat", None, "user", "I got a hat with a net.", (Label("owns", "current", (8, 22)),))
    (each,) = judge([read("owns", "current", (8, 11), 0.9)], turn.claims)
    assert (each.right, each.harmful) == (False, True)
    key = ("w99", 4, "owns", "current", "speaker", 8)
    (right,) = with_verdicts([each], turn, "w99", 4, {key: "right"})
    assert (right.right, right.read_right, right.harmful, right.met) == (False, True, False, ())
    (wrong,) = with_verdicts([each], turn, "w99", 4, {key: "wrong"})
    assert (wrong.read_right, wrong.harmful) == (False, True)
    (trivial,) = with_verdicts([each], turn, "w99", 4, {key: "trivial"})
    assert (trivial.read_right, trivial.harmful) == (False, False)


def test_every_verdict_is_about_words_of_a_turn_that_is_measured_on() -> None:
    verdicts = read_verdicts()
    assert {writer for writer, *_ in verdicts} == {*DEVELOPMENT, *TEST}
    assert set(verdicts.values()) == {"right", "trivial", "wrong"}
    turns = {writer: list(read_turns(DATA / f"{writer}.jsonl")) for writer in (*DEVELOPMENT, *TEST)}
    for writer, number, _, status, subject, start in verdicts:
        text = turns[writer][number].text
        assert status in STATUSES
        assert start < len(text)
        assert subject == "speaker" or subject in text


TURN = Turn(
    "w00", "", None, "ann", "She lives in Porto. Tom says I left Arup. My uncle Bo is 60.",
    (
        Label("lives_in", "current", (13, 18), subject=(0, 3)),
        Label("works_at", "ended", (36, 40)),
        Label("age", "current", (55, 57), subject=(42, 53), time=(13, 18)),
    ),
)  # fmt: skip


def test_labels_count_for_memory_only_if_rules_would_let_it_learn_them() -> None:
    assert learnable(replace(TURN, text=TURN.text.replace("She", "Ada"))) == [0, 2]
    assert learnable(replace(TURN, claims=TURN.claims[:2])) == [], "nobody says who she is, and Tom says the rest"


def test_what_rules_drop_does_no_harm() -> None:
    claims = [read("lives_in", "current", (13, 18)), read("works_at", "current", (36, 40))]
    home, job = after_rules(judge(claims, ()), TURN)
    assert (home.learnt, home.harmful) == (True, True)
    assert (job.learnt, job.harmful) == (False, False), "Tom says so"


def test_what_somebody_has_may_be_less_sure_and_what_is_one_at_a_time_too() -> None:
    limits = Limits(keep=0.9, possessed=0.8, beside=0.4, change=0.7)
    kept = {
        (relation, status): limits.keeps(read(relation, status, (0, 3), 0.85)[0])
        for relation in ("owns", "likes", "lives_in")
        for status in ("current", "past")
    }
    assert [relation for relation in ("owns", "likes", "lives_in") if kept[relation, "current"]] == ["owns", "lives_in"]
    assert all(kept[relation, "past"] for relation in ("owns", "likes", "lives_in"))
