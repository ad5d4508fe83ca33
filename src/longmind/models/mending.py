"""JSON out of what a model wrote: as it is, out of the text around it, or mended."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_MENDED = 50_000
"""Characters. Mending is slow, and a longer broken answer is not worth it."""
_THOUGHT = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)


class Unreadable(ValueError):
    """There is no JSON in it, or none that can be mended."""


def read_json(text: str) -> tuple[Any, bool]:
    """The value in a text, and whether it had to be mended.

    Thoughts before the answer, a code fence or words around it are no fault of the JSON and are passed over.
    """
    text = _THOUGHT.sub("", text).strip()
    fenced = _FENCED.search(text)
    for candidate in (text, fenced[1].strip() if fenced else "", _from_first_bracket(text)):
        try:
            return json.loads(candidate, parse_constant=_no_constant), False
        except (ValueError, RecursionError):
            continue
    return _mended(fenced[1] if fenced else text), True


def _from_first_bracket(text: str) -> str:
    """From the first bracket to the last one that could close it."""
    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=len(text))
    return text[start : text.rfind("}" if text[start : start + 1] == "{" else "]") + 1]


def _mended(text: str) -> Any:
    from json_repair import loads

    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=-1)
    if start < 0:
        raise Unreadable("there is no JSON in it")
    if len(text) - start > MAX_MENDED:
        raise Unreadable(f"it is broken and longer than {MAX_MENDED:,} characters")
    try:
        return json.loads(json.dumps(loads(text[start:]), allow_nan=False))
    except (ValueError, RecursionError) as error:
        raise Unreadable("it is nested too deep or too broken to be mended") from error


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
