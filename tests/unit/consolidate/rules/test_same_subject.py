"""Under which other name the subject of a claim may be known."""

from __future__ import annotations

import pytest

from longmind.consolidate.rules.same_subject import other_name


@pytest.mark.parametrize(
    ("subject", "text", "expected"),
    [
        ("company", "We have grown, the company has 22 employees.", "ann's company"),
        ("translation team", "The translation team belongs to Legal.", "ann's translation team"),
        ("jars", "Now the jars are made by Halmstrom.", "ann's jars"),
        ("company", "Company has 22 people now.", "ann's company"),
        ("company", "Good news, and company has 22 people now.", "ann's company"),
        ("ann's company", "Our company has 14 employees.", "company"),
        ("jars", "Jars are made of glass.", None),
        ("ann's cats", "My cats are fat.", None),  # "cats" may be all cats
        ("company", "A company has to pay tax.", None),
        ("company", "My friend says that their company is big.", None),
        ("company", "Tim's company has 300 people, the company is rich.", None),
        ("car", "His car is red.", None),
        ("Tim's car", "Tim's car is red.", None),
        ("Arup", "Arup is in the news.", None),
        ("Kremlin", "The Kremlin is red.", None),
    ],
)
def test_what_the_speaker_knows_may_be_theirs(subject: str, text: str, expected: str | None) -> None:
    assert other_name(subject, text, "ann") == expected


def test_in_a_document_nothing_is_the_speakers() -> None:
    assert other_name("company", "The company has 22 employees.", None) is None
