"""The fields of the public types: their limits, and what each may hold."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PlainSerializer, StringConstraints, WithJsonSchema

from longmind.clock import as_utc
from longmind.errors import InvalidInput

MAX_CONTENT = 1_000_000
"""Characters one memory may hold; a longer text is a document, which is split."""
MAX_TAGS = 100
"""Tags of one memory."""
MAX_FILTER_TAGS = 1_000
"""Tags in one list of a filter."""
MAX_FILTER_VALUES = 10_000
"""Values in any other list of a filter."""
MAX_METADATA_BYTES, MAX_METADATA_VALUES, MAX_METADATA_DEPTH = 65_536, 1_000, 16
"""How large the metadata of a message, a document or a call may be: its JSON, its values and its nesting."""
MAX_FACTS = 500
"""Facts that consolidation takes from one memory; the rest of its statements are counted as rejected."""
State = Literal["active", "archived", "superseded", "stale", "quarantined"]
STATES: tuple[State, ...] = ("active", "archived", "superseded", "stale", "quarantined")
Role = Literal["user", "assistant", "system", "tool", "document"]
Direction = Literal["out", "in", "both"]
Order = Literal["recorded", "occurred", "importance", "accessed"]
Json = dict[str, Any]
_DEEPEST = 32
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def name_text(value: str) -> str:
    if not value or value != value.strip():
        raise ValueError("must not be empty nor begin or end with a space")
    if not value.isprintable() and _CONTROL.search(value):
        raise ValueError("must not contain control characters")
    return plain_text(value)


def _duration_text(value: timedelta) -> str:
    """Return a duration by ISO 8601, in days and seconds: the JSON format has no years beside days."""
    if value < timedelta(0):
        return f"-{_duration_text(-value)}"
    seconds = f"{value.seconds}.{value.microseconds:06}".rstrip("0").rstrip(".")
    days = f"{value.days}D" if value.days else ""
    return f"P{days}T{seconds}S" if value.seconds or value.microseconds or not days else f"P{days}"


def plain_text(value: str) -> str:
    if "\x00" in value:
        raise ValueError("must not contain the NUL character, which no database stores")
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError("must be valid Unicode: it contains a lone surrogate") from error
    return value


def _moment(value: datetime) -> datetime:
    try:
        return as_utc(value)
    except InvalidInput as error:
        raise ValueError("is outside the years 1 to 9999 when told in UTC") from error


def _plain_json(value: Json) -> Json:
    if value:
        _check_json(value, 0)
    return value


def _check_json(node: Any, depth: int) -> None:
    """Refuse what is not plain JSON. Every body that is stored passes here, so texts are looked at without a call."""
    if isinstance(node, (dict, Mapping)):
        for key in node:
            if not isinstance(key, str):
                raise ValueError("keys must be strings")
            if not key.isascii() or "\x00" in key:
                plain_text(key)
        items: Collection[Any] = node.values()
    elif isinstance(node, (list, tuple)):
        items = node
    else:
        _check_value(node)
        return
    if depth == _DEEPEST and items:
        raise ValueError(f"must not be nested deeper than {_DEEPEST} levels")
    for item in items:
        if type(item) is str:
            if not item.isascii() or "\x00" in item:
                plain_text(item)
        elif isinstance(item, (dict, list, tuple, Mapping)):
            _check_json(item, depth + 1)
        else:
            _check_value(item)


def _check_value(value: Any) -> None:
    if isinstance(value, str):
        plain_text(value)
    elif isinstance(value, bool) or value is None:
        pass
    elif isinstance(value, int):
        if abs(value) >= 2**63:
            raise ValueError("whole numbers must fit 64 bits")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError("numbers must be finite")
    else:
        raise ValueError(f"must be plain JSON, and {type(value).__name__} is not")


def _bounded_json(value: Json) -> Json:
    if value:
        _check_size(value)
        _check_json(value, 0)
    return value


def _check_size(value: Json) -> None:
    """Refuse JSON that is too large, as soon as that is known: the rest of it is not looked at."""
    size = values = 0
    waiting: list[tuple[Any, int]] = [(value, 0)]
    while waiting:
        node, depth = waiting.pop()
        values += 1
        if isinstance(node, str):
            size += len(node) if node.isascii() else len(node.encode(errors="replace"))
        elif isinstance(node, dict | list | tuple):
            children = list(node.values()) if isinstance(node, dict) else node
            if values + len(waiting) + len(children) > MAX_METADATA_VALUES:
                raise ValueError(f"must not hold more than {MAX_METADATA_VALUES:,} values")
            if children and depth >= MAX_METADATA_DEPTH:
                raise ValueError(f"must not be nested deeper than {MAX_METADATA_DEPTH} levels")
            size += sum(len(str(key).encode(errors="replace")) + 4 for key in node) if isinstance(node, dict) else 2
            waiting += [(child, depth + 1) for child in children]
        else:
            size += 8
        if size > MAX_METADATA_BYTES:
            raise ValueError(f"must not hold more than {MAX_METADATA_BYTES:,} bytes")


Name = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(name_text)]
Kind = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Text = Annotated[str, StringConstraints(max_length=MAX_CONTENT), AfterValidator(plain_text)]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100), AfterValidator(plain_text)]
Moment = Annotated[datetime, AfterValidator(_moment)]
Duration = Annotated[
    timedelta,
    PlainSerializer(_duration_text, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "duration"}),
]
Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")]
Unit = Annotated[float, Field(ge=0.0, le=1.0)]
PlainJson = Annotated[Json, AfterValidator(_plain_json)]
Metadata = Annotated[Json, AfterValidator(_bounded_json)]
"""Metadata as a caller gives it: plain JSON of bounded size."""
