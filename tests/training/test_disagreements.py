"""Where labels and a teacher differ is listed, and what a reading finds becomes the labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.claims.disagreements import Opinion, corrected, opinions, read_letters
from training.claims.labels import Label, Turn

TEXT = "I sing in the Rivo choir and drive a bus."
CHOIR = Label("member_of", "current", (14, 24))
HOBBY = Label("hobby", "current", (2, 6))
BUS = Label("works_as", "current", (29, 40))
TURN = Turn("w", "t", None, "user", TEXT, (CHOIR,))


def test_a_turn_that_is_read_as_it_is_labelled_is_not_listed() -> None:
    assert opinions(TURN, [(CHOIR, 0.9)]) == []


def test_what_only_the_teacher_sees_and_what_it_does_not_see_is_listed() -> None:
    assert opinions(TURN, [(CHOIR, 0.9), (BUS, 0.8)]) == [Opinion(CHOIR, 0.9, True), Opinion(BUS, 0.8, False)]
    assert opinions(TURN, []) == [Opinion(CHOIR, 0.0, True)]
    assert opinions(TURN, [(CHOIR, 0.9), (BUS, 0.3)]) == []


def test_wrong_labels_go_and_right_claims_come() -> None:
    candidates = [Opinion(CHOIR, 0.1, True), Opinion(HOBBY, 0.7, False), Opinion(BUS, 0.8, False)]
    assert corrected(candidates, [1, 2]) == (HOBBY, BUS)
    assert corrected(candidates, []) == ()


def test_of_two_claims_about_the_same_words_the_label_is_kept() -> None:
    other = Label("hobby", "current", (19, 24))
    assert corrected([Opinion(other, 0.9, False), Opinion(CHOIR, 0.2, True)], [0, 1]) == (CHOIR,)


def test_verdicts_are_numbers_with_letters(tmp_path: Path) -> None:
    path = tmp_path / "0.verdicts"
    path.write_text("#12: A c\n13: -\n#14:\n")
    assert list(read_letters(path)) == [(12, {"A", "c"}), (13, frozenset()), (14, frozenset())]
    path.write_text("#12 is right\n")
    with pytest.raises(ValueError, match="not a number and letters"):
        list(read_letters(path))
