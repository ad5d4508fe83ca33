"""The tools of a run: the registered functions, and the procedures that match the task.

A call is validated before anything happens and has a time limit. Its result is always an observation, even if it fails.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from longmind.agent.models import Call, Limits, Observation
from longmind.clock import Clock
from longmind.errors import InvalidInput, LongmindError
from longmind.problems import first_problem
from longmind.systems.procedural import (
    ProceduralMemory,
    ProcedureHit,
    Run,
    Tool,
    ToolDescription,
    ToolRegistry,
    Version,
    bind_params,
    error_message,
    to_plain_json,
)
from longmind.systems.scoped_store import validated
from longmind.text.quoting import flatten

PREFIX = "procedure_"
_NAME = 100
_MAX_PURPOSE = 1_000
_GRACE = 1.0
"""Seconds that a cancelled tool has to stop before it is abandoned."""


@dataclass(slots=True)
class Toolbox:
    """The tools of one run."""

    registry: ToolRegistry
    procedural: ProceduralMemory
    clock: Clock
    limits: Limits
    _procedures: dict[str, Version] = field(default_factory=dict)

    def offer(self, hits: Sequence[ProcedureHit]) -> None:
        """Offer these procedures as tools, unless a function has the same name."""
        for hit in hits:
            name = f"{PREFIX}{hit.version.procedure.name}"[:_NAME]
            if name not in self.registry:
                self._procedures.setdefault(name, hit.version)

    def described(self) -> tuple[ToolDescription, ...]:
        """Return the descriptions of the tools, for a policy."""
        return (*self.registry.described(), *(_described(name, v) for name, v in self._procedures.items()))

    def problem(self, call: Call) -> str:
        """Return why a call cannot be made, or an empty text if it can."""
        try:
            to_plain_json(call.args, f"What {call.tool} is given")
            if call.tool in self._procedures:
                bind_params(self._procedures[call.tool].procedure.parameters, call.args)
            elif call.tool in self.registry:
                self.registry.get(call.tool).arguments.model_validate(call.args)
            else:
                known = ", ".join(tool.name for tool in self.described()) or "none"
                return f"There is no tool {call.tool!r}. There are: {known}."
        except ValidationError as error:
            return f"The tool {call.tool} does not take this: {': '.join(first_problem(error))}."
        except LongmindError as error:
            return f"The tool {call.tool} does not take this: {error}"
        return ""

    async def perform(self, call: Call, key: str) -> Observation:
        """Make a call. ``key`` is the idempotency key, the same for every attempt at this action."""
        began = self.clock.now()
        cut = _Cut(self.limits.result_chars)
        ok, result = await self._wait_for(
            asyncio.create_task(self._call(call, key, cut), name=f"tool {call.tool}"), call
        )
        seconds = max(0.0, (self.clock.now() - began).total_seconds())
        if ok:
            return Observation(call=call, ok=True, result=result, truncated=cut.happened, seconds=seconds)
        error = cut.text(str(result))
        return Observation(call=call, ok=False, error=error, truncated=cut.happened, seconds=seconds)

    async def _wait_for(self, task: asyncio.Task[Any], call: Call) -> tuple[bool, Any]:
        """Return whether the call succeeded, and its result or error. A call that takes too long is cancelled."""
        try:
            await asyncio.wait({task}, timeout=self.limits.tool_seconds)
        except BaseException:
            task.add_done_callback(_retrieve_exception)
            task.cancel()
            raise
        if not task.done():
            task.add_done_callback(_retrieve_exception)
            task.cancel()
            await asyncio.wait({task}, timeout=_GRACE)
            return False, f"{call.tool} did not come back within {self.limits.tool_seconds:g} seconds."
        if task.cancelled():
            return False, f"{call.tool} was cancelled."
        error = task.exception()
        if error is None:
            return True, task.result()
        if not isinstance(error, Exception):
            raise error
        return False, str(error) if isinstance(
            error, LongmindError
        ) else f"{type(error).__name__}: {error_message(error)}"

    async def _call(self, call: Call, key: str, cut: _Cut) -> Any:
        procedure = self._procedures.get(call.tool)
        if procedure is None:
            return await _bounded(self.registry.get(call.tool), cut).call(call.args, key)
        run = await self.procedural.execute(procedure.procedure.name, call.args, key=key)
        return cut.value(_result(run))


def _described(name: str, version: Version) -> ToolDescription:
    procedure = version.procedure
    description = flatten(procedure.purpose, _MAX_PURPOSE)
    fields = {"name": name, "description": description, "parameters": procedure.parameters, "pure": False}
    return validated(ToolDescription, fields)


def _result(run: Run) -> Any:
    if run.status == "succeeded":
        return run.result
    if run.status == "waiting":
        raise InvalidInput(f"The procedure waits for somebody's approval; its run is {run.id}.")
    raise InvalidInput(f"The procedure {run.status}: {run.error.message if run.error else 'no reason is known'}")


@dataclass(slots=True)
class _Cut:
    """Cuts results to a limit, and remembers whether something was cut."""

    limit: int
    happened: bool = False

    def value(self, value: Any) -> Any:
        """Return the value if it fits, or else the beginning of its JSON text, marked as cut."""
        if isinstance(value, str):
            return self.text(value)
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            return value  # not JSON: refused later, with a reason, where every result is checked
        return value if len(text) <= self.limit else self.text(text)

    def text(self, text: str) -> str:
        if len(text) > self.limit:
            self.happened = True
            text = f"{text[: self.limit]}… [cut: {self.limit:,} of {len(text):,} characters]"
        return text.replace("\x00", "␀").encode("utf-8", "replace").decode()


def _bounded(tool: Tool, cut: _Cut) -> Tool:
    """Return the same tool with its result cut right after the call, in its own thread if it runs in one."""
    function = tool.function

    async def later(result: Awaitable[Any]) -> Any:
        return cut.value(await result)

    if inspect.iscoroutinefunction(function):

        async def asynchronous(**args: Any) -> Any:
            return cut.value(await function(**args))

        return replace(tool, function=asynchronous)

    def synchronous(**args: Any) -> Any:
        result = function(**args)
        return later(result) if inspect.isawaitable(result) else cut.value(result)

    return replace(tool, function=synchronous)


def _retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Retrieve the exception of an abandoned tool, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()
