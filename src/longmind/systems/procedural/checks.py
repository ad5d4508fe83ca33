"""Tests of a procedure by its own examples, without storing anything.

A step returns what the example gives for it. Otherwise only functions registered as ``pure`` are called, so that a
check has no side effects.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from longmind.errors import InvalidInput
from longmind.systems.procedural import schema
from longmind.systems.procedural.attempts import CallFailed
from longmind.systems.procedural.interpreter import Interpreter, StepFailed
from longmind.systems.procedural.models import Example, Procedure, Step
from longmind.systems.procedural.runs import MAX_TREE_STEPS, RunFailure, StepRecord
from longmind.systems.procedural.tools import ToolRegistry
from longmind.systems.procedural.values import json_equal
from longmind.systems.scoped_store import ScopedStore
from longmind.types import Model


class ExampleCheck(Model):
    """The result of one example."""

    example: str
    passed: bool
    result: Any = None
    why: str = ""


class CheckReport(Model):
    """The results of all examples of a procedure."""

    name: str
    passed: bool
    """Whether all passed; True for a procedure without examples."""
    examples: tuple[ExampleCheck, ...]


async def check(
    scoped: ScopedStore, procedure: Procedure, tools: ToolRegistry, *, effects: bool = False
) -> CheckReport:
    """Run every example. With ``effects``, functions that are not pure are called too."""
    results = [await _check(scoped, procedure, example, tools, effects) for example in procedure.examples]
    return CheckReport(name=procedure.name, passed=all(result.passed for result in results), examples=tuple(results))


async def _check(
    scoped: ScopedStore, procedure: Procedure, example: Example, tools: ToolRegistry, effects: bool
) -> ExampleCheck:
    params = schema.bind_params(procedure.parameters, example.params)
    log = _InMemoryLog(scoped, f"check:{procedure.name}:{example.name}")
    caller = _ExampleCaller(example, tools, effects)
    try:
        result = await Interpreter(procedure, params, log, caller, sleep=_no_wait).forward()
    except StepFailed as failed:
        why = f"It failed at {failed.failure.step}: {failed.failure.type}: {failed.failure.message}"
        return ExampleCheck(example=example.name, passed=example.fails, why=why)
    if example.fails:
        return ExampleCheck(
            example=example.name, passed=False, result=result, why="It was expected to fail and did not."
        )
    passed = json_equal(result, example.expect)
    why = "" if passed else f"It returned {result!r}, and {example.expect!r} was expected."
    return ExampleCheck(example=example.name, passed=passed, result=result, why=why)


class _InMemoryLog:
    """A log in memory; every step is approved."""

    def __init__(self, scoped: ScopedStore, run_id: str) -> None:
        self._scoped = scoped
        self._records: dict[str, StepRecord] = {}
        self.run_id = run_id

    @property
    def records(self) -> tuple[StepRecord, ...]:
        return tuple(self._records.values())

    def now(self) -> datetime:
        return self._scoped.now()

    def find(self, path: str) -> StepRecord | None:
        return self._records.get(path)

    def fits(self, result: Any) -> bool:
        return True

    def steps_left(self) -> int:
        return MAX_TREE_STEPS - len(self._records)

    def approval(self, path: str) -> bool | None:
        return True

    async def record(self, record: StepRecord) -> None:
        self._records[record.path] = record


class _ExampleCaller:
    """Returns what the example gives for a step, or calls a pure function."""

    def __init__(self, example: Example, tools: ToolRegistry, effects: bool) -> None:
        self._example = example
        self._tools = tools
        self._effects = effects

    async def __call__(self, step: Step, args: Mapping[str, Any], *, path: str, key: str, attempt: int) -> Any:
        if step.name in self._example.given:
            return self._given(step, path)
        if step.use is not None:
            tool = self._tools.get(step.use)
            if tool.pure or self._effects:
                return await tool.call(args, key)
        raise InvalidInput(
            f"The example {self._example.name!r} does not say what {step.name} returns.",
            hint="Give it in `given`, or register the function as pure if it has no effects.",
        )

    def _given(self, step: Step, path: str) -> Any:
        """Return what the example gives for a step; ``{"error": "..."}`` makes the step fail."""
        result = self._example.given[step.name]
        if step.for_each is not None:
            index = int(path.removeprefix(f"{step.name}[").removesuffix("]"))
            if not isinstance(result, list) or index >= len(result):
                raise InvalidInput(f"The example {self._example.name!r} gives nothing for {path}.")
            result = result[index]
        if isinstance(result, Mapping) and set(result) == {"error"}:
            raise CallFailed(RunFailure(type="Given", message=str(result["error"])))
        return result

    async def undo(self, step: Step, args: Mapping[str, Any], *, key: str) -> Any:
        return None


async def _no_wait(seconds: float) -> None:
    return None
