"""What an agent can do: the registered functions, and the procedures that fit the task, each offered as a tool.

A call is checked before anything happens, is given a limited time, and comes back as an observation whatever it did.
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

PREFIX = "procedure_"
_NAME = 100
_GRACE = 1.0
"""Seconds a tool that was told to stop may take to do so before it is left to itself."""


@dataclass(slots=True)
class Toolbox:
    """The tools of one run."""

    registry: ToolRegistry
    procedural: ProceduralMemory
    clock: Clock
    limits: Limits
    _procedures: dict[str, Version] = field(default_factory=dict)

    def offer(self, found: Sequence[ProcedureHit]) -> None:
        """Offer these procedures as tools, too, except where a function has the name already."""
        for one in found:
            name = f"{PREFIX}{one.version.procedure.name}"[:_NAME]
            if name not in self.registry:
                self._procedures.setdefault(name, one.version)

    def described(self) -> tuple[ToolDescription, ...]:
        """The tools as a policy is told about them."""
        return (*self.registry.described(), *(_described(name, v) for name, v in self._procedures.items()))

    def problem(self, call: Call) -> str:
        """Why a call cannot be made; nothing when it can."""
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
            found = error.errors(include_input=False, include_url=False)[0]
            return f"The tool {call.tool} does not take this: {'.'.join(map(str, found['loc']))}: {found['msg']}."
        except LongmindError as error:
            return f"The tool {call.tool} does not take this: {error}"
        return ""

    async def perform(self, call: Call, key: str) -> Observation:
        """Make a call. ``key`` is the same for every attempt at this action, for functions that want one."""
        began = self.clock.now()
        cut = _Cut(self.limits.result_chars)
        ok, told = await self._ended(asyncio.create_task(self._call(call, key, cut), name=f"tool {call.tool}"), call)
        seconds = max(0.0, (self.clock.now() - began).total_seconds())
        if ok:
            return Observation(call=call, ok=True, result=told, truncated=cut.happened, seconds=seconds)
        error = cut.text(str(told))
        return Observation(call=call, ok=False, error=error, truncated=cut.happened, seconds=seconds)

    async def _ended(self, task: asyncio.Task[Any], call: Call) -> tuple[bool, Any]:
        """Whether the call worked, and its result or error. One that does not end is told to, and then left."""
        try:
            await asyncio.wait({task}, timeout=self.limits.tool_seconds)
        except BaseException:
            task.add_done_callback(_looked_at)
            task.cancel()
            raise
        if not task.done():
            task.add_done_callback(_looked_at)
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
    told = {"name": name, "description": procedure.purpose, "parameters": procedure.parameters, "pure": False}
    return validated(ToolDescription, told)


def _result(run: Run) -> Any:
    if run.status == "succeeded":
        return run.result
    if run.status == "waiting":
        raise InvalidInput(f"The procedure waits for somebody's approval; its run is {run.id}.")
    raise InvalidInput(f"The procedure {run.status}: {run.error.message if run.error else 'no reason is known'}")


@dataclass(slots=True)
class _Cut:
    """Bounds what a tool says, and remembers whether that was needed."""

    limit: int
    happened: bool = False

    def value(self, value: Any) -> Any:
        """A value that fits; a longer one becomes the beginning of its text, marked as cut."""
        if isinstance(value, str):
            return self.text(value)
        try:
            told = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            return value  # not JSON: it is refused with a reason where every result is checked
        return value if len(told) <= self.limit else self.text(told)

    def text(self, text: str) -> str:
        if len(text) > self.limit:
            self.happened = True
            text = f"{text[: self.limit]}… [cut: {self.limit:,} of {len(text):,} characters]"
        return text.replace("\x00", "␀").encode("utf-8", "replace").decode()


def _bounded(tool: Tool, cut: _Cut) -> Tool:
    """The same tool, whose result is cut before it is looked at any further; in its thread, if it has one."""
    function = tool.function

    async def later(result: Awaitable[Any]) -> Any:
        return cut.value(await result)

    if inspect.iscoroutinefunction(function):

        async def asynchronous(**given: Any) -> Any:
            return cut.value(await function(**given))

        return replace(tool, function=asynchronous)

    def synchronous(**given: Any) -> Any:
        result = function(**given)
        return later(result) if inspect.isawaitable(result) else cut.value(result)

    return replace(tool, function=synchronous)


def _looked_at(task: asyncio.Task[Any]) -> None:
    """What a tool that was given up says in the end interests nobody, and must not be complained about."""
    if not task.cancelled():
        task.exception()
