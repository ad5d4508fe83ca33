"""``/mcp`` of the server: who may reach which memory, and the limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import httpx2
import pytest
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from longmind import Longmind
from longmind.errors import Unauthenticated
from longmind.security import Credentials, Principal
from longmind.server import ServerSettings, create_app
from longmind.server.listening import address_of, listen
from longmind.server.rest.state import Access
from longmind.server.serve import run

_HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


class Keys:
    """Knows some keys, as an authenticator of a real deployment does."""

    principals: ClassVar = {
        "Bearer reader": Principal(tenant="one", permissions=frozenset({"read"})),
        "Bearer writer": Principal(tenant="one", permissions=frozenset({"write"})),
        "Bearer other": Principal(tenant="two", permissions=frozenset({"admin"})),
        "Bearer single": Principal(tenant="one", permissions=frozenset({"write"}), agents=frozenset({"clerk"})),
    }

    async def authenticate(self, credentials: Credentials) -> Principal:
        principal = self.principals.get(credentials.authorization or "")
        if principal is None:
            raise Unauthenticated
        return principal


@asynccontextmanager
async def _serving(app: FastAPI) -> AsyncIterator[str]:
    started, stop = asyncio.Event(), asyncio.Event()
    with listen("127.0.0.1", 0, ServerSettings()) as listening:
        serving = asyncio.create_task(run(app, listening, started.set, stop))
        await started.wait()
        try:
            yield f"{address_of(listening)}/mcp"
        finally:
            stop.set()
            await serving


@asynccontextmanager
async def _client(url: str, key: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


@pytest.fixture
async def keyed(tmp_path: Any) -> AsyncIterator[tuple[str, list[Access]]]:
    """A server that asks for keys, and what its observers saw."""
    seen: list[Access] = []

    async def observe(access: Access) -> None:
        seen.append(access)

    url = f"sqlite:///{tmp_path}/store.db"
    app = create_app(url, ServerSettings(consolidation=False), authenticator=Keys())
    app.state.server.observers.append(observe)
    async with _serving(app) as address:
        yield address, seen


async def test_the_tenant_comes_from_the_key(keyed: tuple[str, list[Access]]) -> None:
    address, seen = keyed
    async with _client(f"{address}?agent=clerk", "writer") as client:
        await client.call_tool("remember", {"content": "The word is heron."})
    async with _client(f"{address}?agent=clerk", "reader") as client:
        same = await client.call_tool("recall", {"query": "heron"})
    async with _client(f"{address}?agent=clerk", "other") as client:
        foreign = await client.call_tool("recall", {"query": "heron"})
    assert len(same.structured_content["hits"]) == 1
    assert foreign.structured_content["hits"] == []
    told = [(a.operation, a.agent, a.principal.tenant) for a in seen if a.principal and a.operation != "mcp"]
    assert told == [
        ("mcp.remember", "clerk", "one"),
        ("mcp.recall", "clerk", "one"),
        ("mcp.recall", "clerk", "two"),
    ]


async def test_a_key_that_reads_does_not_write(keyed: tuple[str, list[Access]]) -> None:
    async with _client(f"{keyed[0]}?agent=clerk", "reader") as client:
        refused = await client.call_tool("remember", {"content": "x"})
        graph = await client.call_tool(
            "create_entities", {"entities": [{"name": "a", "entityType": "b", "observations": []}]}
        )
        read = await client.call_tool("read_graph", {})
    assert [access.error for access in keyed[1] if access.operation == "mcp.remember"] == ["forbidden"]
    assert refused.is_error
    assert refused.content[0].text == "This key does not allow to write. Use a key with more permissions."
    assert graph.is_error
    assert read.structured_content == {"entities": [], "relations": []}


async def test_a_key_of_one_agent_means_that_agent(keyed: tuple[str, list[Access]]) -> None:
    address, _ = keyed
    async with _client(address, "single") as client:
        await client.call_tool("remember", {"content": "The word is heron."})
    async with _client(f"{address}?agent=clerk", "reader") as client:
        hits = await client.call_tool("recall", {"query": "heron"})
    assert len(hits.structured_content["hits"]) == 1
    async with httpx2.AsyncClient(headers={**_HEADERS, "Authorization": "Bearer single"}) as http:
        assert (await http.post(f"{address}?agent=other", json=_LIST)).status_code == 403


async def test_without_a_known_key_nothing_is_answered(keyed: tuple[str, list[Access]]) -> None:
    async with httpx2.AsyncClient(headers=_HEADERS) as http:
        for headers in ({}, {"Authorization": "Bearer unknown"}):
            answer = await http.post(keyed[0], json=_LIST, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
async def test_a_foreign_page_cannot_reach_a_server_without_keys(address: str, headers: dict[str, str]) -> None:
    async with httpx2.AsyncClient(headers={**_HEADERS, **headers}) as http:
        assert (await http.post(f"{address}/mcp", json=_LIST)).status_code in (401, 403)


@pytest.mark.parametrize("query", ["agnt=a", "agent=a&agent=b", "agent=", "all_users=true"])
async def test_a_query_that_is_not_known_is_refused(address: str, query: str) -> None:
    async with httpx2.AsyncClient(headers=_HEADERS) as http:
        assert (await http.post(f"{address}/mcp?{query}", json=_LIST)).status_code == 422


async def test_there_is_no_stream_and_no_session(address: str) -> None:
    async with httpx2.AsyncClient(headers=_HEADERS) as http:
        for method in ("GET", "DELETE"):
            answer = await http.request(method, f"{address}/mcp")
            assert answer.status_code == 405
            assert answer.headers["allow"] == "POST"


async def test_a_body_that_is_too_large_is_refused(store: Longmind) -> None:
    app = create_app(store, ServerSettings(consolidation=False, body_bytes=2_000))
    async with _serving(app) as address, httpx2.AsyncClient(headers=_HEADERS) as http:
        answer = await http.post(address, json={**_LIST, "params": {"text": "x" * 3_000}})
        assert answer.status_code == 413


async def test_a_call_that_takes_too_long_is_told(tmp_path: Any) -> None:
    app = create_app(f"sqlite:///{tmp_path}/store.db", ServerSettings(consolidation=False, request_seconds=1e-9))
    async with _serving(app) as address, Client(streamable_http_client(address)) as client:
        late = await client.call_tool("remember", {"content": "The word is heron."})
    assert late.is_error
    assert "took longer" in late.content[0].text
