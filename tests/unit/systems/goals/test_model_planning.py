"""What a model is told about the form of a plan: the names that exist, and no endless room."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter

from longmind.models.schemas import schema_of
from longmind.systems.goals.model_planning import PlannedSteps, PlanVocabulary, plan_schema

TOOLS = [
    {"name": "search", "parameters": {"type": "object", "properties": {"to": {}, "day": {}}}},
    {"name": "book", "parameters": {"type": "object", "properties": {"flight": {}, "to": {}}}},
]


def shown(tools: list[Any], open_criteria: int = 2, met: int = 1) -> dict[str, Any]:
    criteria = [{"id": f"c{n}", "met": n > open_criteria} for n in range(1, open_criteria + met + 1)]
    return {"criteria": criteria, "tools": tools, "procedures": []}


def step_of(names: PlanVocabulary) -> dict[str, Any]:
    schema = schema_of(plan_schema(names))
    steps = schema["properties"]["steps"]
    assert steps["maxItems"] == names.most
    properties: dict[str, Any] = schema["$defs"]["PlannedStep"]["properties"]
    return properties


def test_the_schema_knows_the_names_that_exist_and_no_others() -> None:
    names = PlanVocabulary.shown(shown(TOOLS))
    step = step_of(names)
    assert step["tool"] == {"anyOf": [{"type": "string", "enum": ["search", "book"]}, {"type": "null"}]}
    assert step["procedure"] == {"type": "null"}
    assert step["criteria"]["items"]["enum"] == ["c1", "c2", "c3"]
    assert step["after"]["items"] == step["id"]
    assert step["args"]["items"]["properties"]["name"]["enum"] == ["to", "day", "flight"]
    assert step["args"]["maxItems"] == 2
    bare = step_of(PlanVocabulary.shown(shown([])))
    assert bare["tool"] == {"type": "null"}
    assert bare["args"]["maxItems"] == 0


def test_a_plan_may_be_longer_the_more_is_open_but_not_without_end() -> None:
    lengths = [PlanVocabulary.shown(shown(TOOLS, count, met=0)).most for count in (1, 5, 50)]
    assert lengths == [8, 16, 100]
    assert PlanVocabulary.shown(shown(TOOLS, 1, met=9)).most == 8


def test_every_text_and_list_that_a_model_may_give_has_an_end() -> None:
    told = json.loads(json.dumps(schema_of(plan_schema(PlanVocabulary.shown(shown(TOOLS))))))
    nodes = [told]
    while nodes:
        node = nodes.pop()
        if isinstance(node, dict):
            if node.get("type") == "string":
                assert "enum" in node or "maxLength" in node
            if node.get("type") == "array":
                assert "maxItems" in node
            nodes += node.values()
        elif isinstance(node, list):
            nodes += node


def test_an_answer_that_nothing_held_to_the_schema_is_still_read() -> None:
    """What is wrong with its names is told in words by whoever checks them, and it is asked again."""
    form = plan_schema(PlanVocabulary.shown(shown([])))
    said = {"why": "w" * 900, "steps": [{"id": "find it", "description": "d" * 900, "tool": "teleport"}]}
    read = TypeAdapter(form).validate_python(said)
    assert isinstance(read, PlannedSteps)
    assert read.steps[0].tool == "teleport"
