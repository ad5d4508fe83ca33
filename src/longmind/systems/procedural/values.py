"""Plain, bounded JSON: the only thing that passes between tools, templates and the store.

What a tool returns is stored before the next step starts, and may end up in a prompt. So it is checked at the door:
JSON and nothing else, and not more than a record should hold.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from longmind.errors import InvalidInput
from longmind.types import PlainJson

MAX_VALUE = 256 * 1024
"""Bytes of JSON that one result, or the arguments of one call, may have."""
MAX_RUN = 8 * 1024 * 1024
"""Bytes of JSON that all results of one run may have together."""
MAX_MESSAGE = 2_000
"""Characters kept of an exception's message."""

_plain = TypeAdapter[dict[str, Any]](PlainJson)


def to_plain_json(value: Any, what: str) -> Any:
    """The value as plain JSON (models and tuples become objects and lists), or ``InvalidInput`` that says why not."""
    told = _unwrapped(value)
    try:
        _plain.validate_python({"value": told})
    except (ValidationError, RecursionError) as error:
        reason = error.errors(include_url=False)[0]["msg"] if isinstance(error, ValidationError) else "too deep"
        raise InvalidInput(
            f"{what} is not plain JSON: {reason.removeprefix('Value error, ')}.",
            hint="Return text, numbers, true, false, null, lists and objects with text keys.",
        ) from error
    size = json_size(told)
    if size > MAX_VALUE:
        raise InvalidInput(
            f"{what} is {size:,} bytes of JSON; at most {MAX_VALUE:,} are kept.",
            hint="Store the large thing elsewhere and return where it is.",
            size=size,
            limit=MAX_VALUE,
        )
    return told


def json_size(value: Any) -> int:
    """The bytes of a value as JSON."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def json_equal(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal. Unlike Python, true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(json_equal(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(json_equal, one, other))
    return bool(one == other)


def error_message(error: BaseException) -> str:
    """What an exception says, short and storable."""
    text = str(error).replace("\x00", "␀").encode("utf-8", "replace").decode()
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def _unwrapped(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {key: _unwrapped(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_unwrapped(item) for item in value]
    return value
