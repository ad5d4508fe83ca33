"""The routes of mem0's server: the same requests, and only what a key may reach."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from longmind import Longmind
from longmind.security import Credentials, Principal
from longmind.server import ServerSettings, create_app

BASE = "http://localhost"
TEA = {"messages": [{"role": "user", "content": "I like green tea."}], "user_id": "alice", "metadata": {"topic": "tea"}}


@pytest.fixture
async def mem0(store: Longmind) -> AsyncIterator[httpx2.AsyncClient]:
    app = create_app(store, ServerSettings(consolidation=False, mem0=True))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE) as client:
        yield client


async def _added(client: httpx2.AsyncClient, **changes: Any) -> str:
    response = await client.post("/memories", json={**TEA, **changes})
    assert response.status_code == 200, response.text
    return str(response.json()["results"][0]["id"])


async def test_a_memory_lives_from_add_to_delete(mem0: httpx2.AsyncClient) -> None:
    id = await _added(mem0)
    item = (await mem0.get(f"/memories/{id}")).json()
    assert (item["memory"], item["user_id"], item["metadata"]) == ("I like green tea.", "alice", {"topic": "tea"})
    assert [found["id"] for found in (await mem0.get("/memories", params={"user_id": "alice"})).json()["results"]] == [
        id
    ]
    for search in ({"user_id": "alice"}, {"filters": {"user_id": "alice", "topic": "tea"}}):
        found = (await mem0.post("/search", json={"query": "green tea", "threshold": 0.0, **search})).json()["results"]
        assert [hit["id"] for hit in found] == [id]
        assert found[0]["score"] > 0
    changed = await mem0.put(f"/memories/{id}", json={"text": "I like black tea.", "metadata": {"topic": "drinks"}})
    assert changed.json() == {"message": "Memory updated successfully!"}
    assert (await mem0.get(f"/memories/{id}")).json()["memory"] == "I like black tea."
    assert [row["event"] for row in (await mem0.get(f"/memories/{id}/history")).json()] == ["ADD", "UPDATE"]
    assert (await mem0.delete(f"/memories/{id}")).json() == {"message": "Memory deleted successfully"}
    assert (await mem0.get(f"/memories/{id}")).status_code == 404
    assert (await mem0.get(f"/memories/{id}/history")).json()[-1]["is_deleted"] is True


async def test_many_are_deleted_by_id_and_all_by_reset(mem0: httpx2.AsyncClient) -> None:
    await _added(mem0)
    await _added(mem0, user_id="bob")
    deleted = await mem0.delete("/memories", params={"user_id": "alice"})
    assert deleted.json() == {"message": "All relevant memories deleted"}
    assert (await mem0.get("/memories", params={"user_id": "alice"})).json() == {"results": []}
    assert len((await mem0.get("/memories", params={"user_id": "bob"})).json()["results"]) == 1
    assert (await mem0.post("/reset")).json() == {"message": "All memories reset"}
    assert (await mem0.get("/memories", params={"user_id": "bob"})).json() == {"results": []}


async def test_what_is_wrong_is_told_as_that_server_does(mem0: httpx2.AsyncClient) -> None:
    needed = {"detail": "At least one identifier (user_id, agent_id, run_id) is required."}
    for response in (
        await mem0.post("/memories", json={"messages": TEA["messages"]}),
        await mem0.get("/memories"),
        await mem0.delete("/memories"),
    ):
        assert (response.status_code, response.json()) == (400, needed)
    assert (await mem0.post("/memories", json={"user_id": "alice"})).status_code == 422
    assert (await mem0.post("/memories", content=b"{")).status_code == 422
    assert (await mem0.post("/search", json={"query": " ", "user_id": "alice"})).status_code == 400
    assert (await mem0.put("/memories/no-such-id", json={"text": "x"})).status_code == 404
    assert (await mem0.delete("/memories/no-such-id")).status_code == 404


async def test_the_routes_are_not_there_unless_asked_for(http: httpx2.AsyncClient) -> None:
    assert (await http.post("/memories", json=TEA)).status_code == 404
    assert "/memories" not in (await http.get("/v1/openapi.json")).json()["paths"]


class _As:
    """Everyone is this principal."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal

    async def authenticate(self, credentials: Credentials) -> Principal:
        return self._principal


def _client(store: Longmind, **principal: Any) -> httpx2.AsyncClient:
    known = Principal(tenant=store.settings.tenant, **principal)
    app = create_app(store, ServerSettings(consolidation=False, mem0=True), authenticator=_As(known))
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE)


async def test_a_key_is_also_given_as_mem0s_programs_do(store: Longmind) -> None:
    stated: list[str | None] = []

    class Observed(_As):
        async def authenticate(self, credentials: Credentials) -> Principal:
            stated.append(credentials.authorization)
            return await super().authenticate(credentials)

    known = Observed(Principal(tenant=store.settings.tenant, permissions=frozenset({"read"})))
    app = create_app(store, ServerSettings(consolidation=False, mem0=True), authenticator=known)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE) as client:
        for headers in ({"X-API-Key": "k"}, {"X-API-Key": "k", "Authorization": "Bearer other"}, {}):
            await client.get("/memories", params={"user_id": "alice"}, headers=headers)
    assert stated == ["Bearer k", "Bearer other", None]


async def test_a_key_reaches_what_it_may_and_no_more(store: Longmind, mem0: httpx2.AsyncClient) -> None:
    alices, bobs = await _added(mem0), await _added(mem0, user_id="bob", agent_id="cook")
    async with _client(store, permissions=frozenset({"read"})) as reader:
        assert (await reader.get("/memories", params={"user_id": "alice"})).status_code == 200
        assert (await reader.post("/memories", json=TEA)).status_code == 403
        for request in (f"/memories/{alices}", "/memories?agent_id=cook", f"/memories/{alices}/history"):
            assert (await reader.get(request)).status_code == 403, "every user's memories need admin"
    async with _client(store, permissions=frozenset({"write"}), user="alice") as alice:
        assert (await alice.get(f"/memories/{alices}")).status_code == 200
        assert (await alice.get(f"/memories/{bobs}")).status_code == 404
        assert (await alice.get("/memories?agent_id=cook")).json() == {"results": []}
        assert (await alice.get("/memories", params={"user_id": "bob"})).status_code == 403
        assert (await alice.post("/memories", json={**TEA, "user_id": "bob"})).status_code == 403
        assert (await alice.delete(f"/memories/{bobs}")).status_code == 404
        assert (await alice.post("/reset")).status_code == 403
    async with _client(store, permissions=frozenset({"admin"}), agents=frozenset({"other"})) as other:
        assert (await other.get("/memories", params={"user_id": "alice"})).status_code == 403
    assert (await mem0.get(f"/memories/{bobs}")).status_code == 200
