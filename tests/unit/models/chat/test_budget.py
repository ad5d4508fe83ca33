"""A budget stops work cleanly, and work goes on the next day."""

from __future__ import annotations

import asyncio
from datetime import date, timedelta

import pytest

from longmind.errors import BudgetSpent
from longmind.models.budget import Budget, MemoryLedger
from longmind.models.chat import Answer, Usage
from longmind.testing import START, FakeClock, ScriptedModel


def costing(tokens: int) -> Answer:
    return Answer(text="ok", usage=Usage(input_tokens=tokens, requests=1))


async def test_work_stops_when_it_is_spent_and_goes_on_the_next_day() -> None:
    clock, ledger = FakeClock(), MemoryLedger()
    model = ScriptedModel(costing(400), costing(500), costing(10))
    chat = model.chat().with_budget(Budget(1000, ledger, clock))
    await chat.complete("Hello?", max_tokens=100)
    await chat.complete("Hello?", max_tokens=100)
    with pytest.raises(BudgetSpent, match="900 are used") as caught:
        await chat.complete("Hello?", max_tokens=100)
    assert caught.value.details["resumes_at"] == "2026-01-02T00:00:00+00:00"
    assert len(model.requests) == 2  # nothing was sent
    clock.advance(timedelta(hours=13))
    assert (await chat.complete("Hello?", max_tokens=100)).text == "ok"
    assert (await ledger.spent(START.date())).tokens == 900
    assert (await ledger.spent(date(2026, 1, 2))).tokens == 10


async def test_two_agents_share_the_model_and_not_the_budget() -> None:
    model = ScriptedModel(costing(90), costing(90))
    chat = model.chat()
    thrifty, rich = chat.with_budget(Budget(100)), chat.with_budget(Budget(10_000))
    await thrifty.complete("Hi", max_tokens=10)
    with pytest.raises(BudgetSpent):
        await thrifty.complete("Hi", max_tokens=10)
    await rich.complete("Hi", max_tokens=10)
    assert (thrifty.counts.calls, rich.counts.calls, chat.counts.calls) == (1, 1, 0)


async def test_calls_at_once_do_not_spend_the_same_tokens() -> None:
    async def slowly(seconds: float) -> None:
        await asyncio.sleep(0)

    model = ScriptedModel(*[costing(50)] * 5)
    budget = Budget(150)
    chat = model.chat(sleep=slowly, budget=budget)
    done = await asyncio.gather(*(chat.complete("Hi", max_tokens=50) for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(one, BudgetSpent) for one in done) == 3
    assert len(model.requests) == 2
    assert await budget.remaining() == 50


async def test_a_failed_call_gives_back_what_was_set_aside() -> None:
    budget = Budget(100)
    chat = ScriptedModel(ValueError("broken"), costing(5)).chat(budget=budget)
    with pytest.raises(ValueError, match="broken"):
        await chat.complete("Hi", max_tokens=90)
    assert await budget.remaining() == 100
    await chat.complete("Hi", max_tokens=90)
    assert await budget.remaining() == 95


async def test_without_a_limit_only_account_is_kept() -> None:
    budget = Budget()
    await ScriptedModel(costing(5)).chat(budget=budget).complete("Hi", max_tokens=10**6)
    assert await budget.remaining() is None
    assert (await budget.ledger.spent(budget.clock.now().date())).requests == 1


async def test_a_stream_counts_too() -> None:
    budget = Budget(1000)
    chat = ScriptedModel(costing(300)).chat(budget=budget)
    async for _ in chat.stream("Hi", max_tokens=10):
        assert await budget.remaining() == 985
    assert await budget.remaining() == 700


def test_usage_adds_up() -> None:
    known = Usage(input_tokens=1, output_tokens=2, cached_tokens=1, requests=1, cost=0.5)
    assert known + known == Usage(input_tokens=2, output_tokens=4, cached_tokens=2, requests=2, cost=1.0)
    assert (known + Usage()).cost == 0.5
    assert (Usage() + Usage()).cost is None
