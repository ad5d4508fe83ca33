"""PostgreSQL keeps tenants apart by itself: straight through SQL, and under the whole store."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from longmind import Longmind, Settings
from longmind.clock import SystemClock
from longmind.errors import Forbidden, InvalidSetting, NotFound, StoreError
from longmind.security import AuditEvent, KeyAdministration
from longmind.server import ServerSettings, create_app
from longmind.store.access import access_store
from longmind.store.base import SharedBackend
from longmind.store.postgres.roles import create_role
from longmind.types import Link, Scope
from longmind.worker import Jobs

TENANTS = ("acme", "umbrella", "initech")
HELD = ("scopes", "memories", "links", "journal", "operations", "vectors", "keys", "audit", "view_snapshots")
_numbers = itertools.count(1)


def settings() -> Settings:
    return Settings.load({})


@pytest.fixture
def application_url(fresh_postgres_url: str) -> Iterator[str]:
    """The URL of a store with memories of some tenants, for the role of an application."""
    asyncio.run(_fill(fresh_postgres_url))
    role = f"longmind_app_{os.getpid()}_{next(_numbers)}"
    assert create_role(fresh_postgres_url, role)
    assert not create_role(fresh_postgres_url, role), "again it only renews the grants"
    parts = urlsplit(fresh_postgres_url)
    yield urlunsplit(parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}"))
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(role)))
        connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


async def _fill(url: str) -> None:
    clock = SystemClock()
    async with Longmind.open(url, settings=settings(), embedder="static") as longmind:
        for tenant in TENANTS:
            mem = longmind.agent("assistant", tenant=tenant)
            first = await mem.remember(f"The word of {tenant} is canary{tenant}.", operation=f"first-{tenant}")
            second = await mem.remember(f"Another thing of {tenant}.")
            await longmind.store.link(mem.scope, Link(source=first.id, relation="about", target=second.id))
            await longmind.store.backend.snapshots().begin(mem.scope)  # type: ignore[attr-defined]
    access = access_store(url, settings())
    for tenant in TENANTS:
        await KeyAdministration(access, tenant).create("x")
        fields: dict[str, Any] = {"operation": "x", "http": "GET", "status": 200, "request_id": "r"}
        await access.append([AuditEvent(at=clock.now(), tenant=tenant, **fields)])
    await access.close()


def test_straight_through_sql_a_role_sees_no_row_of_another_tenant(
    application_url: str, fresh_postgres_url: str
) -> None:
    with psycopg.connect(fresh_postgres_url) as owner:
        query = "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant'"
        query += " WHERE c.relkind = 'r' AND c.relnamespace = 'longmind'::regnamespace"
        assert {row[0] for row in owner.execute(query)} == {*HELD}
        for table in HELD:
            count = owner.execute(
                sql.SQL("SELECT count(DISTINCT tenant) FROM longmind.{}").format(sql.Identifier(table))
            )
            assert count.fetchone() == (3,), table
    with psycopg.connect(application_url, autocommit=True) as connection:
        connection.execute("SET search_path = longmind, public")
        for table in HELD:
            name = sql.Identifier(table)
            assert connection.execute(sql.SQL("SELECT count(*) FROM {}").format(name)).fetchone() == (0,)
            with connection.transaction():
                connection.execute("SELECT set_config('longmind.tenant', 'acme', true)")
                rows = connection.execute(sql.SQL("SELECT DISTINCT tenant FROM {}").format(name)).fetchall()
                assert rows == [("acme",)], table
            assert connection.execute(sql.SQL("SELECT count(*) FROM {}").format(name)).fetchone() == (0,)
        for change in ("UPDATE memories SET content = 'x'", "DELETE FROM memories", "DELETE FROM scopes"):
            with connection.transaction():
                connection.execute("SELECT set_config('longmind.tenant', 'acme', true)")
                assert connection.execute(change + " WHERE tenant <> 'acme'").rowcount == 0
        connection.execute("SET longmind.tenant = 'acme'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO scopes (tenant, agent, head) VALUES ('umbrella', 'mine', 0)")


FORBIDDEN = (
    b"DELETE FROM audit",
    b"UPDATE audit SET line = ''",
    b"UPDATE audit_head SET base_seq = 9",
    b"UPDATE keys SET permissions = '[\"admin\"]'",
    b"UPDATE keys SET tenant = 'umbrella'",
    b"DELETE FROM keys",
    b"ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
    b"DROP POLICY own_tenant ON memories",
    b"CREATE TABLE longmind.own (id int)",
    b"TRUNCATE memories",
)


def test_the_role_cannot_change_what_was_noted_nor_the_wall(application_url: str) -> None:
    with psycopg.connect(application_url, autocommit=True) as connection:
        connection.execute("SET search_path = longmind, public")
        for statement in FORBIDDEN:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


async def test_the_store_works_as_the_role_of_an_application(application_url: str) -> None:
    async with Longmind.open(application_url, settings=settings(), embedder="static") as longmind:
        assert isinstance(longmind.store.backend, SharedBackend)
        assert longmind.store.backend.unrestricted is None
        for tenant in TENANTS:
            mem = longmind.agent("assistant", tenant=tenant)
            found = await mem.recall("What is the word of umbrella?")
            assert found
            assert all(tenant in hit.memory.content for hit in found)
            stored = await mem.remember(f"New for {tenant}.", operation=f"new-{tenant}")
            again = await mem.remember(f"New for {tenant}.", operation=f"new-{tenant}")
            assert again.id == stored.id
            await mem.update(stored.id, content=f"Newer for {tenant}.")
            assert (await mem.get(stored.id)).content == f"Newer for {tenant}."
            assert len(await mem.history(stored.id)) == 2
            await mem.consolidate()
            await mem.forget(stored.id)
            assert (await mem.stats()).memories >= 2
        scopes = await longmind.store.backend.scopes()
        assert {(scope.tenant, scope.agent) for scope in scopes} >= {(tenant, "assistant") for tenant in TENANTS}
        for about_all in (longmind.check, longmind.scrub, lambda: longmind.reembed("static-plain")):
            with pytest.raises(Forbidden, match="one tenant at a time"):
                await about_all()
    access = access_store(application_url, settings())
    created = await KeyAdministration(access, "acme").create("y")
    assert [key.name for key in await KeyAdministration(access, "acme").list()] == ["y", "x"]
    assert await access.find_key(created.id) is not None
    await access.touch_key("acme", created.id, SystemClock().now())
    assert (await KeyAdministration(access, "acme").revoke(created.id)).revoked_at is not None
    await access.close()


async def test_a_server_of_many_tenants_refuses_a_role_that_could_pass_by(
    application_url: str, fresh_postgres_url: str
) -> None:
    async def start(url: str, **more: Any) -> None:
        fields = {"auth": "keys", "consolidation": False, **more}
        app = create_app(url, ServerSettings(**fields), library=settings())
        async with app.router.lifespan_context(app):
            pass

    with pytest.raises(InvalidSetting, match="superuser"):
        await start(fresh_postgres_url)
    await start(fresh_postgres_url, single_tenant=True)
    await start(application_url)
    role = urlsplit(application_url).username
    assert role is not None
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("ALTER ROLE {} BYPASSRLS").format(sql.Identifier(role)))
        with pytest.raises(InvalidSetting, match="BYPASSRLS"):
            await start(application_url)
        connection.execute(sql.SQL("ALTER ROLE {} NOBYPASSRLS").format(sql.Identifier(role)))
        connection.execute("ALTER TABLE longmind.links NO FORCE ROW LEVEL SECURITY")
        with pytest.raises(InvalidSetting, match="not forced"):
            await start(application_url)
        connection.execute("ALTER TABLE longmind.links FORCE ROW LEVEL SECURITY")
        connection.execute(sql.SQL("ALTER TABLE longmind.memories OWNER TO {}").format(sql.Identifier(role)))
        with pytest.raises(InvalidSetting, match="owns"):
            await start(application_url)
        connection.execute("ALTER TABLE longmind.memories OWNER TO CURRENT_USER")


def test_a_role_that_could_pass_by_is_not_made_the_application(fresh_postgres_url: str) -> None:
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        superuser = connection.execute("SELECT current_user").fetchone()
        assert superuser is not None
    with pytest.raises(InvalidSetting):
        create_role(fresh_postgres_url, superuser[0])
    with pytest.raises(StoreError):
        create_role(fresh_postgres_url, f"nobody_{os.getpid()}")  # there is no store here yet


async def test_the_role_sees_and_steers_the_jobs_of_one_tenant_only(
    fresh_postgres_url: str, application_url: str
) -> None:
    async with Longmind.open(application_url, settings=settings()) as longmind:
        assert (await longmind.jobs("acme").status()).queue is None, "no worker was here yet"
    ids = {}
    async with await Jobs.open(fresh_postgres_url) as jobs:  # as a worker does, and after the role was made
        for tenant in TENANTS:
            ids[tenant], _ = await jobs.ask(Scope(tenant=tenant, agent="assistant", all_users=True))
    async with Longmind.open(application_url, settings=settings()) as longmind:
        for tenant in TENANTS:
            face = longmind.jobs(tenant)
            assert [job.id for job in (await face.list()).items] == [ids[tenant]]
            others = [id for other, id in ids.items() if other != tenant]
            for id in others:
                for method in (face.get, face.cancel, face.retry):
                    with pytest.raises(NotFound):
                        await method(id)
        acme = longmind.jobs("acme")
        assert (await acme.cancel(ids["acme"])).state == "cancelled"
        assert (await acme.retry(ids["acme"])).state == "waiting"
        assert (await acme.ask("another")).agent == "another"
        queue = (await acme.status()).queue
        assert queue is not None
        assert (queue.waiting, queue.paused) == (2, False)
    async with await Jobs.open(fresh_postgres_url) as jobs:
        await jobs.pause()
        assert {job.state for job in await jobs.list(scope=Scope(tenant="umbrella", agent="assistant"))} == {"waiting"}
    async with Longmind.open(application_url, settings=settings()) as longmind:
        queue = (await longmind.jobs("acme").status()).queue
        assert queue is not None
        assert queue.paused
    with psycopg.connect(application_url, autocommit=True) as connection:
        for table in ("workflow_status", "workflow_input"):
            name = sql.Identifier("longmind_jobs", table)
            seen = connection.execute(sql.SQL("SELECT workflow_uuid FROM {}").format(name)).fetchall()
            assert {row[0] for row in seen} <= {"longmind:everything"}, "without a tenant there are no jobs"
            connection.execute("SET longmind.tenant = 'acme'")
            seen = connection.execute(sql.SQL("SELECT workflow_uuid FROM {}").format(name)).fetchall()
            assert ids["acme"] in {row[0] for row in seen}
            assert not {ids["umbrella"], ids["initech"]} & {row[0] for row in seen}
            connection.execute("RESET longmind.tenant")
        for table in ("operation_outputs", "workflow_events", "queues", "workflow_schedules"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(sql.SQL("SELECT 1 FROM {}").format(sql.Identifier("longmind_jobs", table)))
