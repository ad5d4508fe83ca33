"""Plain JSON of limited size: the only values that pass between tools, templates and the store.

The result of a tool is stored before the next step starts, and may be shown in a prompt. So every result is checked to
be JSON and small enough for a record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from longmind.errors import InvalidInput
from longmind.problems import first_problem
from longmind.types import PlainJson

MAX_VALUE = 256 * 1024
"""The largest result, or arguments of one call, in bytes of JSON."""
MAX_RUN = 8 * 1024 * 1024
"""The largest sum of all results of one run, in bytes of JSON."""
MAX_DEPTH = 32
"""How deep the objects and lists of a value may be nested."""
MAX_MESSAGE = 2_000
"""Characters kept of an exception's message."""

_plain = TypeAdapter[dict[str, Any]](PlainJson)


def to_plain_json(value: Any, what: str) -> Any:
    """Return the value as plain JSON, models and tuples as objects and lists; ``InvalidInput`` if it is not JSON."""
    check_bounds(value, what)
    payload = _unwrapped(value)
    try:
        _plain.validate_python({"value": payload})
    except (ValidationError, RecursionError) as error:
        reason = first_problem(error)[1] if isinstance(error, ValidationError) else "too deep"
        raise InvalidInput(
            f"{what} is not plain JSON: {reason}.",
            hint="Return text, numbers, true, false, null, lists and objects with text keys.",
        ) from error
    size = json_size(payload)
    if size > MAX_VALUE:
        raise InvalidInput(
            f"{what} is {size:,} bytes of JSON; at most {MAX_VALUE:,} are kept.",
            hint="Store the large thing elsewhere and return where it is.",
            size=size,
            limit=MAX_VALUE,
        )
    return payload


def check_bounds(value: Any, what: str, limit: int = MAX_VALUE, *, max_depth: int = MAX_DEPTH) -> int:
    """Return about how many bytes a value is as JSON; ``InvalidInput`` if it is too large or too deep.

    It stops where the answer is known, and does not recurse. So it is safe on any value: call it before what copies or
    recurses.
    """
    size = 0
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        node, depth = waiting.pop()
        if isinstance(node, str):
            size += len(node) + 2
        elif isinstance(node, Mapping | list | tuple | BaseModel):
            items = [item for pair in node for item in pair] if isinstance(node, BaseModel) else list(node)
            if isinstance(node, Mapping):
                items += node.values()
            size += len(items) + 1
            if items and depth >= max_depth:
                raise InvalidInput(
                    f"{what} is nested deeper than {max_depth} levels.", hint="Make it flatter.", depth=max_depth
                )
            waiting += [(item, depth + 1) for item in items] if size <= limit else ()
        else:
            size += 1
        if size > limit:
            raise InvalidInput(
                f"{what} is more than {limit:,} bytes of JSON.",
                hint="Store the large thing elsewhere and pass on where it is.",
                limit=limit,
            )
    return size


def json_size(value: Any) -> int:
    """Return the size of a value as JSON, in bytes."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def json_equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal. Unlike in Python, true is not equal to 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(json_equal(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(json_equal, left, right))
    return bool(left == right)


def error_message(error: BaseException) -> str:
    """Return the message of an exception, shortened and safe to store."""
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
