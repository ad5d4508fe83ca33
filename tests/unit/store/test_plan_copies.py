"""What a write makes of JSON: the direct copy equals what JSON makes of it."""

import json
from typing import Any

import pytest

from longmind.store.plan import _plain_copy


class Text(str):
    """A subclass, which JSON turns into a plain text."""


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"a": (1, 2.5, "ü", None, True), "b": {"c": [{"d": -0.0}]}},
        {"number": 10**15, "small": 1e-9, "text": Text("plain")},
        {1: "a key that is no text"},
        [(), [[]], {"": ""}],
    ],
)
def test_a_copy_is_what_json_makes_of_a_value(value: Any) -> None:
    copy = _plain_copy(value)
    assert json.dumps(copy) == json.dumps(json.loads(json.dumps(value)))
    assert copy is not value
    assert type(copy) in (dict, list)


def test_nothing_is_shared_with_the_original() -> None:
    value = {"list": [{"x": 1}]}
    copy = _plain_copy(value)
    copy["list"][0]["x"] = 2
    assert value == {"list": [{"x": 1}]}


def test_a_subclass_of_text_becomes_plain() -> None:
    assert type(_plain_copy({"t": Text("a")})["t"]) is str
