"""What a procedure can use up is bounded: bytes of arguments, steps of a tree of runs, depth of values."""

from __future__ import annotations

from typing import Any

import pytest

from longmind.errors import InvalidInput
from longmind.systems.procedural import ProceduralMemory
from longmind.systems.procedural.templates import render_template
from longmind.systems.procedural.values import MAX_DEPTH, MAX_VALUE, check_bounds, to_plain_json


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def doubled(times: int) -> list[Any]:
    """A list that holds the same list over and over: little in memory, 2 to the power of ``times`` as JSON."""
    value: list[Any] = ["x"]
    for _ in range(times):
        value = [value, value]
    return value


@pytest.mark.parametrize("template", ["{{ params.text }}" * 60_000, ["{{ params.text }}"] * 60_000])
def test_bytes_are_counted_while_a_template_is_rendered(template: Any) -> None:
    with pytest.raises(InvalidInput, match=f"more than {MAX_VALUE:,} bytes"):
        render_template(template, {"params": {"text": "x" * 250_000}})  # 15 GB, if it were made


def test_values_that_share_their_parts_are_counted_as_the_json_they_come_to() -> None:
    with pytest.raises(InvalidInput, match="bytes of JSON"):
        render_template({"a": "{{ params.value }}"}, {"params": {"value": doubled(25)}})
    with pytest.raises(InvalidInput, match="bytes of JSON"):
        to_plain_json(doubled(25), "The result")


def test_what_fits_is_rendered_as_before() -> None:
    context = {"params": {"text": "x" * 1_000, "value": {"a": [1, 2.5, None, True]}}}
    assert render_template("{{ params.text }}-{{ params.text }}", context) == "x" * 1_000 + "-" + "x" * 1_000
    assert render_template(["{{ params.value }}", "n"], context) == [{"a": [1, 2.5, None, True]}, "n"]


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 100_000])
def test_depth_is_checked_before_anything_recurses(depth: int) -> None:
    with pytest.raises(InvalidInput, match=f"deeper than {MAX_DEPTH} levels"):
        to_plain_json(nested(depth), "The result")


def test_a_size_is_never_overstated() -> None:
    assert check_bounds({"a": [1, "b"]}, "It", 18) <= len('{"a":[1,"b"]}')


@pytest.mark.parametrize(
    "part", [{"returns": nested(50_000)}, {"steps": [{"name": "a", "use": "echo", "args": {"value": nested(50_000)}}]}]
)
async def test_a_definition_that_is_too_deep_is_refused(procedures: ProceduralMemory, part: dict[str, Any]) -> None:
    definition = {"name": "deep", "purpose": "Be deep.", "steps": [{"name": "a", "use": "echo"}], **part}
    with pytest.raises(InvalidInput, match="deeper than"):
        await procedures.store(definition)


async def test_parameters_that_are_too_deep_are_refused(procedures: ProceduralMemory) -> None:
    await procedures.store(
        {
            "name": "one",
            "purpose": "Take one.",
            "parameters": {"type": "object", "properties": {"value": {}}},
            "steps": [{"name": "a", "use": "echo", "args": {"value": "{{ params.value }}"}}],
        }
    )
    with pytest.raises(InvalidInput, match="deeper than"):
        await procedures.execute("one", {"value": nested(50_000)})


LOOPS = {
    "name": "loops",
    "purpose": "Call itself, three times over.",
    "steps": [
        {"name": "say", "use": "echo", "args": {"value": "again"}},
        {"name": "again", "procedure": "loops", "for_each": [1, 2, 3], "on_error": "skip", "retry": {"attempts": 2}},
    ],
}


async def test_a_tree_of_runs_has_a_budget_of_steps(
    procedures: ProceduralMemory, desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longmind.systems.procedural.runner.MAX_TREE_STEPS", 40)
    await procedures.store(LOOPS)
    run = await procedures.execute("loops", {})
    assert run.status == "failed"
    assert run.error is not None
    assert run.error.type == "TooManySteps"
    assert len(desk.calls) <= 40
    assert run.steps_done <= 2 * 40  # what failed for lack of steps is recorded, too


async def test_steps_of_child_runs_count(procedures: ProceduralMemory) -> None:
    await procedures.store(
        {"name": "child", "purpose": "Two.", "steps": [{"name": n, "use": "add", "args": {"a": 1}} for n in "ab"]}
    )
    await procedures.store(
        {"name": "parent", "purpose": "Three.", "steps": [{"name": n, "procedure": "child"} for n in "xyz"]}
    )
    run = await procedures.execute("parent", {})
    assert (run.status, run.child_steps, run.steps_done) == ("succeeded", 6, 9)
    assert (await procedures.run(run.id)).child_steps == 6
