"""Tenants are apart: random requests of many of them through REST and MCP, on each backend."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql
from tests.security.isolation import Findings, examine, make_tenants
from tests.security.isolation_sql import KINDS, examine_sql, stored

from longmind import Longmind, Settings
from longmind.clock import SystemClock
from longmind.model_tools.tools import TOOLS
from longmind.store.postgres import PostgresBackend
from longmind.store.postgres.roles import create_role


@pytest.fixture
async def application_url(fresh_postgres_url: str) -> AsyncIterator[str]:
    """The URL of an empty store, for the role of an application."""
    await (await PostgresBackend.open(fresh_postgres_url, clock=SystemClock())).close()
    role = f"longmind_isolation_{os.getpid()}"
    create_role(fresh_postgres_url, role)
    parts = urlsplit(fresh_postgres_url)
    yield urlunsplit(parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}"))
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(role)))
        connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


async def test_no_tenant_sees_anything_of_another_in_files(tmp_path: Path) -> None:
    findings = await examine(str(tmp_path / "memory.db"), make_tenants(20), requests=2_000)
    _require_isolation(findings, 2_000)


async def test_no_tenant_sees_anything_of_another_in_one_database(
    application_url: str, fresh_postgres_url: str
) -> None:
    requests = int(os.environ.get("LONGMIND_ISOLATION", "2000"))
    tenants = make_tenants(max(20, requests // 400))
    findings = await examine(application_url, tenants, requests=requests)
    _require_isolation(findings, requests)
    seen = await asyncio.to_thread(examine_sql, application_url, fresh_postgres_url, tenants, statements=requests)
    sys.stdout.write(f"{seen}\n")
    assert seen.foreign == []
    assert {*seen.statements} == KINDS, "each way to reach others was tried"
    assert seen.tenants == {tenant.name for tenant in tenants}
    assert seen.rows > len(tenants)


async def test_statements_over_a_store_without_row_level_security_are_found_out(fresh_postgres_url: str) -> None:
    """The owner of the tables passes by every policy here: all that is tried through SQL succeeds, and is told."""
    tenants = make_tenants(3)
    async with Longmind.open(fresh_postgres_url, settings=Settings.load({"LONGMIND_EMBEDDER": "none"})) as longmind:
        for tenant in tenants:
            stored_memory = await longmind.agent("assistant", tenant=tenant.name).remember(f"It is {tenant.canary}.")
            tenant.ids.add(str(stored_memory.id))
    seen = await asyncio.to_thread(examine_sql, fresh_postgres_url, fresh_postgres_url, tenants, statements=300)
    assert len(seen.foreign) > 150
    assert seen.succeeded == KINDS - {"collide"}, "a conflict tells something only where keys lack the tenant"
    with psycopg.connect(fresh_postgres_url) as owner:
        assert stored(owner, "memories") == {tenant.name: 1 for tenant in tenants}, "nothing of it stays"


def _require_isolation(findings: Findings, requests: int) -> None:
    """Nothing foreign was seen, in requests of which enough were answered, and through every tool of MCP."""
    sys.stdout.write(f"{findings}\n")
    detail = findings.foreign_bytes + findings.foreign_ids + findings.foreign_counts + findings.failures
    assert findings.clean, f"{findings}\n" + "\n".join(detail[:5])
    assert findings.requests >= requests
    assert findings.statuses[200] > requests // 4
    assert findings.endings.total() > requests // 4
    assert findings.endings["ok"] > requests // 8
    assert {f"mcp.{tool.name}" for tool in TOOLS} <= findings.operations
