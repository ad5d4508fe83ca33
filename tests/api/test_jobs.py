"""Jobs and the state of consolidation over REST and the remote faces, with a real worker."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from tests.unit.worker.troubled import TEA, TroubledStore

from longmind import Longmind, Settings
from longmind.client import RemoteLongmind
from longmind.errors import Conflict, NotFound
from longmind.security import Credentials, Permission, Principal
from longmind.server import ServerSettings, create_app
from longmind.store.open import tenant_url
from longmind.types import Scope
from longmind.worker import ConsolidationService, Jobs, Worker, WorkerOptions

BASE = "http://localhost"
OPTIONS = WorkerOptions(poll_seconds=0.05, attempts=2, wait_seconds=0, name="w")


class Named:
    """Takes the word behind ``Bearer`` for the tenant and a permission: ``acme/read``."""

    async def authenticate(self, credentials: Credentials) -> Principal:
        tenant, _, permission = (credentials.authorization or "").removeprefix("Bearer ").partition("/")
        permissions: frozenset[Permission] = frozenset({permission or "admin"})  # type: ignore[arg-type]
        return Principal(tenant=tenant or "default", permissions=permissions)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return str(request.getfixturevalue("fresh_postgres_url"))


@pytest.fixture
async def troubled(url: str) -> AsyncIterator[TroubledStore]:
    opened = TroubledStore.open(url, settings=Settings.load({"LONGMIND_EMBEDDER": "none"}))
    assert isinstance(opened, TroubledStore)
    async with opened:
        yield opened


@pytest.fixture
async def app_of_file(troubled: TroubledStore) -> AsyncIterator[FastAPI]:
    app = create_app(troubled, ServerSettings(consolidation=False), authenticator=Named())
    yield app
    await app.state.server.tenants.close()


@asynccontextmanager
async def client(app: FastAPI, key: str = "default") -> AsyncIterator[httpx2.AsyncClient]:
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE, headers=headers) as http:
        yield http


def remote_of(app: FastAPI, key: str = "default") -> Any:
    store = app.state.server.tenants._given
    return RemoteLongmind(BASE, key, store.settings, store.clock, transport=httpx2.ASGITransport(app))


async def ask(url: str, *scopes: Scope) -> list[str]:
    async with await Jobs.open(url) as jobs:
        return [(await jobs.ask(scope))[0] for scope in scopes]


def whose(agent: str, tenant: str = "default") -> Scope:
    return Scope(tenant=tenant, agent=agent, all_users=True)


async def test_a_store_without_a_queue_says_so(app: FastAPI, store: Longmind, http: httpx2.AsyncClient) -> None:
    assert (await http.get("/v1/consolidation")).json() == {"service": None, "queue": None}
    assert (await http.get("/v1/jobs")).json() == {"items": [], "cursor": None}
    assert (await http.get("/v1/jobs/x")).status_code == 404
    assert (await http.post("/v1/agents/a/jobs")).status_code == 409
    await store.agent("a").remember("I like green tea.")
    await store.agent("b", tenant="acme").remember("I like black tea.")
    async with ConsolidationService(store) as service:
        await service.run_now()
        told = (await http.get("/v1/consolidation")).json()
    assert told["queue"] is None
    assert told["service"]["running"] is True
    last = told["service"]["last"]
    assert (last["consolidated"] + last["unchanged"], last["failures"]) == (1, [])
    assert (await http.get("/v1/consolidation")).json()["service"] is None, "the service has stopped"


async def test_jobs_are_listed_page_by_page_and_by_state(app_of_file: FastAPI, url: str) -> None:
    ids = await ask(url, *(whose(f"a{n}") for n in range(5)), whose("a0", "acme"))
    mine = ids[:5]
    async with client(app_of_file) as http:
        seen, cursor = [], None
        while True:
            query = {"limit": 2} if cursor is None else {"limit": 2, "cursor": cursor}
            page = (await http.get("/v1/jobs", params=query)).json()
            assert len(page["items"]) <= 2
            seen += [job["id"] for job in page["items"]]
            cursor = page["cursor"]
            if cursor is None:
                break
        assert sorted(seen) == sorted(mine)
        listed = (await http.get("/v1/jobs")).json()["items"]
        assert [(job["queued_at"], job["id"]) for job in listed] == sorted(
            ((job["queued_at"], job["id"]) for job in listed), reverse=True
        )
        assert [job["id"] for job in listed] == seen
        assert (await http.get("/v1/jobs", params={"states": "done"})).json()["items"] == []
        assert len((await http.get("/v1/jobs", params={"states": ["done", "waiting"]})).json()["items"]) == 5
        assert [job["id"] for job in (await http.get("/v1/agents/a3/jobs")).json()["items"]] == [mine[3]]
        assert (await http.get("/v1/jobs", params={"cursor": "x"})).status_code == 422
        assert (await http.get("/v1/jobs", params={"states": "lost"})).status_code == 422
        queue = (await http.get("/v1/consolidation")).json()["queue"]
        assert (queue["waiting"], queue["running"], queue["failing"], queue["paused"]) == (5, 0, [], False)
        assert queue["waiting_since"] == listed[-1]["queued_at"]


async def test_another_tenants_jobs_are_not_there(app_of_file: FastAPI, url: str) -> None:
    mine, *_ = await ask(url, whose("a"), whose("b"))
    (other,) = await ask(tenant_url(url, "acme"), whose("a", "acme"))  # on SQLite a tenant has a file of its own
    async with client(app_of_file, "acme") as http:
        assert [job["id"] for job in (await http.get("/v1/jobs")).json()["items"]] == [other]
        assert (await http.get("/v1/consolidation")).json()["queue"]["waiting"] == 1
        for path, method in (("", "GET"), ("/events", "GET"), ("/retry", "POST"), ("/cancel", "POST")):
            assert (await http.request(method, f"/v1/jobs/{mine}{path}")).status_code == 404
        assert (await http.get(f"/v1/jobs/{other}")).json()["tenant"] == "acme"
    async with client(app_of_file) as http:
        assert (await http.get(f"/v1/jobs/{mine}")).json()["state"] == "waiting", "nobody cancelled it"


async def test_only_an_administrator_steers(app_of_file: FastAPI, url: str) -> None:
    (id,) = await ask(url, whose("a"))
    async with client(app_of_file, "default/read") as http:
        assert (await http.get(f"/v1/jobs/{id}")).status_code == 200
        assert (await http.post("/v1/agents/a/jobs")).status_code == 403
    async with client(app_of_file, "default/write") as http:
        assert (await http.post("/v1/agents/a/jobs")).json()["id"] == id, "it waits already"
        for steer in ("retry", "cancel"):
            assert (await http.post(f"/v1/jobs/{id}/{steer}")).status_code == 403
    async with client(app_of_file) as http:
        assert (await http.post(f"/v1/jobs/{id}/retry")).status_code == 409
        assert (await http.post(f"/v1/jobs/{id}/cancel")).json()["state"] == "cancelled"
        assert (await http.post(f"/v1/jobs/{id}/cancel")).status_code == 409
        again = await http.post(f"/v1/jobs/{id}/retry")
        assert (again.status_code, again.json()["state"], again.json()["cause"]) == (202, "waiting", "retry")
        assert again.json()["id"] != id


async def test_a_worker_does_what_was_asked_and_the_events_tell_of_it(
    app_of_file: FastAPI, troubled: TroubledStore, url: str
) -> None:
    await troubled.agent("good").remember(TEA)
    await troubled.agent("bad").remember(TEA)
    troubled.hopeless.add("bad")
    first, second = await ask(url, whose("good"), whose("bad"))
    async with client(app_of_file) as http, Worker(troubled, OPTIONS) as worker:
        await worker.finished()
        response = await http.get(f"/v1/jobs/{first}/events", headers={"Accept": "text/event-stream"})
        events = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: {")]
        assert json.loads(events[0])["state"] == "done"
        assert response.text.endswith("event: end\ndata: {}\n\n")
        failed = (await http.get(f"/v1/jobs/{second}")).json()
        assert (failed["state"], failed["failed_attempts"], failed["next_attempt_at"]) == ("failed", 1, None)
        assert failed["failure"]["error"] == "invalid_input"
        assert (await http.get("/v1/consolidation")).json()["queue"]["failing"] == ["bad"]
        troubled.hopeless.clear()
        again = (await http.post(f"/v1/jobs/{second}/retry")).json()
        states = [job.state async for job in remote_of(app_of_file).jobs().watch(again["id"])]
        assert states[-1] == "done"
        assert len(states) == len(set(states)), "it is told when it changes, and not otherwise"
        assert (await http.get("/v1/consolidation")).json()["queue"]["failing"] == []


async def test_the_remote_face_is_that_of_the_store(app_of_file: FastAPI, troubled: TroubledStore, url: str) -> None:
    (id,) = await ask(url, whose("a"))
    remote, embedded = remote_of(app_of_file).jobs(), troubled.jobs()
    for jobs in (remote, embedded):
        assert (await jobs.get(id)).agent == "a"
        assert [job.id for job in (await jobs.list(agent="a")).items] == [id]
        assert (await jobs.list(states=["done"])).items == ()
        assert (await jobs.status()).queue.waiting == 1
        with pytest.raises(NotFound):
            await jobs.get("0" * 36)
        with pytest.raises(Conflict):
            await jobs.retry(id)
    assert await remote.get(id) == await embedded.get(id)
