"""Approvals, cancelling, resuming and taking over."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import Conflict, NotFound
from longmind.systems.procedural import ProceduralMemory, ToolRegistry
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock

PAY = {
    "name": "pay",
    "purpose": "Pay a bill.",
    "parameters": {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]},
    "steps": [
        {"name": "look", "use": "add", "args": {"a": "{{ params.sum }}"}},
        {"name": "send", "use": "echo", "args": {"value": "{{ steps.look }}"}, "needs_approval": True},
        {"name": "after", "use": "echo", "args": {"value": "done"}},
    ],
}
HOLD = {
    "name": "hold",
    "purpose": "Hold.",
    "steps": [
        {
            "name": "first",
            "use": "echo",
            "args": {"value": "f"},
            "compensate": {"use": "undo", "args": {"value": "{{ result }}"}},
        },
        {"name": "wait", "use": "hold"},
        {"name": "last", "use": "echo", "args": {"value": "l"}},
    ],
}


async def test_a_step_that_needs_approval_waits_and_shows_what_it_would_do(
    procedures: ProceduralMemory, desk: Any, clock: FakeClock
) -> None:
    await procedures.store(PAY)
    run = await procedures.execute("pay", {"sum": 41})
    assert run.status == "waiting"
    assert run.waiting
    assert (run.waiting.path, run.waiting.use, run.waiting.args) == ("send", "echo", {"value": 42})
    assert desk.names() == ["add"]
    assert (await procedures.resume(run.id)).status == "waiting"
    clock.advance(timedelta(days=3))
    done = await procedures.approve(run.id, by="ann", why="checked")
    assert done.status == "succeeded"
    assert desk.names() == ["add", "echo", "echo"]
    assert done.seconds < 60
    assert [r.id for r in (await procedures.runs(status="waiting")).items] == []


async def test_a_refusal_is_a_failure_of_the_step_that_learning_does_not_count(
    procedures: ProceduralMemory, desk: Any
) -> None:
    await procedures.store(PAY)
    run = await procedures.execute("pay", {"sum": 1})
    refused = await procedures.approve(run.id, approved=False, by="ann")
    assert refused.status == "failed"
    assert refused.error
    assert (refused.error.type, refused.error.step) == ("NotApproved", "send")
    assert desk.names() == ["add"]
    assert (await procedures.statistics("pay")).version(1).failures == 0


async def test_a_loop_is_approved_as_a_whole(procedures: ProceduralMemory, desk: Any) -> None:
    loop = {"name": "each", "use": "echo", "args": {"value": "{{ item }}"}, "for_each": [1, 2, 3, 4, 5]}
    await procedures.store({"name": "all", "purpose": "All.", "steps": [{**loop, "needs_approval": True}]})
    run = await procedures.execute("all")
    assert run.waiting
    assert run.waiting.items == 5
    assert run.waiting.args == [{"value": 1}, {"value": 2}, {"value": 3}]
    assert (await procedures.approve(run.id)).result == [1, 2, 3, 4, 5]


async def test_an_approval_reaches_the_procedure_that_waits_inside(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(PAY)
    outer = {"name": "outer", "purpose": "Outer.", "steps": [{"name": "in", "procedure": "pay", "args": {"sum": 1}}]}
    await procedures.store(outer)
    run = await procedures.execute("outer")
    assert run.status == "waiting"
    assert run.waiting
    assert (run.waiting.path, run.waiting.use) == ("in", "echo")
    assert run.waiting.run is not None
    done = await procedures.approve(run.id)
    assert (done.status, done.result) == ("succeeded", "done")
    assert desk.names() == ["add", "echo", "echo"]
    assert (await procedures.run(run.waiting.run)).status == "succeeded"


async def test_a_run_at_work_is_cancelled_in_the_middle_of_a_step(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(HOLD)
    working = asyncio.create_task(procedures.execute("hold"))
    await desk.entered.wait()
    (open_run,) = (await procedures.runs(unfinished=True)).items
    asked = await procedures.cancel(open_run.id)
    assert asked.cancel_requested
    run = await working
    assert run.status == "cancelled"
    assert desk.names() == ["echo", "hold"]
    assert (await procedures.statistics("hold")).version(1).cancelled == 1
    assert (await procedures.statistics("hold")).version(1).failures == 0


async def test_cancelling_can_take_back_what_was_done(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(HOLD)
    working = asyncio.create_task(procedures.execute("hold"))
    await desk.entered.wait()
    (open_run,) = (await procedures.runs(unfinished=True)).items
    await procedures.cancel(open_run.id, compensate=True)
    run = await working
    assert run.status == "cancelled"
    assert desk.calls[-1] == ("undo", "f")


async def test_a_run_that_waits_is_cancelled_at_once(procedures: ProceduralMemory) -> None:
    await procedures.store(PAY)
    run = await procedures.execute("pay", {"sum": 1})
    assert (await procedures.cancel(run.id)).status == "cancelled"
    with pytest.raises(Conflict):
        await procedures.approve(run.id)


async def test_a_task_that_is_cancelled_leaves_a_run_that_can_be_resumed(
    procedures: ProceduralMemory, desk: Any
) -> None:
    await procedures.store(HOLD)
    working = asyncio.create_task(procedures.execute("hold"))
    await desk.entered.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    (run,) = (await procedures.runs(status="interrupted")).items
    desk.gate.set()
    done = await procedures.resume(run.id)
    assert done.status == "succeeded"
    assert desk.names() == ["echo", "hold", "hold", "echo"]


async def test_cancelling_a_run_cancels_what_it_started(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(HOLD)
    await procedures.store({"name": "outer", "purpose": "Outer.", "steps": [{"name": "in", "procedure": "hold"}]})
    working = asyncio.create_task(procedures.execute("outer"))
    await desk.entered.wait()
    (outer,) = (await procedures.runs("outer")).items
    await procedures.cancel(outer.id)
    assert (await working).status == "cancelled"
    (inner,) = (await procedures.runs("hold")).items
    assert inner.status == "cancelled"
    assert (await procedures.runs(unfinished=True)).items == ()


async def test_a_procedure_that_takes_too_long_inside_another_is_cancelled(
    procedures: ProceduralMemory, desk: Any
) -> None:
    await procedures.store(HOLD)
    step = {"name": "in", "procedure": "hold", "timeout": 0.3, "on_error": "skip"}
    await procedures.store({"name": "outer", "purpose": "Outer.", "steps": [step]})
    run = await procedures.execute("outer")
    assert run.status == "succeeded"
    assert run.steps[0].error
    assert run.steps[0].error.type == "Timeout"
    (inner,) = (await procedures.runs("hold")).items
    assert inner.status == "cancelled"


async def test_a_run_at_work_cannot_be_resumed_unless_it_is_taken_over(
    procedures: ProceduralMemory, desk: Any, clock: FakeClock
) -> None:
    await procedures.store(HOLD)
    working = asyncio.create_task(procedures.execute("hold"))
    await desk.entered.wait()
    (run,) = (await procedures.runs(unfinished=True)).items
    with pytest.raises(Conflict, match="may still be at work"):
        await procedures.resume(run.id)
    desk.entered.clear()
    taking = asyncio.create_task(procedures.resume(run.id, take_over=True))
    await desk.entered.wait()
    desk.gate.set()
    results = await asyncio.gather(working, taking, return_exceptions=True)
    lost = [r for r in results if isinstance(r, Conflict)]
    assert len(lost) == 1
    assert (await procedures.run(run.id)).status == "succeeded"
    assert desk.names().count("echo") == 2, "the finished steps ran once each"


async def test_a_lease_that_has_run_out_needs_no_taking_over(
    procedures: ProceduralMemory, desk: Any, clock: FakeClock
) -> None:
    await procedures.store(HOLD)
    working = asyncio.create_task(procedures.execute("hold"))
    await desk.entered.wait()
    (run,) = (await procedures.runs(unfinished=True)).items
    clock.advance(timedelta(hours=1))
    desk.gate.set()
    results = await asyncio.gather(working, procedures.resume(run.id), return_exceptions=True)
    assert any(not isinstance(r, BaseException) and r.status == "succeeded" for r in results)
    assert desk.names().count("echo") == 2


async def test_only_one_of_several_that_resume_goes_on(scoped_stores: Any, desk: Any) -> None:
    memory = desk.memory(await scoped_stores.open())
    await memory.store(HOLD)
    working = asyncio.create_task(memory.execute("hold"))
    await desk.entered.wait()
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    (run,) = (await memory.runs(status="interrupted")).items
    desk.gate.set()
    desk.calls.clear()
    scoped = await scoped_stores.open()
    others = [desk.memory(scoped) for _ in range(6)]
    results = await asyncio.gather(*(m.resume(run.id) for m in others), return_exceptions=True)
    assert all(isinstance(r, Conflict) or r.status == "succeeded" for r in results)
    assert desk.names() == ["hold", "echo"]


async def test_cancelling_needs_no_functions(procedures: ProceduralMemory, scoped: ScopedStore) -> None:
    await procedures.store(PAY)
    run = await procedures.execute("pay", {"sum": 1})
    bare = ProceduralMemory(scoped, ToolRegistry())
    with pytest.raises(NotFound, match="not registered here"):
        await bare.resume(run.id)
    assert (await procedures.run(run.id)).status == "waiting"
    assert (await bare.cancel(run.id)).status == "cancelled"
