"""Tools made from the table of operations: a method of the public face, with the arguments that a model should set."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from longmind.agent_memory import AgentMemory
from longmind.model_tools.tool import JsonObject, MemoryTool, ToolResult, as_data, without_empty
from longmind.operations import OPERATIONS, Operation
from longmind.operations.wire import Parameter, request_model
from longmind.systems.episodic import EpisodicMemory
from longmind.systems.goals import GoalMemory
from longmind.systems.procedural import ProceduralMemory
from longmind.systems.semantic import SemanticMemory

_BY_NAME = {operation.name: operation for operation in OPERATIONS}
_SYSTEMS: Mapping[type, str] = {
    EpisodicMemory: "episodic",
    SemanticMemory: "semantic",
    ProceduralMemory: "procedural",
    GoalMemory: "goals",
}
"""The attribute of ``AgentMemory`` that holds a memory system."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a tool: what a model reads of it, and its type where that of the method is too wide."""

    description: str
    type: Any = None
    required: bool = False
    """Whether the tool needs it though the method does not."""


def operation_tool(
    name: str,
    operation_name: str,
    description: str,
    arguments: Mapping[str, str | Argument],
    *,
    title: str | None = None,
    destructive: bool = False,
    idempotent: bool = False,
    result: Callable[[Any], ToolResult] | None = None,
    output: JsonObject | None = None,
) -> MemoryTool:
    """Return a tool that calls the method of an operation.

    ``arguments`` are those that are offered, of the method's parameters. ``result`` makes the result of what the method
    returns; by default it is what REST answers, without empty fields.
    """
    operation = _BY_NAME[operation_name]
    parameters = [_parameter(operation, name, argument) for name, argument in arguments.items()]
    model = request_model("".join(map(str.title, name.split("_"))), parameters, None)
    write = result or (lambda value: _as_rest(operation, value))

    async def run(mem: AgentMemory, values: Any) -> ToolResult:
        given = {field: getattr(values, field) for field in arguments if field in values.model_fields_set}
        positional, named = operation.arguments({key: value for key, value in given.items() if value is not None})
        target = getattr(mem, _SYSTEMS[operation.face.cls]) if operation.face.cls in _SYSTEMS else mem
        return write(await getattr(target, operation.method)(*positional, **named))

    return MemoryTool(
        name=name,
        title=title or name.replace("_", " ").capitalize(),
        description=description,
        arguments=model,
        run=run,
        permission=operation.permission,
        destructive=destructive,
        idempotent=idempotent,
        output=output,
    )


def _parameter(operation: Operation, name: str, argument: str | Argument) -> Parameter:
    own = operation.parameters[name]
    described = argument if isinstance(argument, Argument) else Argument(argument)
    hint: Any = Annotated[described.type or own.type, Field(description=described.description)]
    default = inspect.Parameter.empty if described.required else [] if own.default == () else own.default
    return Parameter(own.name, hint, default, own.kind)


def _as_rest(operation: Operation, value: Any) -> ToolResult:
    return as_data(without_empty(json.loads(operation.response.dump(value))) if value is not None else {})
