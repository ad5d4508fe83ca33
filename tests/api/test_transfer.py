"""Export, import and erasure over HTTP, and requests that take too long."""

from __future__ import annotations

import asyncio

import httpx2
import pytest
from fastapi import FastAPI

from longmind import Longmind
from longmind.server import ServerSettings, create_app

BASE = "http://localhost"


async def test_what_was_exported_is_imported_again(remote: Longmind, store: Longmind) -> None:
    stored = await remote.agent("assistant", "alice").remember("I live in Lisbon.")
    lines = [line async for line in remote.export()]
    async with Longmind.open("memory:", settings=store.settings, embedder="none") as other:
        transport = httpx2.ASGITransport(create_app(other, ServerSettings(consolidation=False)))
        async with httpx2.AsyncClient(transport=transport, base_url=BASE) as http:
            answer = await http.post("/v1/import", json={"lines": lines})
            assert answer.status_code == 200, answer.text
            found = (await http.get(f"/v1/agents/assistant/memories/{stored.id}?user=alice")).json()
    assert found["content"] == "I live in Lisbon."


@pytest.mark.parametrize("what", ["users/alice", "agents/assistant", "tenant"])
async def test_what_is_erased_is_gone_and_the_receipt_proves_it(
    http: httpx2.AsyncClient, remote: Longmind, what: str
) -> None:
    mem = remote.agent("assistant", "alice")
    await mem.remember("I live in Lisbon.")
    kept = await remote.agent("other", "bob").remember("I live in Porto.")
    receipt = await http.post(f"/v1/erasure/{what}")
    assert receipt.status_code == 200, receipt.text
    assert (await mem.list()).items == ()
    assert (await remote.agent("other", "bob").get(kept.id) is None) == (what == "tenant")
    check = (await http.post("/v1/erasure/verify", json={"receipt": receipt.json()})).json()
    assert check["ok"] is True


async def test_a_request_that_takes_too_long_is_told_so(store: Longmind) -> None:
    entered = asyncio.Event()

    @store.tools.tool
    async def wait() -> None:
        """Wait for ever."""
        entered.set()
        await asyncio.Event().wait()

    await store.agent("assistant").procedural.store(
        {"name": "waits", "purpose": "Wait.", "steps": [{"name": "a", "use": "wait"}]}
    )
    app: FastAPI = create_app(store, ServerSettings(consolidation=False, request_seconds=0.5))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE) as http:
        answer = await http.post("/v1/agents/assistant/procedures/waits/runs", json={})
        assert entered.is_set()
        assert (answer.status_code, answer.json()["code"]) == (504, "timed_out")
        assert (await http.get("/v1/agents/assistant/procedures/waits")).status_code == 200
