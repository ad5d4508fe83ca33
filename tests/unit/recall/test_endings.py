"""What tells that a fact has ended comes before what states it, in a question for what holds now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from longmind import Longmind
from longmind.memory import AgentMemory
from longmind.systems.semantic import Evidence, Fact
from longmind.testing import FakeClock

SAID = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
STATED = "I live in Lund and I play the cello in a quartet."
ENDED = "Handed back the keys of the flat on Sunday, first night in Kalmar was cold."


@pytest.fixture
async def mem() -> AsyncIterator[AgentMemory]:
    async with Longmind.open("memory:", embedder="none", clock=FakeClock(SAID + 200 * DAY)) as longmind:
        yield longmind.agent("a", user="ann")


async def learn(mem: AgentMemory, message: str, predicate: str, object: str) -> Fact:
    memory = await mem.get(message)
    start = memory.content.index(object)
    evidence = Evidence(memory=message, span=(start, start + len(object)))
    learned = await mem.semantic.learn("ann", predicate, object, valid_from=memory.occurred_at, evidence=evidence)
    return learned.fact


async def a_move(mem: AgentMemory) -> tuple[str, str]:
    """Remember a home and what ends it, and return the ids of both messages."""
    stated = await mem.remember(STATED, session="one", occurred_at=SAID)
    ended = await mem.remember(ENDED, session="two", occurred_at=SAID + 90 * DAY)
    home = await learn(mem, stated.id, "lives in", "Lund")
    await learn(mem, stated.id, "plays", "cello")
    await mem.semantic.end(home, SAID + 90 * DAY, because_of=ended.id)
    return stated.id, ended.id


async def test_what_ended_a_fact_comes_before_what_states_it(mem: AgentMemory) -> None:
    stated, ended = await a_move(mem)
    first, second = (await mem.recall("Where do I live?"))[:2]
    assert (first.memory.id, second.memory.id) == (ended, stated)
    assert first.score >= second.score
    assert "tells that this has ended: ann lives in Lund" in first.why
    assert "has ended: see what was said on 30 May 2026" in second.why
    assert "known from it, until 2026-05-30: ann lives in Lund" in second.why


async def test_a_question_for_something_else_that_was_said_there_is_not_changed(mem: AgentMemory) -> None:
    stated, _ = await a_move(mem)
    (first, *_) = await mem.recall("Do I play the cello?")
    assert first.memory.id == stated
    assert "has ended: see" not in first.why


async def test_a_question_for_the_past_is_not_changed(mem: AgentMemory) -> None:
    stated, _ = await a_move(mem)
    (first, *_) = await mem.recall("Where did I live before?")
    assert first.memory.id == stated


async def test_what_ended_without_a_message_that_says_so_only_tells_until_when_it_held(mem: AgentMemory) -> None:
    stated = await mem.remember(STATED, session="one", occurred_at=SAID)
    await mem.semantic.end(await learn(mem, stated.id, "lives in", "Lund"), SAID + 90 * DAY)
    (first, *_) = await mem.recall("Where do I live?")
    assert first.memory.id == stated.id
    assert "until 2026-05-30: ann lives in Lund" in first.why


async def test_a_context_says_until_when_a_fact_held(mem: AgentMemory) -> None:
    await a_move(mem)
    context = str(await mem.context("Where do I live?"))
    assert 'until 2026-05-30] "ann lives in Lund"' in context
