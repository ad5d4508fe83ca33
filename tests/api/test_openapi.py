"""The OpenAPI document: complete in itself, and exact about responses."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest

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


async def test_what_is_required_is_really_there(http: httpx2.AsyncClient, components: dict[str, Any]) -> None:
    stored = (await http.post("/v1/agents/a/memories", json={"content": "Tea is green."})).json()
    assert set(stored) == set(components["Memory"]["required"])
    (hit,) = (await http.post("/v1/agents/a/recall", json={"query": "tea"})).json()["hits"]
    assert set(hit) == set(components["Hit"]["required"])
