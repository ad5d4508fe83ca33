"""What happens when a step fails: retries, time limits, going on, stopping, and taking back."""

from __future__ import annotations

from typing import Any

import pytest

from longmind.systems.procedural import ProceduralMemory


def one(**step: Any) -> dict[str, Any]:
    return {
        "name": "p",
        "purpose": "P.",
        "steps": [{"name": "try", "use": "echo", "args": {"value": 1}, **step}],
    }


async def test_an_exception_is_an_outcome_with_type_and_message(procedures: ProceduralMemory, desk: Any) -> None:
    desk.fail["echo"] = 1
    await procedures.store(one())
    run = await procedures.execute("p")
    assert run.status == "failed"
    assert run.error
    assert (run.error.type, run.error.message, run.error.step) == ("RuntimeError", "echo is broken", "try")
    assert run.steps[0].error
    assert run.counted is False


async def test_a_step_is_tried_again_after_growing_waits_with_the_same_key(
    procedures: ProceduralMemory, desk: Any
) -> None:
    desk.fail["keyed"] = 3
    retry = {"attempts": 5, "delay": 1, "factor": 3, "max_delay": 5}
    await procedures.store(one(use="keyed", args={"value": "a"}, retry=retry))
    run = await procedures.execute("p")
    assert run.result == "A"
    assert run.steps[0].attempts == 4
    assert desk.slept == [1, 3, 5]
    assert desk.keys == [f"{run.id}/try"]
    desk.fail["keyed"] = 9
    failed = await procedures.execute("p")
    assert failed.status == "failed"
    assert failed.steps[0].attempts == 5


async def test_what_cannot_get_better_is_not_tried_again(procedures: ProceduralMemory, desk: Any) -> None:
    await procedures.store(one(use="add", args={"a": "x"}, retry={"attempts": 5}))
    run = await procedures.execute("p")
    assert run.status == "failed"
    assert run.steps[0].attempts == 1
    assert desk.slept == []


@pytest.mark.parametrize("sync", [False, True])
async def test_a_step_that_takes_too_long_fails(procedures: ProceduralMemory, desk: Any, sync: bool) -> None:
    import threading

    release = threading.Event()

    @desk.tools.tool
    def block() -> None:
        release.wait(10)

    await procedures.store(one(use="block" if sync else "hold", args={}, timeout=0.05))
    run = await procedures.execute("p")
    release.set()
    assert run.status == "failed"
    assert run.error
    assert run.error.type == "Timeout"
    assert "0.05 seconds" in run.error.message


async def test_a_time_limit_of_the_function_itself_is_told_as_its_own(procedures: ProceduralMemory, desk: Any) -> None:
    @desk.tools.tool
    async def slow() -> None:
        raise TimeoutError("the server did not answer")

    await procedures.store(one(use="slow", args={}))
    run = await procedures.execute("p")
    assert run.error
    assert (run.error.type, run.error.message) == ("TimeoutError", "the server did not answer")


async def test_a_step_that_may_fail_is_passed_over(procedures: ProceduralMemory, desk: Any) -> None:
    desk.fail["first"] = 1
    steps = [
        {"name": "a", "use": "echo", "args": {"value": "first"}, "on_error": "skip"},
        {"name": "b", "use": "echo", "args": {"value": ["{{ steps.a }}"]}},
    ]
    await procedures.store({"name": "p", "purpose": "P.", "steps": steps})
    run = await procedures.execute("p")
    assert run.status == "succeeded"
    assert run.result == [None]
    assert [s.outcome for s in run.steps] == ["failed", "succeeded"]


async def test_a_loop_passes_over_the_items_that_fail(procedures: ProceduralMemory, desk: Any) -> None:
    desk.fail["2"] = 1
    loop = {"name": "each", "use": "echo", "args": {"value": "{{ item }}"}, "for_each": [1, 2, 3]}
    await procedures.store({"name": "p", "purpose": "P.", "steps": [{**loop, "on_error": "skip"}]})
    assert (await procedures.execute("p")).result == [1, None, 3]
    desk.fail["2"] = 1
    await procedures.store({"name": "q", "purpose": "Q.", "steps": [loop]})
    run = await procedures.execute("q")
    assert run.status == "failed"
    assert [(s.path, s.outcome) for s in run.steps] == [
        ("each[0]", "succeeded"),
        ("each[1]", "failed"),
        ("each", "failed"),
    ]


def saga(**last: Any) -> dict[str, Any]:
    return {
        "name": "saga",
        "purpose": "Book all or nothing.",
        "steps": [
            {
                "name": "hotel",
                "use": "echo",
                "args": {"value": {"id": "h1"}},
                "compensate": {"use": "undo", "args": {"value": "{{ result.id }}"}},
            },
            {"name": "note", "use": "echo", "args": {"value": "no way back"}},
            {
                "name": "cars",
                "use": "echo",
                "args": {"value": "{{ item }}"},
                "for_each": ["c1", "c2"],
                "compensate": {"use": "undo", "args": {"value": "{{ item }} of {{ steps.hotel.id }}"}},
            },
            {"name": "flight", "use": "keyed", "args": {"value": "f"}, "on_error": "compensate", **last},
        ],
    }


async def test_what_was_done_is_taken_back_the_last_first(procedures: ProceduralMemory, desk: Any) -> None:
    desk.fail["keyed"] = 1
    await procedures.store(saga())
    run = await procedures.execute("saga")
    assert run.status == "failed"
    assert run.error
    assert run.error.step == "flight"
    assert [value for name, value in desk.calls if name == "undo"] == ["c2 of h1", "c1 of h1", "h1"]
    assert [s.path for s in run.steps if s.undo] == ["cars[1]!undo", "cars[0]!undo", "hotel!undo"]


async def test_a_compensation_that_fails_does_not_stop_the_others(procedures: ProceduralMemory, desk: Any) -> None:
    desk.fail["keyed"], desk.fail["c1 of h1"] = 1, 1
    await procedures.store(saga())
    run = await procedures.execute("saga")
    assert run.status == "failed"
    assert [value for name, value in desk.calls if name == "undo"] == ["c2 of h1", "c1 of h1", "h1"]
    assert run.error
    assert run.error.message == "keyed is broken Not taken back: cars."


async def test_a_reference_that_leads_nowhere_fails_the_step_and_not_the_program(
    procedures: ProceduralMemory,
) -> None:
    steps = [
        {"name": "a", "use": "echo", "args": {"value": {"x": 1}}},
        {"name": "b", "use": "echo", "args": {"value": "{{ steps.a.y }}"}, "on_error": "skip"},
        {
            "name": "c",
            "use": "echo",
            "args": {"value": 1},
            "when": {"left": "{{ steps.a.x }}", "op": "lt", "right": "2"},
        },
    ]
    await procedures.store({"name": "p", "purpose": "P.", "steps": steps})
    run = await procedures.execute("p")
    assert run.status == "failed"
    assert run.error
    assert run.error.step == "c"
    assert run.steps[1].error
    assert "has no 'y'" in run.steps[1].error.message
