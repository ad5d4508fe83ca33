"""``MemoryTool``: a tool that a language model calls, and what it returns."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel, ValidationError

from longmind.agent_memory import AgentMemory
from longmind.errors import InvalidInput, LongmindError
from longmind.problems import problems
from longmind.security import Permission
from longmind.text.quoting import quote_json

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returns: data for a program, and the same as a text for a model."""

    data: JsonObject
    text: str


@dataclass(frozen=True, kw_only=True)
class MemoryTool:
    """A tool: what a model reads of it, its arguments, and what it does with an agent's memory."""

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[AgentMemory, Any], Awaitable[ToolResult]]
    """Called with the memory and the arguments, an instance of ``arguments``."""
    permission: Permission = "read"
    destructive: bool = False
    """Whether it may take something away."""
    idempotent: bool = False
    """Whether calling it again with the same arguments changes nothing more."""
    output: JsonObject | None = None
    """The schema of the data, where a client should know it."""

    @cached_property
    def schema(self) -> JsonObject:
        """The JSON schema of the arguments."""
        return schema_of(self.arguments)

    def read(self, arguments: Mapping[str, Any] | None) -> BaseModel:
        """Return the arguments of a call; ``InvalidInput`` says what is wrong with them."""
        try:
            return self.arguments.model_validate_json(json.dumps(arguments or {}))
        except ValidationError as error:
            reasons = "; ".join(f"{field or 'arguments'}: {reason}" for field, reason in problems(error)[:5])
            raise InvalidInput(
                f"Invalid arguments for the tool {self.name}: {reasons}.", hint="See its input schema."
            ) from None


def schema_of(model: type[BaseModel]) -> JsonObject:
    """Return the JSON schema of a model without references, which some clients do not follow."""
    schema = model.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})

    def resolved(node: Any, *, names: bool = False) -> Any:
        if isinstance(node, list):
            return [resolved(item) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        if isinstance(reference, str) and not names:
            more = {key: value for key, value in node.items() if key != "$ref"}
            return resolved({**definitions[reference.rpartition("/")[2]], **more})
        return {
            key: resolved(value, names=key == "properties")
            for key, value in node.items()
            if names or _tells(key, value)
        }

    result: JsonObject = resolved(schema)
    result.pop("description", None)
    result.setdefault("properties", {})
    return result


def _tells(key: str, value: Any) -> bool:
    """Return whether a part of a schema says more than the name of its field does."""
    return key != "title" and not (key == "default" and value in (None, []))


def error_text(error: LongmindError) -> str:
    """Return an error in words, so that the model reads it and can do better."""
    return f"{error.message} {error.hint}".strip()


def as_data(data: JsonObject) -> ToolResult:
    """Return data as a result. In the text it is JSON on one line, quoted for a prompt."""
    return ToolResult(data, quote_json(data))


def without_empty(value: Any) -> Any:
    """Return JSON without fields that hold nothing, which cost a model tokens."""
    if isinstance(value, dict):
        kept = {key: without_empty(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item is not None and item not in ("", [], {})}
    return [without_empty(item) for item in value] if isinstance(value, list) else value
