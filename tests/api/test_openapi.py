"""The OpenAPI document: complete in itself, and exact about responses."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest

from longmind.operations import OPERATIONS, Operation
from longmind.server.rest.limits import NAME, OF_ALL, OF_ONE
from longmind.server.rest.openapi import openapi
from longmind.types import Hit, Memory


@pytest.fixture(scope="module")
def components() -> dict[str, Any]:
    found: dict[str, Any] = openapi("1")["components"]["schemas"]
    return found


def test_every_reference_leads_to_a_schema(components: dict[str, Any]) -> None:
    referred = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(openapi("1"))))
    assert referred - set(components) == set()
    assert [name for name, schema in components.items() if not schema] == []


def test_no_path_is_there_twice_under_other_names_of_its_parameters() -> None:
    paths = openapi("1")["paths"]
    assert len({re.sub(r"{\w+}", "{}", path) for path in paths}) == len(paths)
    for path, ways in paths.items():
        for way in ways.values():
            assert {p["name"] for p in way["parameters"] if p["in"] == "path"} == set(re.findall(r"{(\w+)}", path))


def test_a_response_has_all_its_fields_and_a_request_may_leave_some_out(components: dict[str, Any]) -> None:
    assert set(components["Memory"]["required"]) == set(Memory.model_fields)
    assert set(components["Hit"]["required"]) == set(Hit.model_fields)
    assert "version" not in components["MemoryInput"]["required"]
    assert components["RecallRecallRequest"]["required"] == ["query"]


def test_a_request_says_what_the_library_asks_of_a_value(components: dict[str, Any]) -> None:
    asked = components["RecallRecallRequest"]["properties"]
    assert asked["k"]["anyOf"][0] == {"type": "integer", "minimum": 1, "maximum": 1_000}
    assert asked["session"]["anyOf"][0]["pattern"] == NAME
    assert "default" not in components["ConfigurationChangeRequest"]["properties"]["recall_k"]
    assert components["GoalsMapStepRequest"]["properties"]["criteria"]["minItems"] == 1
    assert [name for name in ("Alice", "José 2", "a_b") if not re.search(NAME, name)] == []
    assert [name for name in ("", " ", "a ", "\ta", "a\x00b", "\x7f") if re.search(NAME, name)] == []


def test_what_is_asked_of_a_parameter_is_asked_of_one_that_there_is() -> None:
    offered = {operation.name: _parameters(operation) for operation in OPERATIONS}
    assert OF_ALL.keys() - set().union(*offered.values()) == set()
    assert [(name, OF_ONE[name].keys() - offered[name]) for name in OF_ONE if OF_ONE[name].keys() - offered[name]] == []


def _parameters(operation: Operation) -> set[str]:
    body = operation.body.model_fields if operation.body is not None else {}
    return {*operation.query.model_fields, *body}


async def test_what_is_required_is_really_there(http: httpx2.AsyncClient, components: dict[str, Any]) -> None:
    stored = (await http.post("/v1/agents/a/memories", json={"content": "Tea is green."})).json()
    assert set(stored) == set(components["Memory"]["required"])
    (hit,) = (await http.post("/v1/agents/a/recall", json={"query": "tea"})).json()["hits"]
    assert set(hit) == set(components["Hit"]["required"])
