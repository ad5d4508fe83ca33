"""Running procedures: arguments, conditions, loops, sub-procedures, and what is recorded."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from longmind.errors import Conflict, InvalidInput, NotFound, OperationMismatch
from longmind.systems.procedural import ProceduralMemory
from longmind.systems.procedural.values import MAX_VALUE
from longmind.systems.scoped_store import ScopedStore
from longmind.testing import FakeClock
from longmind.types import Filter


def params(**types: str) -> dict[str, Any]:
    return {"type": "object", "properties": {n: {"type": t} for n, t in types.items()}, "required": list(types)}


SUM = {
    "name": "sum",
    "purpose": "Add numbers.",
    "parameters": params(a="integer", b="integer"),
    "steps": [
        {"name": "first", "use": "add", "args": {"a": "{{ params.a }}", "b": "{{ params.b }}"}},
        {"name": "second", "use": "add", "args": {"a": "{{ steps.total }}"}, "save_as": "more"},
    ],
    "returns": {"total": "{{ steps.total }}", "more": "{{ steps.more }}", "text": "{{ params.a }}+{{ params.b }}"},
}
SUM["steps"][0]["save_as"] = "total"  # type: ignore[index]


async def test_results_flow_from_step_to_step(
    procedures: ProceduralMemory, scoped: ScopedStore, clock: FakeClock
) -> None:
    clock.tick = timedelta(seconds=1)
    await procedures.store(SUM)
    run = await procedures.execute("sum", {"a": 2, "b": 3})
    assert run.status == "succeeded"
    assert run.result == {"total": 5, "more": 6, "text": "2+3"}
    assert [(s.path, s.outcome, s.result, s.attempts) for s in run.steps] == [
        ("first", "succeeded", 5, 1),
        ("second", "succeeded", 6, 1),
    ]
    assert all(step.seconds > 0 for step in run.steps)
    assert run.seconds >= sum(step.seconds for step in run.steps)
    assert run.finished_at is not None
    again = await procedures.run(run.id)
    assert again == run
    steps = (await scoped.page("step", where=Filter(sessions=(f"run:{run.id}",)))).items
    assert [memory.body["path"] for memory in steps] == ["first", "second"]


async def test_a_step_is_stored_before_the_next_one_starts(
    procedures: ProceduralMemory, scoped: ScopedStore, desk: Any
) -> None:
    seen: list[int] = []

    @desk.tools.tool
    async def look() -> int:
        seen.append(len((await scoped.page("step")).items))
        return seen[-1]

    steps = [{"name": f"s{n}", "use": "look"} for n in range(4)]
    await procedures.store({"name": "look", "purpose": "Count.", "steps": steps})
    assert (await procedures.execute("look")).status == "succeeded"
    assert seen == [0, 1, 2, 3]


async def test_a_condition_skips_a_step_and_its_result_is_null(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(
        {
            "name": "maybe",
            "purpose": "Perhaps.",
            "parameters": params(n="integer"),
            "steps": [
                {
                    "name": "big",
                    "use": "echo",
                    "args": {"value": "big"},
                    "when": {"left": "{{ params.n }}", "op": "gt", "right": 10},
                },
                {
                    "name": "small",
                    "use": "echo",
                    "args": {"value": "small"},
                    "when": {"left": "{{ steps.big }}", "op": "missing"},
                },
            ],
            "returns": ["{{ steps.big }}", "{{ steps.small }}"],
        }
    )
    assert (await procedures.execute("maybe", {"n": 3})).result == [None, "small"]
    run = await procedures.execute("maybe", {"n": 30})
    assert run.result == ["big", None]
    assert [(s.path, s.outcome) for s in run.steps] == [("big", "succeeded"), ("small", "skipped")]


async def test_a_loop_goes_over_a_list_within_its_bound(procedures: ProceduralMemory, desk: Any) -> None:
    loop = {
        "name": "each",
        "use": "keyed",
        "args": {"value": "{{ item.name }}{{ index }}"},
        "for_each": "{{ params.people }}",
        "max_items": 3,
    }
    await procedures.store(
        {"name": "greet", "purpose": "Greet all.", "parameters": params(people="array"), "steps": [loop]}
    )
    run = await procedures.execute("greet", {"people": [{"name": "ann"}, {"name": "bob"}]})
    assert run.result == ["ANN0", "BOB1"]
    assert [(s.path, s.items) for s in run.steps] == [("each[0]", None), ("each[1]", None), ("each", 2)]
    assert desk.keys == [f"{run.id}/each[0]", f"{run.id}/each[1]"]
    assert (await procedures.execute("greet", {"people": []})).result == []
    desk.calls.clear()
    many = await procedures.execute("greet", {"people": [{"name": "x"}] * 4})
    assert many.status == "failed"
    assert many.error
    assert "its bound is 3" in many.error.message
    assert desk.calls == []
    wrong = await procedures.execute("greet", {"people": [1]})
    assert wrong.error
    assert "item is a number" in wrong.error.message


async def test_a_procedure_can_call_another_for_each_item(procedures: ProceduralMemory) -> None:
    await procedures.store(SUM)
    await procedures.store(
        {
            "name": "sums",
            "purpose": "Add pairs.",
            "parameters": params(pairs="array"),
            "steps": [
                {
                    "name": "each",
                    "procedure": "sum",
                    "for_each": "{{ params.pairs }}",
                    "args": {"a": "{{ item[0] }}", "b": "{{ item[1] }}"},
                }
            ],
        }
    )
    run = await procedures.execute("sums", {"pairs": [[1, 2], [3, 4]]})
    assert [part["total"] for part in run.result] == [3, 7]
    children = (await procedures.runs("sum")).items
    assert {(r.parent.run, r.parent.path) for r in children if r.parent} == {(run.id, "each[0]"), (run.id, "each[1]")}
    bad = await procedures.execute("sums", {"pairs": [[1, "x"]]})
    assert bad.status == "failed"
    assert bad.error
    assert "parameter b must be integer" in bad.error.message


async def test_procedures_that_call_each_other_come_to_an_end(procedures: ProceduralMemory) -> None:
    await procedures.store({"name": "a", "purpose": "A.", "steps": [{"name": "go", "procedure": "b"}]})
    with pytest.raises(NotFound, match="no procedure b"):
        await procedures.execute("a")
    await procedures.store({"name": "b", "purpose": "B.", "steps": [{"name": "go", "procedure": "a"}]})
    run = await procedures.execute("a")
    assert run.status == "failed"
    assert run.error
    assert "more than 8 deep" in run.error.message


async def test_parameters_are_checked_before_anything_runs(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(SUM)
    for bad in ({}, {"a": 1}, {"a": 1, "b": "2"}, {"a": 1, "b": 2, "c": 3}):
        with pytest.raises(InvalidInput):
            await procedures.execute("sum", bad)
    with pytest.raises(NotFound):
        await procedures.execute("nothing")
    assert desk.calls == []
    assert (await procedures.runs()).items == ()


async def test_a_function_that_is_not_registered_stops_the_run_before_it_starts(
    procedures: ProceduralMemory, desk: Any
) -> None:
    steps = [{"name": "one", "use": "echo", "args": {"value": 1}}, {"name": "two", "use": "nowhere"}]
    await procedures.store({"name": "odd", "purpose": "Odd.", "steps": steps})
    with pytest.raises(NotFound, match="calls nowhere, which is not registered here"):
        await procedures.execute("odd")
    assert desk.calls == []


async def test_a_key_starts_one_run_only(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(SUM)
    one = await procedures.execute("sum", {"a": 1, "b": 2}, key="order-17")
    two = await procedures.execute("sum", {"a": 1, "b": 2}, key="order-17")
    assert one == two
    assert len(desk.calls) == 2
    with pytest.raises(OperationMismatch):
        await procedures.execute("sum", {"a": 1, "b": 3}, key="order-17")


async def test_a_result_that_is_too_large_is_a_clear_failure(procedures: ProceduralMemory) -> None:
    step = {"name": "get", "use": "huge", "args": {"size": "{{ params.size }}"}}
    await procedures.store({"name": "big", "purpose": "Big.", "parameters": params(size="integer"), "steps": [step]})
    run = await procedures.execute("big", {"size": 10_000_000})
    assert run.status == "failed"
    assert run.error
    assert (run.error.type, run.error.step) == ("InvalidInput", "get")
    assert f"more than {MAX_VALUE:,} bytes" in run.error.message
    assert (await procedures.execute("big", {"size": 200_000})).status == "succeeded"


async def test_the_results_of_a_run_are_bounded_together(procedures: ProceduralMemory) -> None:
    step = {"name": "get", "use": "huge", "args": {"size": 250_000}, "for_each": list(range(40))}
    await procedures.store({"name": "heap", "purpose": "Heap.", "steps": [step]})
    run = await procedures.execute("heap")
    assert run.status == "failed"
    assert run.error
    assert run.error.type == "TooLarge"


async def test_runs_of_one_procedure_do_not_disturb_each_other(procedures: ProceduralMemory) -> None:
    await procedures.store(SUM)
    runs = await asyncio.gather(*(procedures.execute("sum", {"a": n, "b": 0}) for n in range(12)))
    assert [run.result["total"] for run in runs] == list(range(12))
    statistics = await procedures.statistics("sum")
    assert statistics.version(1).successes == 12
    assert statistics.version(1).runs == 12


async def test_another_user_does_not_see_a_run(scoped_stores: Any, desk: Any) -> None:
    alice, bob = desk.memory(await scoped_stores.open(user="alice")), desk.memory(await scoped_stores.open(user="bob"))
    shared = desk.memory(await scoped_stores.open())
    await shared.store(SUM)
    run = await alice.execute("sum", {"a": 1, "b": 1})
    with pytest.raises(NotFound):
        await bob.run(run.id)
    assert (await bob.runs()).items == ()
    assert (await shared.runs()).items == ()
    assert len((await alice.runs()).items) == 1
    assert (await bob.statistics("sum")).version(1).successes == 1


async def test_a_run_that_has_ended_is_returned_as_it_is(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(SUM)
    run = await procedures.execute("sum", {"a": 1, "b": 1})
    assert await procedures.resume(run.id) == run
    assert await procedures.cancel(run.id) == run
    assert len(desk.calls) == 2
    with pytest.raises(Conflict, match="waits for nothing"):
        await procedures.approve(run.id)
    with pytest.raises(NotFound):
        await procedures.resume("01900000-0000-7000-8000-000000000000")
