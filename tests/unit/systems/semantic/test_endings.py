"""A fact that ended is linked to the memory that said so; erasing that memory takes the ending back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from longmind import AgentMemory, Longmind

BEGIN, END = datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
async def longmind() -> AsyncIterator[Longmind]:
    async with Longmind.open("memory:") as opened:
        yield opened


async def _ended(mem: AgentMemory) -> tuple[str, str]:
    """Learn from two messages that Ann lives in Porto and no longer does; return the ids of the fact and the ending."""
    await mem.remember({"role": "user", "content": "I live in Porto.", "name": "Ann"}, occurred_at=BEGIN)
    await mem.consolidate()
    ending = await mem.remember(
        {"role": "user", "content": "I no longer live in Porto.", "name": "Ann"}, occurred_at=END
    )
    await mem.consolidate()
    (fact,) = (await mem.semantic.facts(predicate="lives in", current=False)).items
    assert fact.valid_to == END
    return fact.id, ending.id


async def test_an_ended_fact_is_linked_to_what_ended_it(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    fact, ending = await _ended(mem)
    links = await longmind.store.links(mem.scope, [fact], relation="ended_by")
    assert [link.target for link in links] == [ending]


@pytest.mark.parametrize("forgotten_first", [False, True])
async def test_when_the_ending_is_erased_the_fact_holds_again(longmind: Longmind, forgotten_first: bool) -> None:
    mem = longmind.agent("a", user="ann")
    fact, ending = await _ended(mem)
    if forgotten_first:
        await mem.forget(ending)
        assert not (await mem.semantic.facts(predicate="lives in")).items
    await mem.forget(ending, erase=True)
    (held,) = (await mem.semantic.facts(predicate="lives in")).items
    assert (held.id, held.valid_to) == (fact, None)


async def test_erasing_the_user_who_said_so_takes_it_back(longmind: Longmind) -> None:
    shared, mem = longmind.agent("a"), longmind.agent("a", user="ann")
    fact = (await shared.semantic.learn("Ann", "lives in", "Porto", valid_from=BEGIN)).fact
    ending = await mem.remember("Ann no longer lives in Porto.")
    await longmind.agent("a", all_users=True).semantic.end(fact, END, because_of=ending.id)
    await longmind.erase_user("ann")
    (held,) = (await shared.semantic.facts(predicate="lives in")).items
    assert (held.id, held.valid_to) == (fact.id, None)


async def test_undo_of_the_run_removes_the_ending_and_its_link(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    fact, _ = await _ended(mem)
    operation = (await mem.history(fact))[-1].operation
    await mem.undo(operation)
    (held,) = (await mem.semantic.facts(predicate="lives in")).items
    assert (held.id, held.valid_to) == (fact, None)
    assert not await longmind.store.links(mem.scope, [fact], relation="ended_by")


async def test_a_fact_that_was_ended_otherwise_since_stays_ended(longmind: Longmind) -> None:
    mem = longmind.agent("a", user="ann")
    fact, ending = await _ended(mem)
    earlier = datetime(2022, 1, 1, tzinfo=UTC)
    await mem.semantic.end(fact, earlier)
    await mem.forget(ending, erase=True)
    (known,) = (await mem.semantic.facts(predicate="lives in", current=False)).items
    assert known.valid_to == earlier
