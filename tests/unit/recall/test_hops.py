"""Questions whose answer is told of something that only another statement names."""

from __future__ import annotations

from typing import Any

import pytest

from longmind.recall.hops import bridges, is_relational
from longmind.testing import memory

STATEMENTS = (
    "The author of The Glass Orchard is Mira Halvorsen.",
    "Mira Halvorsen is married to Tomas Brandt.",
    "Tomas Brandt spent his childhood in Bergen.",
    "Bergen is located in the continent of Europe.",
    "The author of The Paper Boat is Ines Duarte.",
    "Ines Duarte was born in the city of Porto.",
    "The capital of Norway is Oslo.",
)
QUESTION = "Where did the spouse of the author of The Glass Orchard grow up?"


async def test_the_answer_is_reached_over_what_other_statements_name(world: Any) -> None:
    for text in STATEMENTS:
        await world.add(text)
    hits = await world.recaller.recall(world.scope, QUESTION, k=4)
    reached = {hit.memory.content: hit.why for hit in hits}
    assert "which another hit names" in reached["Tomas Brandt spent his childhood in Bergen."]
    assert "tells of 'tomas brandt'" in reached["Tomas Brandt spent his childhood in Bergen."]


async def test_what_a_later_statement_replaced_leads_nowhere(world: Any) -> None:
    for text in (*STATEMENTS, "The author of The Glass Orchard is Ines Duarte.", "Ines Duarte is married to Leo Park."):
        await world.add(text)
        world.clock.advance(60)
    await world.add("Leo Park spent his childhood in Leeds.")
    contents = await world.ask(QUESTION, k=10)
    assert contents.index("Leo Park spent his childhood in Leeds.") < contents.index(STATEMENTS[2])


async def test_turns_of_a_conversation_are_not_followed(world: Any) -> None:
    for text in STATEMENTS:
        await world.add(text, session="s")
    hits = await world.recaller.recall(world.scope, QUESTION, k=10)
    assert not any("which another hit names" in hit.why for hit in hits)


@pytest.mark.parametrize(
    ("question", "relational"),
    [
        (QUESTION, True),
        ("Which country does the head of Acme come from?", True),
        ("Who is the mother of Ann's teacher?", True),
        ("Where does the woman who founded Acme live?", True),
        ("What is the capital of Norway?", False),
        ("Where was Mira Halvorsen born?", False),
        ("Which sport does Leo play?", False),
    ],
)
def test_a_relational_question_describes_what_it_asks_about(question: str, relational: bool) -> None:
    assert is_relational(question) is relational


def test_a_statement_leads_over_what_it_begins_and_ends_with() -> None:
    statement = memory("Mira Halvorsen is married to Tomas Brandt.")
    assert [bridge.text for bridge in bridges(statement, ())] == ["mira halvorsen", "tomas brandt"]
    assert [bridge.text for bridge in bridges(statement, {"mira", "halvorsen"})] == ["tomas brandt"]
