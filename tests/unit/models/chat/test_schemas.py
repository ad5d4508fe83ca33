"""Schemas as servers want them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from longmind.models.schemas import closed, schema_of, strict


class Part(BaseModel):
    title: Annotated[str, Field(max_length=9)]
    default: int = 3


class Whole(BaseModel):
    """A thing."""

    kind: Literal["title", "default"] = "title"
    parts: Annotated[list[Part], Field(max_length=2)] = []
    one: Part | None = None
    free: dict[str, Part] = {}


def objects(node: Any) -> list[dict[str, Any]]:
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else []
    found = [one for value in inner for one in objects(value)]
    return [node, *found] if isinstance(node, dict) and node.get("type") == "object" and "properties" in node else found


def test_every_object_is_closed_and_every_property_asked_for() -> None:
    made = schema_of(Whole)
    assert made["title"] == "Whole"
    assert [one["required"] for one in objects(made)] == [["kind", "parts", "one", "free"], ["title", "default"]]
    assert all(one["additionalProperties"] is False for one in objects(made))


def test_properties_that_are_named_like_keywords_stay() -> None:
    part = closed(Part.model_json_schema())
    assert set(part["properties"]) == {"title", "default"}
    assert part["properties"]["default"] == {"type": "integer"}
    assert closed(Whole.model_json_schema())["properties"]["kind"]["enum"] == ["title", "default"]


def test_the_strict_form_leaves_out_what_openai_refuses() -> None:
    assert "maxLength" in str(closed(Whole.model_json_schema()))
    made = strict(Whole.model_json_schema())
    assert "maxLength" not in str(made)
    assert made["properties"]["parts"]["maxItems"] == 2


def test_the_schema_given_is_not_changed() -> None:
    before = Whole.model_json_schema()
    strict(before)
    assert before == Whole.model_json_schema()
