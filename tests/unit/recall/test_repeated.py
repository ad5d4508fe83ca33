"""What is said again in the same words does not take the places of other answers."""

from __future__ import annotations

from typing import Any

from longmind import Longmind
from longmind.types import Source

ROUTINE = [
    ("How is the traffic to the harbour today?", "The traffic to the harbour is heavy until ten."),
    ("Ok.", "Ok."),
]


async def test_a_sentence_that_was_said_daily_leaves_the_places_to_others() -> None:
    async with Longmind.open("memory:") as longmind:
        mem = longmind.agent("assistant", user="ann")
        told = {"role": "user", "content": "My ferry pass is in the blue tin on the shelf."}
        await mem.remember([told, {"role": "assistant", "content": "Noted."}], session="first")
        for day in range(20):
            messages = [
                {"role": role, "content": text}
                for pair in ROUTINE
                for role, text in zip(("user", "assistant"), pair, strict=True)
            ]
            await mem.remember(messages, session=f"day {day}")
        hits = await mem.recall("What do I need for the ferry in the harbour?", k=3)
    texts = [hit.memory.content for hit in hits]
    assert len(set(texts)) == 3
    assert told["content"] in texts
    [daily] = [hit for hit in hits if hit.memory.content == ROUTINE[0][0]]
    assert "times in these words" in daily.why


async def test_repetitions_fill_the_places_that_nothing_else_takes(world: Any) -> None:
    for _ in range(4):
        await world.add("The lighthouse is open.")
    hits = await world.recaller.recall(world.scope, "Is the lighthouse open?", k=10)
    assert [hit.memory.content for hit in hits] == ["The lighthouse is open."] * 4
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert "says the same as another hit" in hits[-1].why


async def test_every_occasion_answers_a_question_for_how_often_or_when(world: Any) -> None:
    for _ in range(5):
        await world.add("Swam in the lake.")
    for number in range(10):
        await world.add(f"The lake has {number} boats.")
    for question in ("How often did I swim in the lake?", "When did I swim in the lake?"):
        assert (await world.ask(question, k=5)).count("Swam in the lake.") == 5, question
    assert (await world.ask("Who swam in the lake?", k=5)).count("Swam in the lake.") == 1


async def test_the_same_words_of_two_speakers_are_two_statements(world: Any) -> None:
    for name in ("Ann", "Bob"):
        await world.add("I am allergic to walnuts.", source=Source(role="user", name=name))
    hits = await world.recaller.recall(world.scope, "Who is allergic to walnuts?", k=5)
    assert not any("says the same" in hit.why for hit in hits)


async def test_a_fact_is_folded_into_the_turn_that_stands_for_its_own(world: Any) -> None:
    said = [await world.add("I keep bees in Tarifa.") for _ in range(3)]
    for turn in said:
        evidence = {"evidence": [{"memory": turn.id, "span": (0, 5)}]}
        await world.add("ann keeps bees in Tarifa", kind="fact", body=evidence)
    assert (await world.ask("Where are the bees kept?", k=2))[0] == "I keep bees in Tarifa."
    assert "ann keeps bees in Tarifa" not in await world.ask("Where are the bees kept?", k=10)


async def test_a_short_reply_of_an_assistant_ranks_below_what_the_user_said(world: Any) -> None:
    said = await world.add("Our garden hose is ten metres long.", source=Source(role="user"), session="two")
    replied = await world.add("The garden hose is ten metres long.", source=Source(role="assistant"), session="one")
    assert await world.ask("How long is the garden hose?") == [said.content, replied.content]
