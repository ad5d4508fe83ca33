"""Tenants are apart: random requests of many of them through REST, on each backend."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql
from tests.security.isolation import examine

from longmind.clock import SystemClock
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
    findings = await examine(str(tmp_path / "memory.db"), tenants=20, requests=2_000)
    assert findings.clean, str(findings)
    assert findings.requests >= 2_000
    assert findings.statuses[200] > 500


async def test_no_tenant_sees_anything_of_another_in_one_database(application_url: str) -> None:
    requests = int(os.environ.get("LONGMIND_ISOLATION", "2000"))
    findings = await examine(application_url, tenants=max(20, requests // 400), requests=requests)
    assert findings.clean, str(findings)
    assert findings.requests >= requests
    assert findings.statuses[200] > 500
