"""Labels of turns that somebody has read of which the reader of statements was unsure."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from training.claims.labels import Label
from training.claims.unsure import Verdict, added_label, entry_of, labels_of, read_labels, read_verdicts

TEXT = "I sold my bike, and my sister is a nurse in Porto."
BIKE = Label("owns", "current", (10, 14))
NURSE = Label("works_as", "current", (35, 40), (20, 29))
ENTRY = {"text": TEXT, "claims": [entry_of(BIKE), entry_of(NURSE)]}


def test_verdicts_are_read_with_a_status_and_with_what_was_added(tmp_path: Path) -> None:
    path = tmp_path / "0.verdicts"
    path.write_text("#3: A=ended b\n  + my sister | lives_in | Porto | current\n#4: -\n", encoding="utf-8")
    assert list(read_verdicts(path)) == [
        (3, Verdict({"A": "ended"}, ["my sister | lives_in | Porto | current"], frozenset("B"))),
        (4, Verdict()),
    ]


def test_a_claim_with_another_status_is_wrong_as_it_was_listed() -> None:
    verdict = Verdict({"A": "ended", "B": None}, [], frozenset("C"))
    assert [verdict.of(letter) for letter in "ABCD"] == ["wrong", "right", "trivial", "wrong"]


@pytest.mark.parametrize("line", ["A B", "#3: A=gone", "#3: right!"])
def test_a_line_in_another_form_is_refused(tmp_path: Path, line: str) -> None:
    path = tmp_path / "0.verdicts"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"0\.verdicts"):
        list(read_verdicts(path))


def test_what_was_found_right_changed_or_added_becomes_labels() -> None:
    verdict = Verdict({"A": "ended", "B": None}, ["my sister | lives_in | Porto | current"])
    skipped = Counter[str]()
    found = labels_of(ENTRY, verdict, skipped)
    assert found == [
        Label("owns", "ended", (10, 14)),
        NURSE,
        Label("lives_in", "current", (44, 49), (20, 29)),
    ]
    assert not skipped


def test_what_cannot_be_used_is_counted() -> None:
    verdict = Verdict({"A": None}, ["speaker | uses | bike | current", "speaker | owns | boat | current"])
    skipped = Counter[str]()
    assert labels_of(ENTRY, verdict, skipped) == [BIKE]
    assert skipped == {"about the same words": 1, "not in the turn or not in form": 1}


@pytest.mark.parametrize("line", ["speaker | owns | boat | current", "speaker | has | bike | current"])
def test_words_that_are_not_in_the_turn_are_refused(line: str) -> None:
    with pytest.raises(ValueError, match="speaker"):
        added_label(TEXT, line)


def test_every_turn_that_was_labelled_later_has_labels_in_form() -> None:
    labels = read_labels()
    assert len(labels) > 5000
    for claims in labels.values():
        assert all(0 <= label.object[0] < label.object[1] for label in claims)


def test_turns_that_are_held_out_are_not_learnt() -> None:
    learnt, held_out = read_labels(), read_labels(held_out=True)
    assert len(held_out) > 700
    assert not set(learnt) & set(held_out)
