"""The table of operations: complete, consistent, and documented."""

from __future__ import annotations

import inspect
import re

import httpx2
import pytest

from longmind.client.faces import BUILT_ON_OTHERS
from longmind.operations import FACES, OPERATIONS, Operation, operations_of

NOT_OFFERED = {
    **dict.fromkeys(
        ["Longmind.agent", "Longmind.jobs", "Longmind.shared"], "they only name what other operations are about"
    ),
    **dict.fromkeys(
        ["AgentMemory.conversation", "AgentMemory.tools", "WorkingMemory.session"],
        "they only name what others are about",
    ),
    **dict.fromkeys(["Longmind.close", "Longmind.count_reads"], "the server's own matter"),
    **dict.fromkeys(["Longmind.register", "MemoryManager.register", "MemoryManager.unregister"], "take an object"),
    **dict.fromkeys(["AgentMemory.chat", "Longmind.recaller", "Longmind.span_reader"], "of this process"),
    "GoalMemory.with_resources": "of this process",
    "DialogueMemory.promote": "takes a function",
    **{
        f"Agent.{name}": "of an agent in this process; over HTTP it is asked for a whole answer"
        for name in ("act", "close", "decides", "perceive", "pursue", "step", "stream", "think", "tools_from_mcp")
    },
    **dict.fromkeys(["Longmind.check", "Longmind.reembed", "Longmind.scrub"], "of a whole store, not of a tenant"),
}
"""Methods of the faces that cannot be offered over HTTP, and why."""


def methods() -> list[str]:
    found = []
    for face in FACES:
        for name in dir(face.cls):
            member = inspect.getattr_static(face.cls, name)
            if not name.startswith("_") and inspect.isfunction(member) and not operations_of(face.cls, name):
                found.append(f"{face.cls.__name__}.{name}")
    return found


def test_every_method_of_the_faces_is_offered_or_listed() -> None:
    assert set(methods()) - BUILT_ON_OTHERS == set(NOT_OFFERED)


def test_names_and_places_are_unique() -> None:
    assert len({operation.name for operation in OPERATIONS}) == len(OPERATIONS)
    places = [(operation.http, re.sub(r"{\w+}", "{}", operation.path)) for operation in OPERATIONS]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize("operation", OPERATIONS, ids=[operation.name for operation in OPERATIONS])
def test_an_operation_says_what_it_takes_and_returns(operation: Operation) -> None:
    assert set(operation.path_names) <= {*operation.parameters, *operation.face.names()}
    assert operation.documentation
    assert operation.query.model_config["extra"] == "forbid"
    if operation.body is not None and operation.body_required:
        assert operation.example is not None, "a request that needs a body has an example"
    if operation.body is not None and operation.example is not None:
        operation.body.model_validate(operation.example)
    assert not {"tenant", "across_tenants", "scopes"} & set(operation.parameters), "the tenant is that of the key"
    if operation.http == "GET":
        assert operation.permission in ("read", "admin")
    for parameter in (operation.idempotency, operation.expected_version, operation.resume):
        assert parameter is None or parameter in operation.parameters


async def test_an_earlier_path_does_not_hide_a_later_one(http: httpx2.AsyncClient) -> None:
    router = http._transport.app.router  # type: ignore[attr-defined]
    for operation in OPERATIONS:
        path = "/v1" + re.sub(r"{\w+}", "x", operation.path)
        scope = {"type": "http", "method": operation.http, "path": path, "root_path": ""}
        matching = [route.name for route in router.routes if route.matches(scope)[0].name == "FULL"]
        assert matching[0] == operation.name


async def test_the_document_describes_every_operation(http: httpx2.AsyncClient) -> None:
    document = (await http.get("/v1/openapi.json")).json()
    described = {way["operationId"] for path in document["paths"].values() for way in path.values()}
    assert described == {operation.name for operation in OPERATIONS}
    wanted = set(re.findall(r'"#/components/schemas/([^"]+)"', (await http.get("/v1/openapi.json")).text))
    assert wanted <= set(document["components"]["schemas"])
