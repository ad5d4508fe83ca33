"""Statements that matter in every context are recognised by their language, and ordinary ones are not."""

from __future__ import annotations

import pytest

from longmind.testing import memory
from longmind.text.replies import tells_nothing
from longmind.text.standing import may_stand, same_matter, standing_marks, standing_statements
from longmind.types import Source


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("I'm allergic to peanuts.", "health"),
        ("peanuts send me to the ER", "health"),
        ("By the way, my son has asthma and carries an inhaler.", "health"),
        ("I can't eat anything with wheat, my stomach cramps for days.", "health"),
        ("I'm vegan, so no cheese.", "health"),
        ("Since the surgery I can't lift my left arm above my shoulder.", "health"),
        ("I've been sober for three years.", "health"),
        ("My name is Ottoline, but call me Otto.", "identity"),
        ("My pronouns are she/her.", "identity"),
        ("I work as a paramedic in Ghent.", "identity"),
        ("We moved to Aarhus in the spring.", "identity"),
        ("My daughter is called Ebba and she's seven.", "identity"),
        ("I'm a locksmith.", "identity"),
        ("Always answer in Danish.", "instruction"),
        ("From now on, please keep your answers under fifty words.", "instruction"),
        ("Never suggest restaurants without a wheelchair ramp... I mean it, don't ever.", "instruction"),
        ("please dont use emojis when you write to me", "instruction"),
        ("I prefer that you give prices in euros, in every list.", "instruction"),
        ("Don't tell anyone where I live, there's a restraining order.", "safety"),
        ("This is private, nobody may read it.", "safety"),
        ("My ex keeps threatening me.", "safety"),
    ],
)
def test_what_stands(text: str, type: str) -> None:
    assert type in {statement.type for statement in standing_statements(text)}, standing_statements(text)


@pytest.mark.parametrize(
    "text",
    [
        "What's the capital of Peru?",
        "how do i cook rice without a pot",
        "Thanks, that was quick!",
        "never mind",
        "Is lactose in yoghurt?",
        "What are the signs of an allergy to nuts?",
        "My colleague is diabetic.",
        "Some people are allergic to dust.",
        'Translate this: "I am allergic to nuts."',
        "Summarise this: Patients must never stop taking insulin.",
        'She said: "I have had epilepsy since I was born, you know."',
        "> I'm allergic to penicillin.",
        "In my novel the hero is allergic to shellfish.",
        "The train was late and the coffee was cold.",
        "Could you make the second paragraph shorter?",
    ],
)
def test_what_does_not_stand(text: str) -> None:
    assert standing_statements(text) == ()


def test_of_a_long_message_the_sentences_that_stand_are_told() -> None:
    text = "The weather is dreadful. " * 20 + "I'm allergic to penicillin. " + "The garden is flooded. " * 12
    assert [statement.text for statement in standing_statements(text)] == ["I'm allergic to penicillin."]


def test_of_a_pasted_text_only_the_edges_are_read() -> None:
    text = "Here it comes.\n" + "The harbour was quiet. " * 60 + "I have epilepsy. " + "The harbour was loud. " * 60
    assert standing_statements(text) == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"source": Source(role="assistant")},
        {"source": Source(role="tool")},
        {"source": Source(role="user", uri="https://example.org/page")},
        {"source": Source(role="document"), "kind": "document"},
        {"trust": 0.4},
    ],
)
def test_only_the_users_own_words_stand(fields: dict[str, object]) -> None:
    assert standing_marks(memory("I'm allergic to peanuts."))
    other = memory("I'm allergic to peanuts.", **fields)
    assert not may_stand(other)
    assert standing_marks(other) == []


@pytest.mark.parametrize(
    ("older", "newer", "same"),
    [
        ("I'm vegan.", "I'm not vegan anymore.", True),
        ("I live in Lisbon.", "We moved to Porto last month.", True),
        ("I work as a nurse.", "I work at a bakery now.", True),
        ("I'm allergic to peanuts.", "Remember, I'm allergic to peanuts!", True),
        ("I'm allergic to peanuts.", "I'm allergic to latex.", False),
        ("I live in Lisbon.", "I work as a nurse.", False),
    ],
)
def test_what_a_later_statement_replaces(older: str, newer: str, same: bool) -> None:
    (first,), (second,) = standing_statements(older), standing_statements(newer)
    assert same_matter(second, first) is same


@pytest.mark.parametrize(
    ("reply", "before", "nothing"),
    [
        ("I don't remember anything about that.", "Where did I park?", True),
        ("Sorry, you haven't told me where you parked.", "Where did I park?", True),
        ("Noted, thank you!", "I parked in the north garage.", True),
        ("You parked in the north garage.", "I parked in the north garage.", True),
        ("Level 3, next to the lift.", "Where did I park?", False),
        ("I don't know, but the receipt says level 3.", "Where did I park?", False),
    ],
)
def test_replies_that_tell_nothing(reply: str, before: str, nothing: bool) -> None:
    assert tells_nothing(reply, before) is nothing
