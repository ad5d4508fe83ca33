"""JSON in a model's answer: a value in its text, or the arguments of a tool call. Small faults are repaired."""

from __future__ import annotations

import json
import re
from typing import Any

from longmind.errors import InvalidAnswer
from longmind.models.chat import ToolCall, Usage

MAX_REPAIRED = 50_000
"""Characters. Repairing is slow, and a longer broken answer is not worth it."""
_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


class Unreadable(ValueError):
    """A text holds no JSON, or none that can be repaired."""


def read_json(text: str) -> tuple[Any, bool]:
    """Return the JSON value in a text, and whether it had to be repaired.

    Thoughts before the answer, a code fence and words around it are ignored.
    """
    text = _THOUGHT.sub("", text).strip()
    fenced = _FENCED.search(text)
    for candidate in (text, fenced[1].strip() if fenced else "", _from_first_bracket(text)):
        try:
            return json.loads(candidate, parse_constant=_no_constant), False
        except (ValueError, RecursionError):
            continue
    return _repaired(fenced[1] if fenced else text), True


def _from_first_bracket(text: str) -> str:
    """From the first bracket to the last one that could close it."""
    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=len(text))
    return text[start : text.rfind("}" if text[start : start + 1] == "{" else "]") + 1]


def _repaired(text: str) -> Any:
    from json_repair import loads

    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=-1)
    if start < 0:
        raise Unreadable("there is no JSON in it")
    if len(text) - start > MAX_REPAIRED:
        raise Unreadable(f"it is broken and longer than {MAX_REPAIRED:,} characters")
    try:
        return json.loads(json.dumps(loads(text[start:]), allow_nan=False))
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is nested too deep or too broken to be mended") from error


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def tool_call(id: str, name: str, arguments: str, usage: Usage) -> ToolCall:
    """Return a tool call with its arguments parsed; ``usage`` is what the answer cost."""
    try:
        parsed, _ = read_json(arguments or "{}")
    except Unreadable as error:
        parsed = error
    if not isinstance(parsed, dict):
        raise InvalidAnswer(
            f"The model called the tool {name[:64]!r} with arguments that are not a JSON object.",
            hint="Ask again, or describe the tool's parameters more plainly.",
            text=arguments[:2000],
            usage=usage,
        )
    return ToolCall(id=id, name=name, arguments=parsed)
