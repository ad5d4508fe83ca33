"""Which known values a claim takes the place of, where there may be several."""

from __future__ import annotations

import pytest

from longmind.consolidate.rules.replacing import most_alike, takes_place


@pytest.mark.parametrize(
    ("stated", "known", "expected"),
    [
        ("86 kg", "94 kg", True),
        ("about 86 kilos", "94kg", True),
        ("down to 86,5 kg", "94 kg", True),
        ("86 kg", "1.82 m", False),
        ("86 kg", "94 lbs", False),
        ("86", "94", False),
        ("waist 88 cm", "chest 101 cm", False),
        ("waist 86 cm", "waist 88 cm", True),
        ("88 cm", "178 cm", False),
        ("5'10", "6 feet", True),
        ("86 kg", "heavier than before", False),
    ],
)
def test_a_measure_has_one_value_for_each_unit(stated: str, known: str, expected: bool) -> None:
    assert takes_place("ann", stated, "measures", known) is expected


@pytest.mark.parametrize(
    ("stated", "known", "expected"),
    [
        ("answer in Portuguese", "answer ann in English", True),
        ("reply in German, please", "always write in English", True),
        ("use French from now on", "speak Spanish", True),
        ("answer in French", "write ann's emails in German", False),
        ("answer in French", "answer in short sentences", False),
        ("keep answers short", "answer in English", False),
        ("use English names in the code", "answer in German", False),
    ],
)
def test_an_instruction_about_the_language_of_answers_replaces_another(stated: str, known: str, expected: bool) -> None:
    assert takes_place("ann", stated, "instruction", known) is expected


@pytest.mark.parametrize(
    ("known", "expected"), [("single", True), ("single again", True), ("divorced", True), ("engaged", False)]
)
def test_whoever_has_a_partner_is_not_alone(known: str, expected: bool) -> None:
    assert takes_place("ann", "Noemi", "relationship", known) is expected


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ("dentist appointment (10 March 2026)", True),
        ("appointment with the dentist (10 March 2026)", True),
        ("appointment (10 March 2026)", True),
        ("dentist appointment (20 March 2026)", False),
        ("vet appointment (10 March 2026)", False),
    ],
)
def test_a_plan_takes_the_place_of_the_same_one_with_another_date(known: str, expected: bool) -> None:
    assert takes_place("ann", "dentist appointment (20 March 2026)", "plans", known) is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The dentist called, my appointment is moved.", True),
        ("The vet called, my appointment is moved.", False),
        ("My appointment is moved.", False),
    ],
)
def test_an_appointment_is_the_one_that_its_sentence_names(sentence: str, expected: bool) -> None:
    stated, known = "appointment (20 March 2026)", "dentist (10 March 2026)"
    assert takes_place("ann", stated, "plans", known, sentence) is expected


@pytest.mark.parametrize(
    ("stated", "known", "expected"),
    [
        ("always recipes for 4 people", "calculate for 2 people", True),
        ("give weights in 100 grams", "answer in 100 words", False),
        ("at most 3 sentences", "at most 3 sentences", False),
        ("always for 4 people", "keep it short", False),
        ("for 4 people in 30 minutes", "for 2 people in 30 minutes", False),
    ],
)
def test_an_instruction_with_one_amount_replaces_one_of_the_same_unit(stated: str, known: str, expected: bool) -> None:
    assert takes_place("ann", stated, "instruction", known) is expected


def test_a_plan_without_a_date_takes_no_place() -> None:
    assert not takes_place("ann", "dentist appointment", "plans", "dentist appointment (10 March 2026)")


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (["meeting (3 May)", "meeting with Bo (5 May)"], [True, False]),
        (["meeting with Ana (3 May)", "meeting with Bo (5 May)"], [False, False]),
        (["meeting with Ana (3 May)"], [True]),
        ([], []),
    ],
)
def test_of_several_plans_the_one_that_is_named_is_meant(known: list[str], expected: list[bool]) -> None:
    assert most_alike("meeting (9 May)", known) == expected
