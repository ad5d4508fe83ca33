"""Parameters: what a schema may say, and what it accepts."""

from __future__ import annotations

from typing import Any

import pytest

from longmind.errors import InvalidInput
from longmind.systems.procedural.schema import bind_params, check_value, json_type, validate_schema

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2},
        "nights": {"type": "integer", "minimum": 1, "maximum": 30, "default": 2},
        "rate": {"type": "number", "exclusiveMinimum": 0},
        "kind": {"enum": ["room", "flat"]},
        "guests": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "extra": {
            "type": "object",
            "properties": {"x": {"type": "boolean"}},
            "required": ["x"],
            "additionalProperties": False,
        },
        "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["city"],
}


def test_defaults_are_filled_in_and_what_is_not_given_is_null() -> None:
    taken = bind_params(validate_schema(SCHEMA), {"city": "Rome"})
    assert taken == {
        "city": "Rome", "nights": 2, "rate": None, "kind": None, "guests": None, "extra": None, "either": None
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "city is missing"),
        ({"city": 3}, "must be string"),
        ({"city": "R"}, "at least 2 characters"),
        ({"city": "Rome", "nights": 0}, "at least 1"),
        ({"city": "Rome", "nights": 31}, "at most 30"),
        ({"city": "Rome", "nights": True}, "must be integer"),
        ({"city": "Rome", "nights": 1.5}, "must be integer"),
        ({"city": "Rome", "rate": 0}, "more than 0"),
        ({"city": "Rome", "kind": "tent"}, "must be one of"),
        ({"city": "Rome", "guests": ["a", 1]}, r"guests\[1\] must be string"),
        ({"city": "Rome", "guests": ["a", "b", "c"]}, "at most 2 items"),
        ({"city": "Rome", "extra": {}}, "has no x"),
        ({"city": "Rome", "extra": {"x": True, "y": 1}}, "must not have y"),
        ({"city": "Rome", "either": 3}, "fits none"),
        ({"city": "Rome", "town": "x"}, "no parameter town"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        bind_params(SCHEMA, given)


@pytest.mark.parametrize(
    "bad",
    [
        None,
        {"type": "array"},
        {"type": "object", "properties": {"a": {"type": "text"}}},
        {"type": "object", "properties": {"a": {"pattern": "(a+)+$"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/x"}}},
        {"type": "object", "properties": {"a": {"minimum": "1"}}},
        {"type": "object", "properties": {"a": {"enum": "ab"}}},
        {"type": "object", "properties": {"a": {"anyOf": [{"format": "email"}]}}},
        {"type": "object", "properties": {"a": {"items": {"x": 1}}}},
        {"type": "object", "properties": {"a": 1}},
        {"type": "object", "properties": []},
        {"type": "object", "required": ["a"]},
        {"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}},
    ],
)
def test_a_schema_that_could_not_be_kept_to_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput):
        validate_schema(bad)


def test_the_other_rules() -> None:
    assert check_value(1, {"const": 1}, "it") == 1
    with pytest.raises(InvalidInput):
        check_value(True, {"const": 1}, "it")
    with pytest.raises(InvalidInput, match="less than 3"):
        check_value(3, {"exclusiveMaximum": 3}, "it")
    assert check_value(2.0, {"type": "integer"}, "it") == 2.0
    assert [json_type(v) for v in (None, True, 1, 1.5, "a", [], {})] == [
        "null", "boolean", "integer", "number", "string", "array", "object"
    ]  # fmt: skip
