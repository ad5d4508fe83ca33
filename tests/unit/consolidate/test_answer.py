"""Questions answered by chains of facts."""

from typing import Any

import pytest

from longmind import Longmind
from longmind.consolidate.answer import answer
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Hit

FACTS = [
    "The author of Our Mutual Friend is Charles Dickens.",
    "Charles Dickens is married to Catherine Hogarth.",
    "Catherine Hogarth is a citizen of Belgium.",
    "The capital of Belgium is Brussels.",
    "Belgium is located in the continent of Europe.",
    "Vito Corleone was created by Mario Puzo.",
    "Mario Puzo died in the city of New York City.",
    "The capital of Belgium is Antwerp.",
]


async def no_search(query: str, **how: Any) -> list[Hit]:
    raise AssertionError("the graph is not searched")


@pytest.fixture
async def known(rc: Longmind) -> ScopedStore:
    mem = rc.agent("a")
    for fact in FACTS:
        await mem.remember(fact)
    await mem.consolidate()
    return ScopedStore(rc.store, mem.scope, rc.clock, rc.embedding.embed, no_search)


async def test_chains_of_one_to_four_facts(known: ScopedStore) -> None:
    asked = {
        "Who is the author of Our Mutual Friend?": "Charles Dickens",
        "Who is Charles Dickens married to?": "Catherine Hogarth",
        "What is the capital of Belgium?": "Antwerp",  # said later, so it took the place of Brussels
        "What is the country of citizenship of the spouse of Charles Dickens?": "Belgium",
        "What is the country of citizenship of the spouse of the author of Our Mutual Friend?": "Belgium",
        "Which city is the capital of the country of citizenship of the spouse of Charles Dickens?": "Antwerp",
        'What is the capital of the country whose citizen the wife of the author of "Our Mutual Friend" is?': "Antwerp",
        "Who was Vito Corleone created by?": "Mario Puzo",
        "In which city did the creator of Vito Corleone pass away?": "New York City",
    }  # fmt: skip
    for question, wanted in asked.items():
        told = await answer(known, question)
        assert told is not None, question
        assert told.text == wanted, question


async def test_an_answer_has_its_reason(known: ScopedStore) -> None:
    told = await answer(known, "What is the country of citizenship of the spouse of Charles Dickens?")
    assert told is not None
    assert [f"{fact.subject} {fact.predicate}" for fact in told.facts] == [
        "Charles Dickens married to",
        "Catherine Hogarth citizen of",
    ]
    assert "Belgium" in str(told)


async def test_what_is_not_known_is_not_answered(known: ScopedStore) -> None:
    assert await answer(known, "What is the capital of Atlantis?") is None
    assert await answer(known, "") is None
