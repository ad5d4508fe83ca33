"""The arguments a model gives to a tool: JSON, or nearly."""

from __future__ import annotations

from longmind.errors import InvalidAnswer
from longmind.models.chat import ToolCall, Usage
from longmind.models.mending import Unreadable, read_json


def tool_call(id: str, name: str, arguments: str, usage: Usage) -> ToolCall:
    """A call with its arguments read; small faults in the JSON are mended. ``usage`` is what the answer cost."""
    try:
        told, _ = read_json(arguments or "{}")
    except Unreadable as error:
        told = error
    if not isinstance(told, dict):
        raise InvalidAnswer(
            f"The model called the tool {name[:64]!r} with arguments that are not a JSON object.",
            hint="Ask again, or describe the tool's parameters more plainly.",
            text=arguments[:2000],
            usage=usage,
        )
    return ToolCall(id=id, name=name, arguments=told)
