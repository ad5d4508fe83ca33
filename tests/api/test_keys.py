"""A server that knows its callers by keys: what each may do, how fast, and what is noted."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI

from longmind import Longmind
from longmind.errors import StoreUnavailable
from longmind.security import AuditLog, Credentials, KeyAdministration, NewKey, Principal
from longmind.security.audit import verify
from longmind.server import ServerSettings, create_app
from longmind.server.rest.state import ServerState

SECRET = "xylophone"
RECALL = "/v1/agents/assistant/recall"


def keyed(store: Longmind, **settings: object) -> FastAPI:
    fields = {"auth": "keys", "consolidation": False, "key_cache_seconds": 0, **settings}
    return create_app(store, ServerSettings(**fields))  # type: ignore[arg-type]


@pytest.fixture
def app(store: Longmind) -> FastAPI:
    return keyed(store)


@pytest.fixture
def keys(app: FastAPI) -> KeyAdministration:
    state: ServerState = app.state.server
    return KeyAdministration(state.access, "default")


@pytest.fixture
async def anyone(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """A client from another machine."""
    transport = httpx2.ASGITransport(app, client=("203.0.113.7", 1))
    async with httpx2.AsyncClient(transport=transport, base_url="https://memory.example") as client:
        yield client


def by(key: NewKey) -> dict[str, str]:
    return {"Authorization": f"Bearer {key.key}"}


async def noted(app: FastAPI, tenant: str = "default") -> list[tuple[str, int, str | None]]:
    page = await AuditLog(app.state.server.access, tenant).list(limit=1000)
    return [(line.operation, line.status, line.key) for line in reversed(page.items)]


async def test_without_a_valid_key_nothing_is_answered(anyone: httpx2.AsyncClient, app: FastAPI) -> None:
    for header in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": f"Bearer lm_{'0' * 16}_{'A' * 43}"}):
        answer = await anyone.post(RECALL, json={"query": SECRET}, headers=header)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert await noted(app, "") == [("recall.recall", 401, None)] * 3


async def test_a_key_reaches_what_it_allows(anyone: httpx2.AsyncClient, keys: KeyAdministration, app: FastAPI) -> None:
    reader = await keys.create("reader", permissions=["read"], agents=["assistant"])
    writer = await keys.create("writer", permissions=["write"])
    admin = await keys.create("admin", permissions=["admin"])
    tried = [
        (reader, "POST", RECALL, {"query": SECRET}, 200),
        (reader, "POST", "/v1/agents/other/recall", {"query": SECRET}, 403),
        (reader, "GET", "/v1/agents", None, 403),
        (reader, "POST", "/v1/agents/assistant/memories", {"content": SECRET}, 403),
        (writer, "POST", "/v1/agents/assistant/memories", {"content": SECRET}, 201),
        (writer, "GET", "/v1/keys", None, 403),
        (writer, "GET", "/v1/audit", None, 403),
        (writer, "POST", RECALL + "?all_users=true", {"query": SECRET}, 403),
        (admin, "POST", RECALL + "?all_users=true", {"query": SECRET}, 200),
        (admin, "GET", "/v1/keys", None, 200),
    ]
    for key, method, path, body, status in tried:
        answer = await anyone.request(method, path, json=body, headers=by(key))
        assert (path, answer.status_code) == (path, status), answer.text
    assert [(status, key) for _, status, key in await noted(app)] == [(row[4], row[0].id) for row in tried]
    state: ServerState = app.state.server
    lines = [line async for line in state.access.lines(0)]
    assert (await verify(state.access.lines(0), await state.access.head())).ok
    assert not any(SECRET in line.text for line in lines)
    assert {line.parsed().address for line in lines} == {"203.0.113.7"}


async def test_keys_over_rest(anyone: httpx2.AsyncClient, keys: KeyAdministration) -> None:
    admin = await keys.create("admin", permissions=["admin"])
    created = await anyone.post("/v1/keys", json={"name": "phone", "permissions": ["read"]}, headers=by(admin))
    assert created.status_code == 201, created.text
    phone = NewKey.model_validate(created.json())
    assert (phone.created_by, phone.tenant) == (admin.id, "default")
    assert (await anyone.post(RECALL, json={"query": "x"}, headers=by(phone))).status_code == 200
    listed = (await anyone.get("/v1/keys", headers=by(admin))).json()["items"]
    assert [key["name"] for key in listed] == ["phone", "admin"]
    assert phone.key.rpartition("_")[2] not in str(listed)
    assert (await anyone.get(f"/v1/keys/{phone.id}", headers=by(admin))).json()["last_used_at"] is not None
    revoked = await anyone.delete(f"/v1/keys/{phone.id}", headers=by(admin))
    assert revoked.json()["revoked_at"] is not None
    assert (await anyone.post(RECALL, json={"query": "x"}, headers=by(phone))).status_code == 401
    assert (await anyone.delete("/v1/keys/none", headers=by(admin))).status_code == 404
    page = (await anyone.get("/v1/audit?limit=2&operation=keys.revoke", headers=by(admin))).json()
    assert [(line["operation"], line["status"]) for line in page["items"]] == [
        ("keys.revoke", 404),
        ("keys.revoke", 200),
    ]


async def test_what_cannot_be_noted_is_not_shown(
    anyone: httpx2.AsyncClient, keys: KeyAdministration, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await keys.create("writer")
    await anyone.post("/v1/agents/assistant/memories", json={"content": SECRET}, headers=by(key))

    async def full(events: object) -> None:
        raise StoreUnavailable("no space")

    monkeypatch.setattr(app.state.server.access, "append", full)
    answer = await anyone.post(RECALL, json={"query": SECRET}, headers=by(key))
    assert (answer.status_code, answer.json()["code"]) == (503, "store_unavailable")
    assert SECRET not in answer.text
    assert "retry-after" in answer.headers
    assert "x-request-id" in answer.headers


async def test_too_many_requests_of_a_key_are_told_when_to_come_again(store: Longmind) -> None:
    app = keyed(store, rate_per_second=0.01, rate_burst=3)
    keys = KeyAdministration(app.state.server.access, "default")
    busy, other = await keys.create("busy"), await keys.create("other")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        answers = [await client.post(RECALL, json={"query": "x"}, headers=by(busy)) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert answers[-1].json()["code"] == "rate_limited"
        assert 90 <= int(answers[-1].headers["retry-after"]) <= 101
        assert (await client.post(RECALL, json={"query": "x"}, headers=by(other))).status_code == 200
    assert [status for _, status, key in await noted(app) if key == busy.id] == [200, 200, 200, 429, 429]


async def test_an_address_that_guesses_keys_is_slowed_down(store: Longmind) -> None:
    app = keyed(store, failures_per_minute=4)
    key = await KeyAdministration(app.state.server.access, "default").create("good")

    async def ask(address: str, header: str) -> int:
        transport = httpx2.ASGITransport(app, client=(address, 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            answer = await client.post(RECALL, json={"query": "x"}, headers={"Authorization": header})
            return answer.status_code

    assert [await ask("203.0.113.7", "Bearer guess") for _ in range(6)] == [401, 401, 401, 401, 429, 429]
    assert await ask("203.0.113.8", f"Bearer {key.key}") == 200


async def test_a_server_of_one_tenant_refuses_the_keys_of_others(store: Longmind) -> None:
    app = keyed(store, single_tenant=True)
    key = await KeyAdministration(app.state.server.access, "other").create("x")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        assert (await client.post(RECALL, json={"query": "x"}, headers=by(key))).status_code == 403


async def test_a_token_of_one_user_reaches_this_user_only(store: Longmind) -> None:
    class OfAnn:
        async def authenticate(self, credentials: Credentials) -> Principal:
            return Principal(tenant="default", permissions=frozenset({"write"}), subject="s", user="ann")

    await store.agent("assistant", "bob").remember(f"Bob keeps a {SECRET}.")
    app = create_app(store, ServerSettings(auth="keys", consolidation=False), authenticator=OfAnn())
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        stored = await client.post("/v1/agents/assistant/memories", json={"content": "Ann likes tea."})
        assert stored.json()["user"] == "ann"
        for path, status in (("", 200), ("?user=ann", 200), ("?user=bob", 403), ("?all_users=true", 403)):
            answer = await client.post(RECALL + path, json={"query": SECRET})
            assert (path, answer.status_code) == (path, status)
            assert "Bob" not in answer.text
        assert (await client.get("/v1/agents")).status_code == 403
    lines = (await AuditLog(app.state.server.access, "default").list()).items
    assert {(line.subject, line.key) for line in lines} == {("s", None)}
    assert {line.user for line in lines if line.status == 200} == {"ann"}
