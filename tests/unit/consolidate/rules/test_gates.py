"""Cheap checks that stand before the expressions let everything pass that an expression can find."""

from __future__ import annotations

import re

import pytest

from longmind.consolidate.rules import changes
from longmind.consolidate.rules.world_statements import _FORMS, _NEEDED, world_statements
from longmind.text.sentences import sentences

ENDINGS = (
    "I no longer play tennis",
    "I'm no longer vegan",
    "I don't drink coffee any more",
    "We don't drink coffee anymore",
    "I'm not a member any longer",
    "I stopped smoking",
    "We've given up dancing",
    "I quit running",
    "I left Initech",
    "I resigned from Initech",
    "I've been laid off from Initech",
    "I was fired by Initech",
    "I got let go from Initech",
    "I retired from Initech",
    "I lost my job",
    "I moved out of Porto",
    "We moved away from Porto",
    "I sold my car",
    "I gave away my guitar",
    "I got rid of the sofa",
    "I scrapped my bike",
    "I cancelled my subscription",
    "I canceled my subscription",
    "I traded in my car",
    "I returned the lamp",
    "I gave up chess",
    "I dropped out",
    "I got divorced",
    "We broke up",
    "I have split up with Tom",
    "We're separated",
    "We are not together any more",
)
STATEMENTS = {
    "head of government": "The head of the Spanish government is Pedro Vega",
    "clause": "The city where Ana was born is Porto",
    "maker": "The company that made Zebra Phone is Initech",
    "role": "The capital of Ghana is Accra",
    "own": "Ghana's capital is Accra",
    "turned": "Accra is Ghana's capital",
    "typed": "Kano is located in the country of Nigeria",
    "passive": "Dune was written by Frank Herbert",
    "citizen": "Ana Lima is a citizen of Portugal",
    "state": "Ana Lima is married to Tom Lima",
}


@pytest.mark.parametrize("text", ENDINGS)
def test_what_ends_something_is_looked_at(text: str) -> None:
    assert changes.affirm(text) or list(changes.endings(text)), "the sentence is an example of an ending"
    assert changes.may_end(re.findall(r"[a-z]+", text.lower()))


def test_most_sentences_are_not_looked_at() -> None:
    assert not changes.may_end(["i", "love", "my", "garden"])


@pytest.mark.parametrize("name", [name for name, _ in _FORMS])
def test_a_form_needs_only_what_its_sentences_have(name: str) -> None:
    text = STATEMENTS[name]
    assert dict(_FORMS)[name].match(text)
    assert all(piece in text for piece in _NEEDED[name])
    (sentence,) = sentences(f"{text}.")
    assert list(world_statements(sentence))
