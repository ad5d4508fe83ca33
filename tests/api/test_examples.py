"""The example of every operation, sent once to a live server: none is refused for its form, and none fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from longmind.operations import OPERATIONS, Operation

ID = "00000000-0000-7000-8000-000000000000"
IN_PATH = {"agent": "assistant", "conversation": "c1", "user": "alice", "name": "greet", "key": "k1", "label": "stable"}
REQUIRED: dict[str, Any] = {"key": "k1", "keys": ["k1"], "which": ID, "moment": "2026-05-01T08:00:00Z"}
OK = {200, 201, 204, 404, 409}
"""Done, or there is nothing yet to do it with."""
NO_END = ("memories.changes",)
SENT = [operation for operation in OPERATIONS if operation.name not in NO_END and not operation.face.of_server]


@pytest.fixture
async def live(address: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


def request(operation: Operation) -> dict[str, Any]:
    path = "/v1" + operation.path.format(**{name: IN_PATH.get(name, ID) for name in operation.path_names})
    needed = [name for name, field in operation.query.model_fields.items() if field.is_required()]
    query = {name: REQUIRED[name] for name in needed}
    body = None if operation.body is None else dict(operation.example or {})
    return {"method": operation.http, "url": path, "params": query, "json": body}


async def test_every_example_is_answered(live: httpx2.AsyncClient) -> None:
    answers = {operation.name: await live.request(**request(operation)) for operation in SENT}
    refused = {
        name: f"{a.status_code} {a.json()['detail'][:100]}" for name, a in answers.items() if a.status_code not in OK
    }
    assert not refused, "\n".join(f"{name}: {why}" for name, why in refused.items())
    done = [name for name, answer in answers.items() if answer.is_success]
    assert len(done) > len(SENT) / 2
