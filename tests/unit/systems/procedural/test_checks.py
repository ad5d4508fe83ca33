"""Examples as tests of a procedure."""

from __future__ import annotations

from typing import Any

from longmind.systems.procedural import ProceduralMemory
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Filter

TRIP: dict[str, Any] = {
    "name": "trip",
    "purpose": "Plan a trip.",
    "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "steps": [
        {"name": "more", "use": "add", "args": {"a": "{{ params.n }}"}},
        {"name": "book", "use": "echo", "args": {"value": "{{ steps.more }}"}, "needs_approval": True},
        {"name": "each", "use": "echo", "args": {"value": "{{ item }}"}, "for_each": "{{ steps.book }}"},
    ],
}


def with_examples(*examples: dict[str, Any]) -> dict[str, Any]:
    return {**TRIP, "examples": list(examples)}


async def test_examples_run_without_effects_and_leave_no_trace(
    procedures: ProceduralMemory, desk: Any, scoped: ScopedStore
) -> None:
    good = {"name": "good", "params": {"n": 1}, "given": {"book": [5, 6], "each": ["a", "b"]}, "expect": ["a", "b"]}
    wrong = {**good, "name": "wrong", "expect": ["a"]}
    await procedures.store(with_examples(good, wrong))
    told = await procedures.check("trip")
    assert [(e.example, e.passed) for e in told.examples] == [("good", True), ("wrong", False)]
    assert not told.passed
    assert "['a'] was expected" in told.examples[1].why
    assert desk.names() == ["add", "add"], "only the pure function was called"
    assert (await scoped.page("run", where=Filter(states=None))).items == ()


async def test_what_has_effects_is_not_called_unless_asked(procedures: ProceduralMemory, desk: Any) -> None:
    example = {"name": "real", "params": {"n": 1}, "given": {"book": [7]}, "expect": [7]}
    told = await procedures.check(with_examples(example))
    assert not told.passed
    assert "does not say what each returns" in told.examples[0].why
    assert (await procedures.check(with_examples(example), effects=True)).passed
    assert ("echo", 7) in desk.calls


async def test_an_example_can_expect_a_failure(procedures: ProceduralMemory) -> None:
    fails = {"name": "f", "params": {"n": 1}, "given": {"book": {"error": "sold out"}}, "fails": True}
    assert (await procedures.check(with_examples(fails))).passed
    works = {"name": "w", "params": {"n": 1}, "given": {"book": [], "each": []}, "fails": True}
    told = await procedures.check(with_examples(works))
    assert not told.passed
    assert "did not" in told.examples[0].why
    short = {"name": "s", "params": {"n": 1}, "given": {"book": [1, 2], "each": ["a"]}, "expect": []}
    assert "gives nothing for each[1]" in (await procedures.check(with_examples(short))).examples[0].why


async def test_a_procedure_without_examples_passes_nothing(procedures: ProceduralMemory) -> None:
    told = await procedures.check(TRIP)
    assert (told.passed, told.examples) == (True, ())
