"""Standing instructions beside the hits of a recall."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from longmind import Longmind
from longmind.agent_memory import AgentMemory

ALWAYS = "Always give distances in kilometres when I ask about trips."
WHY = "a standing instruction of the user, beside the hits"


@pytest.fixture
async def longmind() -> AsyncIterator[Longmind]:
    async with Longmind.open("memory:") as longmind:
        yield longmind


@pytest.fixture
async def mem(longmind: Longmind) -> AgentMemory:
    mem = longmind.agent("assistant", user="ann")
    await mem.remember(ALWAYS, session="first")
    await mem.remember([f"We had soup number {n} for lunch in Bern." for n in range(12)], session="second")
    return mem


async def test_an_instruction_follows_the_hits_and_says_so(mem: AgentMemory) -> None:
    hits = await mem.recall("Which soup did we have in Bern?")
    assert len(hits) == 11
    assert (hits[-1].memory.content, hits[-1].score, hits[-1].why) == (ALWAYS, 0.0, WHY)


async def test_whoever_asks_for_k_hits_gets_no_more(mem: AgentMemory) -> None:
    hits = await mem.recall("Which soup did we have in Bern?", k=10)
    assert len(hits) == 10
    assert ALWAYS not in [hit.memory.content for hit in hits]


async def test_a_restricted_question_gets_no_instruction(mem: AgentMemory) -> None:
    assert ALWAYS not in [hit.memory.content for hit in await mem.recall("soup in Bern", session="second")]
    assert ALWAYS not in [hit.memory.content for hit in await mem.recall("soup in Bern", min_score=0.01)]


async def test_an_instruction_among_the_hits_is_there_once(mem: AgentMemory) -> None:
    hits = await mem.recall("Should distances of trips be in kilometres?")
    assert [hit.memory.content for hit in hits].count(ALWAYS) == 1
    assert hits[0].memory.content == ALWAYS
    assert hits[0].score > 0


async def test_there_are_at_most_three_and_those_that_fit_best(mem: AgentMemory) -> None:
    others = ["Always answer in French.", "Never use emojis in your replies.", "Always mention the price of hotels."]
    await mem.remember(others, session="third")
    hits = await mem.recall("Which soup did we have for lunch in Bern, and the price?")
    beside = [hit.memory.content for hit in hits if hit.why == WHY]
    assert (len(hits), len(beside)) == (13, 3)
    assert beside[0] == others[2]


async def test_another_user_has_other_instructions(mem: AgentMemory, longmind: Longmind) -> None:
    bob = longmind.agent("assistant", user="bob")
    await bob.remember("We had soup in Bern.")
    assert [hit.memory.content for hit in await bob.recall("soup in Bern")] == ["We had soup in Bern."]


async def test_an_instruction_that_was_replaced_or_archived_is_left_out(mem: AgentMemory) -> None:
    newer = "Always give distances in miles when I ask about trips."
    await mem.remember(newer, session="fourth")
    beside = [hit.memory.content for hit in await mem.recall("Which soup did we have in Bern?") if hit.why == WHY]
    assert beside == [newer]
