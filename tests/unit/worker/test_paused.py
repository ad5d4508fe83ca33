"""A budget that is spent, or a model that does not answer, is no failure: the rest is put off, visibly, and goes on."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from longmind import Longmind, Settings
from longmind.cli.jobs import result
from longmind.errors import ModelUnavailable
from longmind.models.scripted import ScriptedModel
from longmind.testing import FakeClock
from longmind.types import Scope
from longmind.worker import ConsolidationService, JobOutcome, Worker, WorkerOptions
from longmind.worker.agent_run import consolidate_until_unchanged

FAST = WorkerOptions(poll_seconds=0.05, lease_seconds=1, wait_seconds=0.01, grace_seconds=30, after=None)
SCOPE = Scope(agent="a", all_users=True)


def with_model(longmind: Longmind, *script: Any) -> ScriptedModel:
    """Give a store a model that says this."""
    made = ScriptedModel(*script)
    longmind.__dict__["chat"] = made.chat()
    return made


async def test_a_job_whose_budget_is_spent_is_done_and_says_until_when(tmp_path: Path) -> None:
    clock = FakeClock(tick=timedelta(milliseconds=1))
    async with Longmind.open(str(tmp_path / "memory.db"), clock=clock, settings=Settings.load({})) as longmind:
        made = with_model(longmind, {"facts": []})
        mem = longmind.agent("a", user="alice")
        await mem.configure(model_tokens_per_day=10_000, consolidate_calls_per_day=0)
        await mem.remember("I live in Lisbon.")
        async with Worker(longmind, FAST) as worker:
            await worker.finished()
            (job,) = await worker.jobs.list()
            assert (job.state, job.failure, worker.failed) == ("done", None, 0)
            assert job.outcome is not None
            assert job.outcome.until is not None
            assert "calls" in job.outcome.why
            assert job.outcome.until > clock.now()
            assert "paused until 2026-01-02 00:00" in result(job.outcome)
            assert (await worker.sweep()).queued == 0
            await mem.configure(consolidate_calls_per_day=5)
            await worker.sweep()
            await worker.finished()
            assert len(made.requests) == 1
            newest = (await worker.jobs.list())[0]
            assert newest.outcome is not None
            assert newest.outcome.until is None
            assert result(newest.outcome).endswith("changes")


async def test_an_agent_whose_wait_is_over_has_its_job(tmp_path: Path) -> None:
    clock = FakeClock(tick=timedelta(milliseconds=1))
    async with Longmind.open(str(tmp_path / "memory.db"), clock=clock, settings=Settings.load({})) as longmind:
        made = with_model(longmind, ModelUnavailable("It is asleep."), {"facts": []})
        await longmind.agent("a").remember("I live in Lisbon.")
        async with Worker(longmind, FAST) as worker:
            await worker.finished()
            assert (await worker.sweep()).queued == 0
            clock.advance(timedelta(hours=1))
            assert (await worker.sweep()).queued == 1
            await worker.finished()
            assert len(made.requests) == 2
            assert (await worker.sweep()).queued == 0


async def test_a_day_whose_seconds_are_used_goes_on_the_next(longmind: Longmind, face_clock: FakeClock) -> None:
    mem = longmind.agent("a")
    await mem.configure(consolidate_seconds_per_day=1e-6)
    await mem.remember("I live in Lisbon.")
    await consolidate_until_unchanged(longmind, SCOPE)
    await mem.remember("I live in Porto.")
    outcome = await consolidate_until_unchanged(longmind, SCOPE)
    assert "seconds for today" in outcome.why
    assert outcome.until is not None
    assert outcome.until.date() == (face_clock.now() + timedelta(days=1)).date()


async def test_a_paused_agent_has_no_time_to_go_on(longmind: Longmind) -> None:
    mem = longmind.agent("a")
    await mem.configure(consolidate_paused=True)
    await mem.remember("I live in Lisbon.")
    outcome = await consolidate_until_unchanged(longmind, SCOPE)
    assert (outcome.paused, outcome.until) == (True, None)
    assert result(outcome) == "paused"


async def test_the_service_goes_on_when_the_wait_is_over(longmind: Longmind, face_clock: FakeClock) -> None:
    made = with_model(longmind, ModelUnavailable("It is asleep."), {"facts": []})
    await longmind.agent("a").remember("I live in Lisbon.")
    service = ConsolidationService(longmind)
    first = await service.run_now()
    assert (first.consolidated, first.put_off, first.failures) == (1, 1, ())
    assert (await service.run_now()).unchanged == 1
    face_clock.advance(timedelta(hours=1))
    assert (await service.run_now()).put_off == 0
    assert len(made.requests) == 2


def test_what_came_of_a_job_in_a_few_words() -> None:
    assert result(JobOutcome(head=1, changes=1)) == "1 change"
