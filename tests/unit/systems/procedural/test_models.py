"""Definitions: what a procedure may say, checked when it is made and not when it runs."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from longmind.errors import InvalidInput
from longmind.systems.procedural import Procedure, Retry
from longmind.systems.procedural.models import dump_procedure
from longmind.systems.scoped_store import validated

GOOD: dict[str, Any] = {
    "name": "trip",
    "purpose": "Plan a trip.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "n": {"type": "integer", "default": 1}},
    },
    "steps": [
        {"name": "find", "use": "search", "args": {"q": "{{ params.city }}"}},
        {"name": "book", "use": "book", "args": {"id": "{{ steps.find[0] }}"}},
    ],
}


def changed(**fields: Any) -> dict[str, Any]:
    return {**GOOD, **fields}


def step(**fields: Any) -> dict[str, Any]:
    return changed(steps=[{"name": "find", "use": "search", **fields}])


def test_a_definition_comes_back_as_it_was_stored() -> None:
    made = validated(Procedure, GOOD)
    assert validated(Procedure, dump_procedure(made)) == made
    assert made.step("book").alias == "book"
    assert "Plan a trip." in made.text()


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (changed(steps=[]), "steps"),
        (changed(name="two words"), "name"),
        (changed(name="a@1"), "name"),
        (changed(purpose=""), "purpose"),
        (step(procedure="other"), "not both"),
        (step(use=None), "either a function"),
        (step(when="params.n > 1"), "when"),
        (step(retry={"attempts": 0}), "attempts"),
        (step(timeout=0), "timeout"),
        (step(on_error="explode"), "on_error"),
        (step(code="print(1)"), "code"),
    ],
)
def test_a_definition_of_another_shape_is_refused(bad: dict[str, Any], told: str) -> None:
    with pytest.raises((InvalidInput, ValidationError), match=told):
        validated(Procedure, bad)


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (step(args={"q": "{{ params.town }}"}), "params.town, which is not there"),
        (step(args={"q": "{{ steps.book }}"}), "steps.book, which is not there"),
        (step(args={"q": "{{ steps.find }}"}), "steps.find, which is not there"),
        (step(args={"q": "{{ item }}"}), "no item there"),
        (step(args={"q": "{{ result }}"}), "no result there"),
        (step(for_each="{{ item }}"), "no item there"),
        (step(args={"q": "{{ params.city"}), "no end"),
        (step(when={"left": "{{ params.nope }}", "op": "eq", "right": 1}), "params.nope"),
        (step(compensate={"use": "undo", "args": {"x": "{{ item }}"}}), "no item there"),
        (changed(returns="{{ steps.nothing }}"), "steps.nothing"),
        (changed(steps=[GOOD["steps"][0], GOOD["steps"][0]]), "Two steps have the name find"),
        (changed(steps=[GOOD["steps"][0], {**GOOD["steps"][1], "save_as": "find"}]), "result name find"),
        (changed(choices={"town": ["a", "b"]}), "not a parameter"),
        (changed(choices={"n": [1]}), "from 2 to 20"),
        (changed(choices={"n": [1, "x"]}), "must be integer"),
        (changed(choices={"n": [[1], [2]]}), "plain values"),
        (changed(examples=[{"params": {"n": "x"}}]), "must be integer"),
        (changed(examples=[{"params": {}, "given": {"nope": 1}}]), "is no step"),
        (changed(parameters={"type": "object", "properties": {"a": {"format": "x"}}}), "not checked here"),
    ],
)
def test_what_could_not_work_is_refused_before_it_is_stored(bad: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        validated(Procedure, bad)


def test_a_compensation_may_look_at_the_result_and_the_item() -> None:
    args = {"x": "{{ result.id }} {{ item }} {{ index }} {{ steps.find }} {{ run.id }}"}
    made = validated(Procedure, step(for_each=[1], compensate={"use": "undo", "args": args}))
    assert made.steps[0].compensate is not None
    assert made.steps[0].compensate.args == args


def test_waits_grow_to_their_bound() -> None:
    retry = Retry(attempts=5, delay=1, factor=2, max_delay=3)
    assert [retry.wait(n) for n in (1, 2, 3, 4)] == [1, 2, 3, 3]
