"""What every request has in common: errors, limits, who may, and what is told of it."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import ClassVar

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from longmind import Longmind
from longmind.errors import InvalidInput, Unauthenticated
from longmind.security import Credentials, Principal
from longmind.server import ServerSettings, create_app
from longmind.server.rest.state import Access

SECRET = "xylophone"
RECALL = "/v1/agents/assistant/recall"


def client(app: FastAPI, base: str = "http://localhost", address: str = "127.0.0.1") -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app, client=(address, 1)), base_url=base)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": SECRET, "k": SECRET}, "k"),
        ({"query": SECRET, "limit": 3}, "limit"),
        ({"query": 3}, "query"),
        ({"query": SECRET, "where": {"kinds": SECRET}}, "where.kinds"),
        ({}, "query"),
        ([SECRET], ""),
    ],
)
async def test_an_invalid_body_is_a_problem_without_its_text(
    http: httpx2.AsyncClient, body: object, field: str
) -> None:
    answer = await http.post(RECALL, json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["details"]["field"] == field
    assert SECRET not in answer.text


async def test_what_is_no_json_is_a_problem(http: httpx2.AsyncClient) -> None:
    for content, media in (
        (b"{", "application/json"),
        (b'{"query": "x"}', "text/plain"),
        (b"\xff", "application/json"),
    ):
        answer = await http.post(RECALL, content=content, headers={"Content-Type": media})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/agents/assistant/memories/00000000-0000-7000-8000-000000000000", 404, "not_found"),
        ("GET", "/v1/agents/assistant/memories?colour=red", 422, "invalid_input"),
        ("GET", "/v1/agents/assistant/memories?limit=1&limit=2", 422, "invalid_input"),
        ("GET", "/v1/agents/assistant/memories?limit=0", 422, "invalid_input"),
        ("GET", "/v1/agents/%40shared/memories", 422, "invalid_input"),
        ("GET", "/v1/agents/assistant/memories?user=", 422, "invalid_input"),
        ("GET", "/v1/agents/assistant/memories?user=alice&all_users=true", 422, "invalid_input"),
        ("GET", "/v1/nothing", 404, "not_found"),
        ("PUT", "/v1/agents/assistant/memories", 405, "invalid_input"),
        ("DELETE", "/v1/agents/assistant/memories/00000000-0000-7000-8000-000000000000", 404, "not_found"),
    ],
)
async def test_errors_are_problems(http: httpx2.AsyncClient, method: str, path: str, status: int, code: str) -> None:
    answer = await http.request(method, path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("memories", {"POST", "GET"}),
        ("memories/00000000-0000-7000-8000-000000000000", {"GET", "PATCH", "DELETE"}),
        ("memories/forget", {"POST"}),
    ],
)
async def test_a_wrong_http_method_is_told_the_right_ones(
    http: httpx2.AsyncClient, path: str, methods: set[str]
) -> None:
    answer = await http.options(f"/v1/agents/assistant/{path}")
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == methods


async def test_an_empty_value_asks_for_none_where_leaving_it_out_does_not(remote: Longmind) -> None:
    assert await remote.shared().list(None) == await remote.shared().list()
    await remote.agent("assistant").shared.propose("The office closes at six on Fridays.")
    assert [item.status for item in await remote.shared().list(None)] == ["pending"]


async def test_a_memory_of_another_user_is_one_that_never_was(http: httpx2.AsyncClient) -> None:
    memories = "/v1/agents/assistant/memories"
    stored = (await http.post(memories, params={"user": "alice"}, json={"content": "Tea."})).json()
    foreign = await http.get(f"{memories}/{stored['id']}", params={"user": "bob"})
    unknown = await http.get(f"{memories}/00000000-0000-7000-8000-000000000000", params={"user": "bob"})
    assert foreign.status_code == 404
    assert foreign.json() == unknown.json()


async def test_a_body_that_is_too_large_is_refused(store: Longmind) -> None:
    app = create_app(store, ServerSettings(consolidation=False, body_bytes=1000))
    async with client(app) as http:
        whole = await http.post(RECALL, json={"query": "x" * 2000})

        async def parts():  # type: ignore[no-untyped-def]
            for _ in range(20):
                yield b"x" * 100

        in_parts = await http.post(RECALL, content=parts(), headers={"Content-Type": "application/json"})
    assert (whole.status_code, whole.json()["code"]) == (413, "limit_exceeded")
    assert (in_parts.status_code, in_parts.json()["code"]) == (413, "limit_exceeded")


async def test_without_a_key_only_this_machine_is_answered(app: FastAPI) -> None:
    async with client(app, address="192.0.2.1") as http:
        assert (await http.get("/v1/agents")).status_code == 401
    async with client(app, base="http://rebound.example") as http:
        assert (await http.get("/v1/agents")).status_code == 401
    async with client(app) as http:
        page = await http.get("/v1/agents", headers={"Origin": "https://page.example"})
        assert (page.status_code, page.headers["www-authenticate"]) == (401, "Bearer")
        assert (await http.get("/v1/agents", headers={"Origin": "http://localhost:3000"})).status_code == 200


class Keys:
    """An authenticator with three keys."""

    KEYS: ClassVar = {
        "Bearer reader": Principal(tenant="default", permissions=frozenset({"read"}), key_id="r"),
        "Bearer writer": Principal(tenant="default", permissions=frozenset({"write"}), agents=frozenset({"a"})),
        "Bearer other": Principal(tenant="other", permissions=frozenset({"admin"})),
    }

    async def authenticate(self, credentials: Credentials) -> Principal:
        if credentials.authorization not in self.KEYS:
            raise Unauthenticated
        return self.KEYS[credentials.authorization]


async def test_a_key_allows_what_it_allows(store: Longmind) -> None:
    app = create_app(store, ServerSettings(consolidation=False), authenticator=Keys())
    reader, writer = {"Authorization": "Bearer reader"}, {"Authorization": "Bearer writer"}
    tea = {"content": "Tea."}
    async with client(app) as http:
        assert (await http.post("/v1/agents/a/memories", json=tea)).status_code == 401
        assert (await http.post("/v1/agents/a/memories", json=tea, headers=reader)).status_code == 403
        assert (await http.post("/v1/agents/a/memories", json=tea, headers=writer)).status_code == 201
        assert (await http.post("/v1/agents/b/memories", json=tea, headers=writer)).status_code == 403
        assert (await http.get("/v1/agents/a/memories", headers=reader)).status_code == 200
        everyone = {"all_users": "true"}
        assert (await http.get("/v1/agents/a/memories", params=everyone, headers=reader)).status_code == 403
        other = {"Authorization": "Bearer other"}
        assert (await http.get("/v1/agents/a/memories", headers=other)).json()["items"] == []
        assert (await http.get("/v1/agents", headers=other)).json()["items"] == []


async def test_each_request_is_logged_counted_and_observed_without_its_text(
    app: FastAPI, http: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Access] = []

    async def observe(access: Access) -> None:
        seen.append(access)

    app.state.server.observers.append(observe)
    with caplog.at_level(logging.INFO, "longmind.server"):
        await http.post(RECALL, json={"query": SECRET}, headers={"X-Request-ID": "r-1"})
    lines = [record.access for record in caplog.records if record.name == "longmind.server.access"]  # type: ignore[attr-defined]
    assert [(line["operation"], line["status"], line["request_id"]) for line in lines] == [
        ("recall.recall", 200, "r-1")
    ]
    assert SECRET not in json.dumps(lines)
    assert [(access.operation, access.agent, access.status) for access in seen] == [("recall.recall", "assistant", 200)]
    figures = (await http.get("/metrics")).text
    assert 'longmind_requests_total{operation="recall.recall",status="200"} 1.0' in figures


async def test_a_fault_is_a_problem_that_tells_nothing(
    http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("longmind.agent_memory.AgentMemory.recall", fail)
    answer = await http.post(RECALL, json={"query": SECRET})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert any("recall.recall" in record.message for record in caplog.records)


async def test_health_and_readiness(http: httpx2.AsyncClient, app: FastAPI) -> None:
    assert (await http.get("/healthz")).json() == {"status": "ok"}
    assert (await http.get("/readyz")).json() == {"status": "ready"}
    app.state.server.stopping.set()
    stopping = await http.get("/readyz")
    assert (stopping.status_code, stopping.headers["retry-after"]) == (503, "2")


async def test_the_figures_are_for_the_operator(store: Longmind) -> None:
    """Whoever comes from elsewhere, or through a proxy, sees no figures, whatever key of a tenant they have."""
    for settings, address, host, key, status in (
        (ServerSettings(), "127.0.0.1", "localhost", "", 200),
        (ServerSettings(), "203.0.113.7", "localhost", "", 401),
        (ServerSettings(), "127.0.0.1", "memory.example.com", "", 401),
        (ServerSettings(metrics_key=SecretStr("figures")), "203.0.113.7", "memory.example.com", "figures", 200),
        (ServerSettings(metrics_key=SecretStr("figures")), "127.0.0.1", "localhost", "other", 401),
    ):
        app = create_app(store, settings.model_copy(update={"consolidation": False}))
        transport = httpx2.ASGITransport(app, client=(address, 1))
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://{host}", headers=headers) as http:
            assert (await http.get("/metrics")).status_code == status
            assert (await http.get("/healthz")).status_code == 200
            assert (await http.get("/readyz")).json() == {"status": "ready"}


async def test_readiness_does_not_tell_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_text("no store" * 1_000)
    app = create_app(str(tmp_path / "memory.db"), ServerSettings(consolidation=False))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as http:
        answer = await http.get("/readyz")
    assert answer.status_code == 503
    assert str(tmp_path) not in answer.text


@pytest.mark.parametrize("moment", ["0.5", "1700000000", "1e9", "inf"])
async def test_a_number_is_no_time(http: httpx2.AsyncClient, moment: str) -> None:
    answer = await http.get("/v1/agents/assistant/episodes", params={"until": moment})
    assert (answer.status_code, answer.json()["details"]["field"]) == (422, "until")


@pytest.mark.parametrize("where", [{"kindz": ["note"]}, {"metadata": 5}, {"kindz": 1, "metadata": 5}])
async def test_a_filter_is_refused_as_by_the_library(
    store: Longmind, remote: Longmind, where: dict[str, object]
) -> None:
    said = []
    for longmind in (store, remote):
        with pytest.raises(InvalidInput) as refused:
            await longmind.agent("assistant").recall("tea", where=where)
        said.append(refused.value)
    assert said[0].hint == said[1].hint
    assert said[0].message.replace("a valid dictionary", "an object") == said[1].message


@pytest.mark.parametrize("value", [object(), b"bytes", {1: 2}, float("nan")])
async def test_a_variable_is_refused_as_by_the_library(store: Longmind, remote: Longmind, value: object) -> None:
    said = []
    for longmind in (store, remote):
        with pytest.raises(InvalidInput) as refused:
            await longmind.agent("assistant").working.set("odd", value)
        said.append(refused.value.message)
        with pytest.raises(InvalidInput):
            await longmind.agent("assistant").working.begin_task("task", variables={"odd": value})
    assert said[0] == said[1]
