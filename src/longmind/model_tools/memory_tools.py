"""``MemoryTools``: tools of one memory, defined as OpenAI and Anthropic want them, and run when a model calls them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from longmind.agent_memory import AgentMemory
from longmind.arguments import checked_arguments
from longmind.errors import InvalidInput, LongmindError
from longmind.model_tools.tool import JsonObject, MemoryTool, error_text
from longmind.model_tools.tools import GROUPS, TOOLS
from longmind.sync.blocking import Blocking, blocking, direct

_log = logging.getLogger(__name__)
_BY_NAME = {tool.name: tool for tool in TOOLS}
_FAULT = "The memory could not do this because of a fault of its own."
OpenAiApi = Literal["chat", "responses"]
"""Which of OpenAI's interfaces: ``chat.completions`` or ``responses``."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer to a call of a tool: a text for the model, and the same as data; an error is told in words."""

    text: str
    data: JsonObject = field(default_factory=dict)
    is_error: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of a tool in a model's response, in one of the three forms."""

    id: str
    name: str
    arguments: Any
    form: Literal["chat", "responses", "anthropic"]

    def result(self, answer: ToolAnswer) -> JsonObject:
        """Return the item that brings the answer back to the model."""
        if self.form == "chat":
            return {"role": "tool", "tool_call_id": self.id, "content": answer.text}
        if self.form == "responses":
            return {"type": "function_call_output", "call_id": self.id, "output": answer.text}
        result: JsonObject = {"type": "tool_result", "tool_use_id": self.id, "content": answer.text}
        return result | {"is_error": True} if answer.is_error else result


@checked_arguments
class MemoryTools:
    """Tools over the memory of one agent, or of one agent with one user. No call reaches another memory."""

    def __init__(self, mem: AgentMemory, tools: Sequence[MemoryTool]) -> None:
        self._mem = mem
        self._tools = {tool.name: tool for tool in tools}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools."""
        return tuple(self._tools)

    def openai(self, api: OpenAiApi = "chat") -> list[dict[str, Any]]:
        """Return the definitions for OpenAI's ``chat.completions``, or for its ``responses``."""
        functions = [
            {"name": tool.name, "description": tool.description, "parameters": tool.schema}
            for tool in self._tools.values()
        ]
        if api == "chat":
            return [{"type": "function", "function": function} for function in functions]
        return [{"type": "function", **function, "strict": False} for function in functions]

    def anthropic(self) -> list[dict[str, Any]]:
        """Return the definitions for Anthropic's ``messages``."""
        return [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
            for tool in self._tools.values()
        ]

    async def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> ToolAnswer:
        """Run a tool with the arguments of a model: an object, or JSON. What is wrong comes back as an answer."""
        tool = self._tools.get(name)
        try:
            if tool is None:
                raise InvalidInput("There is no such tool.", hint=f"There are: {', '.join(self._tools)}.")
            result = await tool.run(self._mem, tool.read(_arguments(tool, arguments)))
        except LongmindError as error:
            return ToolAnswer(error_text(error), {"error": error.code}, is_error=True)
        except Exception:  # a fault of ours: the model learns no more than that, the log where it is
            _log.exception("The tool %s failed.", name)
            return ToolAnswer(_FAULT, {"error": "internal"}, is_error=True)
        return ToolAnswer(result.text, result.data)

    async def results(self, response: BaseModel | Mapping[str, Any]) -> list[dict[str, Any]]:
        """Run the calls of these tools in a model's response, and return what to send back, in the same order.

        The response is a chat completion, a response, or a message of Anthropic. From the first two the results are
        messages and input items; those of Anthropic are blocks, to be the content of one message of the user. Calls
        of other tools are left to you; an empty list means that there was none of these.
        """
        fields = response.model_dump(mode="json") if isinstance(response, BaseModel) else response
        return [
            call.result(await self.call(call.name, call.arguments))
            for call in _calls(fields)
            if call.name in self._tools
        ]


class BlockingMemoryTools(Blocking[MemoryTools]):
    """Tools over the memory of one agent, blocking; see ``MemoryTools``."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools."""
        return self._target.names

    openai = direct(MemoryTools.openai)
    anthropic = direct(MemoryTools.anthropic)
    call = blocking(MemoryTools.call)
    results = blocking(MemoryTools.results)


def select_tools(names: Sequence[str], *, read_only: bool) -> list[MemoryTool]:
    """Return the tools of these names and groups, each once; without any, those of the verbs."""
    selected: dict[str, MemoryTool] = {}
    for name in names or ("verbs",):
        group = GROUPS.get(name, (_BY_NAME[name],) if name in _BY_NAME else ())
        if not group:
            raise InvalidInput(
                f"There is no tool or group {name[:50]!r}.", hint=f"Groups: {', '.join(GROUPS)}.", field="names"
            )
        selected |= {tool.name: tool for tool in group if not read_only or tool.permission == "read"}
    return list(selected.values())


def _arguments(tool: MemoryTool, arguments: Mapping[str, Any] | str | None) -> Mapping[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            raise InvalidInput(f"The arguments for the tool {tool.name} are not JSON.") from None
    if not isinstance(arguments, Mapping | None):
        raise InvalidInput(f"The arguments for the tool {tool.name} are no object.", hint="See its input schema.")
    return arguments or {}


def _calls(response: Mapping[str, Any]) -> Iterator[_Call]:
    """Yield the calls of tools in a response."""
    for choice in (response.get("choices") or ())[:1]:
        for call in choice["message"].get("tool_calls") or ():
            if function := call.get("function"):
                yield _Call(call["id"], function["name"], function["arguments"], "chat")
    for item in response.get("output") or ():
        if item.get("type") == "function_call":
            yield _Call(item["call_id"], item["name"], item["arguments"], "responses")
    content = response.get("content")
    for block in content if isinstance(content, list) else ():
        if block.get("type") == "tool_use":
            yield _Call(block["id"], block["name"], block["input"], "anthropic")


def tools_of(mem: AgentMemory, names: Sequence[str], *, read_only: bool) -> MemoryTools:
    """Return the tools of a memory."""
    return MemoryTools(mem, select_tools(names, read_only=read_only))
