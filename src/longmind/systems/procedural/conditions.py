"""Conditions of steps (``when``): typed comparisons of parameters and earlier results, without ``eval``.

    {"left": "{{ steps.find.count }}", "op": "gt", "right": 0}
    {"all": [..., ...]}   {"any": [..., ...]}   {"none": [..., ...]}

Both sides are templates. ``exists`` and ``missing`` look at ``left`` only and never fail; ``eq`` and ``ne`` compare
any two values; an order between values of different types is an error, not false.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import model_validator

from longmind.errors import InvalidInput
from longmind.systems.procedural import templates
from longmind.systems.procedural.values import json_equal
from longmind.types import Model

Operator = Literal[
    "eq", "ne", "lt", "le", "gt", "ge", "in", "not_in", "contains", "starts_with", "ends_with", "exists", "missing"
]
_ORDERED = {"lt", "le", "gt", "ge"}


class Compare(Model):
    """One comparison."""

    left: Any
    op: Operator
    right: Any = None

    @model_validator(mode="after")
    def _templates_parse(self) -> Compare:
        for _ in templates.template_references([self.left, self.right]):
            pass
        return self


class All(Model):
    """True if all of the conditions are true."""

    all: tuple[Condition, ...]


class AnyOf(Model):
    """True if at least one of the conditions is true."""

    any: tuple[Condition, ...]


class NoneOf(Model):
    """True if none of the conditions is true."""

    none: tuple[Condition, ...]


Condition = Compare | All | AnyOf | NoneOf
All.model_rebuild()
AnyOf.model_rebuild()
NoneOf.model_rebuild()


def condition_references(condition: Condition) -> Iterator[templates.ValuePath]:
    """Yield every path that a condition refers to."""
    match condition:
        case Compare():
            yield from templates.template_references([condition.left, condition.right])
        case All(all=parts) | AnyOf(any=parts) | NoneOf(none=parts):
            for part in parts:
                yield from condition_references(part)


def holds(condition: Condition, context: Mapping[str, Any]) -> bool:
    """Whether a condition is true for these values."""
    match condition:
        case All(all=parts):
            return all(holds(part, context) for part in parts)
        case AnyOf(any=parts):
            return any(holds(part, context) for part in parts)
        case NoneOf(none=parts):
            return not any(holds(part, context) for part in parts)
        case Compare():
            return _compare(condition, context)


def _compare(condition: Compare, context: Mapping[str, Any]) -> bool:
    if condition.op in ("exists", "missing"):
        gone = any(templates.is_missing(path, context) for path in templates.template_references(condition.left))
        return gone == (condition.op == "missing")
    left, right = (
        templates.render_template(condition.left, context),
        templates.render_template(condition.right, context),
    )
    if condition.op in _ORDERED:
        return _ordered(condition.op, left, right)
    match condition.op:
        case "eq":
            return json_equal(left, right)
        case "ne":
            return not json_equal(left, right)
        case "in":
            return _among(left, right, condition.op)
        case "not_in":
            return not _among(left, right, condition.op)
        case "contains":
            return _among(right, left, condition.op)
        case _:
            return _affix(condition.op, left, right)


def _ordered(op: str, left: Any, right: Any) -> bool:
    numbers = _number(left) and _number(right)
    if not numbers and not (isinstance(left, str) and isinstance(right, str)):
        raise InvalidInput(
            f"The condition {op} cannot order {_name(left)} and {_name(right)}.",
            hint="Compare two numbers or two texts; ask `exists` first if one may be missing.",
        )
    return bool({"lt": left < right, "le": left <= right, "gt": left > right, "ge": left >= right}[op])


def _among(member: Any, group: Any, op: str) -> bool:
    if isinstance(group, str) and isinstance(member, str):
        return member in group
    if isinstance(group, Mapping):
        return member in group if isinstance(member, str) else False
    if isinstance(group, list | tuple):
        return any(json_equal(member, item) for item in group)
    raise InvalidInput(f"The condition {op} needs a list, an object or a text to look in, not {_name(group)}.")


def _affix(op: str, left: Any, right: Any) -> bool:
    if not isinstance(left, str) or not isinstance(right, str):
        raise InvalidInput(f"The condition {op} needs two texts, not {_name(left)} and {_name(right)}.")
    return left.startswith(right) if op == "starts_with" else left.endswith(right)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _name(value: Any) -> str:
    return "null" if value is None else type(value).__name__
