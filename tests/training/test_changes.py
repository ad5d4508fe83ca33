"""Turns about known facts: the form of a line, what labelled turns say of facts, and thresholds."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from longmind.models.changes import SPEAKER
from training.changes import derived, thresholds, turns
from training.claims.labels import Label, Turn

LINE = {
    "known": ["I", "lives_in", "Lund"],
    "previous": None,
    "text": "Handed back the keys of the Lund flat. Kalmar was cold.",
    "gone": True,
    "new": "Kalmar",
    "kind": "hinted",
}


def write(path: Path, **changed: object) -> Path:
    path.write_text(json.dumps(LINE | changed) + "\n")
    return path


def test_a_line_is_read_with_the_place_of_the_new_value(tmp_path: Path) -> None:
    (turn,) = turns.read_turns(write(tmp_path / "r99.jsonl"))
    assert turn.writer == "r99"
    assert turn.new is not None
    assert turn.text[slice(*turn.new)] == "Kalmar"
    fact = turns.as_fact(turn)
    assert (fact.subject, fact.predicate, fact.object) == (SPEAKER, "lives in", "Lund")
    assert fact.text[fact.place :].startswith("Lund")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"known": ["I", "dwells", "Lund"]}, "no relation"),
        ({"kind": "still"}, "no kind"),
        ({"gone": False, "kind": "still"}, "no new value"),
        ({"new": "Malmo"}, "no new value"),
        ({"known": ["I", "lives_in"]}, "line 1"),
    ],
)
def test_a_wrong_line_says_what_is_wrong(tmp_path: Path, changed: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        list(turns.read_turns(write(tmp_path / "r99.jsonl", **changed)))


@pytest.mark.parametrize("path", sorted(turns.DATA.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_line_that_is_there_can_be_read_and_stands_there_once(path: Path) -> None:
    read = list(turns.read_turns(path))
    assert len({(turn.text, turn.subject, turn.object) for turn in read}) == len(read)
    assert 0.3 < sum(turn.gone for turn in read) / len(read) < 0.45


def turn_of(text: str, *claims: Label) -> Turn:
    return Turn("w01", "home", None, "", text, claims)


def test_an_ended_claim_ends_the_fact_and_a_current_one_takes_the_place_of_another() -> None:
    ended = turn_of(
        "I left Lund for Kalmar", Label("lives_in", "ended", (7, 11)), Label("lives_in", "current", (16, 22))
    )
    others = [turn_of("I live in Graz", Label("lives_in", "current", (10, 14)))] * 20
    made = derived.derive([ended, *others], random.Random(2))
    told = [turn for turn in made if turn.kind == "told"]
    assert {(turn.object, turn.new, turn.gone) for turn in told} == {("Lund", (16, 22), True)}
    unnamed = [turn for turn in made if turn.kind == "unnamed" and turn.text == others[0].text]
    assert unnamed
    assert all(turn.gone and turn.object != "Graz" and turn.new == (10, 14) for turn in unnamed)


def test_what_is_imagined_ends_nothing() -> None:
    made = derived.derive([turn_of("If I left Lund", Label("lives_in", "hypothetical", (10, 14)))], random.Random(2))
    assert [(turn.object, turn.gone) for turn in made if turn.relation == "lives_in"] == [("Lund", False)]


def test_the_threshold_lets_through_no_more_than_a_share_of_what_holds() -> None:
    chance = np.random.default_rng(1)
    chances, gone = chance.random(1_000), chance.random(1_000) < 0.4
    least = thresholds.threshold(chances, gone, 0.02)
    holding = chances[~gone]
    assert (holding >= least).mean() <= 0.02
    assert (holding >= least - 0.01).mean() > (holding >= least).mean() - 1e-9
    assert thresholds.threshold(chances, gone, 1.0) == 0.0


def test_the_calibration_finds_the_logistic_curve_of_the_numbers() -> None:
    chance = np.random.default_rng(3)
    numbers = chance.normal(size=20_000) * 3
    gone = chance.random(20_000) < 1 / (1 + np.exp(-(0.7 * numbers - 0.4)))
    slope, bias = thresholds.calibrate(numbers, gone.astype(float))
    assert slope == pytest.approx(0.7, abs=0.03)
    assert bias == pytest.approx(-0.4, abs=0.06)
