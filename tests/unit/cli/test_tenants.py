"""``longmind tenants``: for whoever runs the store, and for no key of a server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from longmind import Longmind, Settings
from longmind.cli import app
from longmind.operations import OPERATIONS
from longmind.security import Credentials, KeyAdministration, Principal
from longmind.server import ServerSettings, create_app
from longmind.store.access import access_store
from longmind.store.open import tenant_url


class AdministratorOf:
    """Takes everyone for the administrator of one tenant."""

    def __init__(self, tenant: str) -> None:
        self._tenant = tenant

    async def authenticate(self, credentials: Credentials) -> Principal:
        return Principal(tenant=self._tenant, permissions=frozenset({"admin"}))


async def fill(url: str) -> None:
    settings = Settings.load({"LONGMIND_EMBEDDER": "none"})
    for tenant in ("default", "acme", "umbrella"):
        place = url if tenant == "default" else tenant_url(url, tenant)
        async with Longmind.open(place, settings=settings) as longmind:
            for agent in ("a", "b") if tenant == "acme" else ("a",):
                await longmind.agent(agent, tenant=tenant).remember(f"Of {tenant}.")
    access = access_store(url, settings)
    await KeyAdministration(access, "acme").create("one")
    await KeyAdministration(access, "only-keys").create("two")
    await access.close()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return str(request.getfixturevalue("fresh_postgres_url"))


async def test_whoever_runs_the_store_sees_every_tenant(url: str) -> None:
    await fill(url)
    result = await asyncio.to_thread(CliRunner().invoke, app, ["tenants", "--url", url, "--json"])
    assert result.exit_code == 0, result.output
    listed = {row["tenant"]: (row["agents"], row["keys"]) for row in json.loads(result.stdout)["tenants"]}
    assert listed == {"acme": (2, 1), "default": (1, 0), "only-keys": (0, 1), "umbrella": (1, 0)}


async def test_no_answer_to_an_administrator_names_another_tenant(url: str) -> None:
    await fill(url)
    library = Settings.load({"LONGMIND_EMBEDDER": "none"})
    server = create_app(url, ServerSettings(consolidation=True), authenticator=AdministratorOf("acme"), library=library)
    reads = [o for o in OPERATIONS if o.http == "GET" and o.path_names in ((), ("agent",)) and o.resume is None]
    assert {"agents.list", "jobs.list", "consolidation.status", "keys.list", "audit.list"} <= {o.name for o in reads}
    transport = httpx2.ASGITransport(server)
    async with (
        server.router.lifespan_context(server),
        httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http,
    ):
        for operation in reads:
            answer = await http.get("/v1" + operation.path.format(agent="a"))
            for name in ("umbrella", "only-keys"):
                assert name not in answer.text, operation.name
