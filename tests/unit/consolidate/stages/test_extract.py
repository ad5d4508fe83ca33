"""What consolidation learns does no harm: unsure statements replace nothing, and an ending closes what it ends."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from longmind.agent_memory import AgentMemory
from longmind.memory import Longmind

JANUARY, JUNE = datetime(2026, 1, 10, tzinfo=UTC), datetime(2026, 6, 10, tzinfo=UTC)


@pytest.fixture
async def mem() -> AsyncIterator[AgentMemory]:
    async with Longmind.open(":memory:") as longmind:
        yield longmind.agent("assistant", user="ann")


async def learn(mem: AgentMemory, *texts: str) -> None:
    """Remember the first text in January and the others in June, consolidating after each."""
    for number, text in enumerate(texts):
        await mem.remember(text, occurred_at=JUNE if number else JANUARY)
        await mem.consolidate()


async def known(mem: AgentMemory, predicate: str) -> list[str]:
    return sorted(str(fact.object) for fact in await mem.semantic.know("ann", predicate))


@pytest.mark.parametrize(
    "text",
    [
        "We moved to Slack last year.",
        "I moved to Germany for two weeks.",
        "In 2015 I moved to Brno.",
        "We moved to Plan B.",
        "I moved to Marketing.",
    ],
)
async def test_a_move_that_is_no_new_home_changes_nothing(mem: AgentMemory, text: str) -> None:
    await learn(mem, "I live in Lisbon.", text)
    assert await known(mem, "lives in") == ["Lisbon"]


async def test_a_new_home_replaces_the_old_one(mem: AgentMemory) -> None:
    await learn(mem, "I live in Lisbon.", "I moved to Porto last month.")
    assert await known(mem, "lives in") == ["Porto"]


async def test_an_ending_closes_the_fact_and_adds_none(mem: AgentMemory) -> None:
    await learn(mem, "I live in Porto. I work at Siemens. My dog Bella is five.", "I no longer live in Porto.")
    assert await known(mem, "lives in") == []
    (home,) = await mem.semantic.history("ann", "lives in")
    assert home.valid_to == JUNE
    assert await known(mem, "works at") == ["Siemens"]
    await mem.remember("I don't work at Siemens any more. We lost our dog Bella.", occurred_at=JUNE)
    await mem.consolidate()
    assert await known(mem, "works at") == []
    assert await known(mem, "has dog") == []
    assert await mem.semantic.know("ann", "works at", as_of=JANUARY) != []


async def test_an_ending_of_something_else_or_of_nothing_known_changes_nothing(mem: AgentMemory) -> None:
    await learn(mem, "I live in Lisbon.", "I no longer live in Porto. We sold the car. We got divorced.")
    assert await known(mem, "lives in") == ["Lisbon"]


async def test_a_list_is_kept_whole(mem: AgentMemory) -> None:
    await learn(mem, "I like tea, coffee and juice. I have two sons, Tim and Tom.")
    assert await known(mem, "likes") == ["coffee", "juice", "tea"]
    assert await known(mem, "has") == ["two sons, Tim and Tom"]
