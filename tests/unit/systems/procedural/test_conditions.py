"""Conditions: what holds, and what cannot be compared."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from longmind.errors import InvalidInput
from longmind.systems.procedural.conditions import Condition, holds

CONTEXT = {"params": {"n": 3, "name": "Ann", "list": [1, "a", True], "none": None, "map": {"k": 1}}}
_read = TypeAdapter[Any](Condition)


def _compare(left: object, op: str, right: object = None) -> bool:
    return holds(_read.validate_python({"left": left, "op": op, "right": right}), CONTEXT)


@pytest.mark.parametrize(
    ("left", "op", "right", "expected"),
    [
        ("{{ params.n }}", "eq", 3, True),
        ("{{ params.n }}", "eq", 3.0, True),
        ("{{ params.n }}", "eq", "3", False),
        (1, "eq", True, False),
        (0, "ne", False, True),
        ("{{ params.n }}", "gt", 2, True),
        ("{{ params.n }}", "ge", 3, True),
        ("{{ params.n }}", "lt", 3, False),
        ("{{ params.n }}", "le", 3, True),
        ("{{ params.name }}", "lt", "Bob", True),
        ("a", "in", "{{ params.list }}", True),
        (0, "in", "{{ params.list }}", False),
        (1.0, "in", "{{ params.list }}", True),
        ("k", "in", "{{ params.map }}", True),
        ("nn", "in", "{{ params.name }}", True),
        ("z", "not_in", "{{ params.list }}", True),
        ("{{ params.list }}", "contains", True, True),
        ("{{ params.name }}", "starts_with", "A", True),
        ("{{ params.name }}", "ends_with", "A", False),
        ("{{ params.name }}", "exists", None, True),
        ("{{ params.none }}", "exists", None, False),
        ("{{ params.nothing.at.all }}", "exists", None, False),
        ("{{ params.nothing }}", "missing", None, True),
        ({"a": [1]}, "eq", {"a": [1]}, True),
        ({"a": [1]}, "eq", {"a": [True]}, False),
    ],
)
def test_comparisons(left: object, op: str, right: object, expected: bool) -> None:
    assert _compare(left, op, right) is expected


@pytest.mark.parametrize(
    ("left", "op", "right"),
    [
        ("{{ params.name }}", "gt", 3),
        ("{{ params.none }}", "lt", 3),
        (True, "lt", 3),
        (1, "in", 3),
        (3, "starts_with", "a"),
        ("{{ params.nothing }}", "eq", 1),
    ],
)
def test_what_cannot_be_compared_is_an_error_and_not_false(left: object, op: str, right: object) -> None:
    with pytest.raises(InvalidInput):
        _compare(left, op, right)


def test_groups_nest() -> None:
    yes = {"left": 1, "op": "eq", "right": 1}
    no = {"left": 1, "op": "eq", "right": 2}
    for condition, expected in [
        ({"all": [yes, yes]}, True),
        ({"all": [yes, no]}, False),
        ({"any": [no, yes]}, True),
        ({"any": []}, False),
        ({"none": [no, no]}, True),
        ({"none": [no, yes]}, False),
        ({"all": [{"any": [no, yes]}, {"none": [no]}]}, True),
    ]:
        assert holds(_read.validate_python(condition), CONTEXT) is expected


@pytest.mark.parametrize(
    "bad", [{"left": 1}, {"left": 1, "op": "exec"}, {"all": [], "any": []}, {"eval": "1"}, "params.n > 2"]
)
def test_a_condition_of_another_shape_is_refused(bad: object) -> None:
    with pytest.raises(ValidationError):
        _read.validate_python(bad)


def test_a_broken_template_in_a_condition_is_refused_when_it_is_read() -> None:
    with pytest.raises(InvalidInput):
        _read.validate_python({"left": "{{ params.", "op": "eq"})
