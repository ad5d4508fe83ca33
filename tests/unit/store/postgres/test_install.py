"""Preparing a database: whose it may be, who may do it, and that the schema equals the sum of its migrations."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from importlib import resources
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql

from longmind.clock import SystemClock
from longmind.errors import ForeignStore, LongmindError, SchemaTooNew, StoreError
from longmind.store.base import Batch, Put
from longmind.store.postgres import PostgresBackend, install
from longmind.store.postgres.failures import Place
from longmind.testing import memory
from longmind.types import Scope

SCOPE = Scope(agent="assistant")

COLUMNS = """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, coll.collname, a.attnum,
        pg_get_expr(d.adbin, d.adrelid), c.reloptions
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_collation coll ON coll.oid = a.attcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE n.nspname = %s AND c.relkind = 'r' AND c.relname NOT LIKE '%%yoyo%%'
    ORDER BY c.relname, a.attnum
"""
INDEXES = """
    SELECT indexname, replace(indexdef, %(schema)s || '.', '') FROM pg_indexes
    WHERE schemaname = %(schema)s ORDER BY 1
"""
CONSTRAINTS = """
    SELECT c.conrelid::regclass::text, c.conname, pg_get_constraintdef(c.oid)
    FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace
    WHERE n.nspname = %s ORDER BY 1, 2
"""
POLICIES = """
    SELECT p.tablename, p.policyname, p.roles, p.cmd, p.qual, p.with_check, c.relrowsecurity, c.relforcerowsecurity
    FROM pg_policies p JOIN pg_class c ON c.relname = p.tablename JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE p.schemaname = %(schema)s AND n.nspname = %(schema)s ORDER BY 1, 2
"""
FUNCTIONS = """
    SELECT p.proname, p.prosecdef, replace(pg_get_function_sqlbody(p.oid), %(schema)s || '.', ''), p.proacl::text
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname = %(schema)s ORDER BY 1
"""


async def open_store(url: str) -> PostgresBackend:
    return await PostgresBackend.open(url, clock=SystemClock())


async def open_and_close(url: str) -> None:
    """Open a store, see that it takes and gives a memory, and close it."""
    backend = await open_store(url)
    kept = memory(scope=SCOPE)
    await backend.apply(Batch(SCOPE, kept.id, kept.recorded_at, (Put(kept),)))
    assert [found.id for found in await backend.get(SCOPE, [kept.id])] == [kept.id]
    await backend.close()


def shape(connection: psycopg.Connection[Any], schema: str) -> dict[str, list[Any]]:
    """Everything the catalogue says about the tables of a schema."""
    connection.execute(sql.SQL("SET search_path = {}, public").format(sql.Identifier(schema)))
    indexes = connection.execute(INDEXES, {"schema": schema}).fetchall()
    constraints = connection.execute(CONSTRAINTS, [schema]).fetchall()
    return {
        "columns": connection.execute(COLUMNS, [schema]).fetchall(),
        "indexes": [row for row in indexes if "yoyo" not in row[0]],
        "constraints": [row for row in constraints if "yoyo" not in row[0]],
        "policies": connection.execute(POLICIES, {"schema": schema}).fetchall(),
        "functions": connection.execute(FUNCTIONS, {"schema": schema}).fetchall(),
    }


async def test_the_schema_equals_the_sum_of_its_migrations(store_url: str) -> None:
    text = resources.files(install.PACKAGE).joinpath("schema.sql").read_text()
    with psycopg.connect(store_url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA whole")
        connection.execute("SET search_path = whole, public")
        connection.execute(text.encode())
        whole, migrated = shape(connection, "whole"), shape(connection, "longmind")
    assert len(whole["columns"]) > 50
    assert len(whole["policies"]) > 10
    assert len(whole["functions"]) == 3
    assert whole == migrated


async def test_tenant_and_agent_lead_every_index_of_what_agents_hold(store_url: str) -> None:
    with psycopg.connect(store_url) as connection:
        indexes = connection.execute(INDEXES, {"schema": "longmind"}).fetchall()
    others = ("yoyo", "spaces", "keys", "audit")
    ours = [definition for name, definition in indexes if not any(other in name for other in others)]
    assert len(ours) >= 10
    assert [d for d in ours if "(tenant, agent" not in d] == []


async def test_opening_again_changes_nothing(store_url: str) -> None:
    await open_and_close(store_url)
    await open_and_close(store_url)
    with psycopg.connect(store_url) as connection:
        applied = connection.execute("SELECT count(*) FROM longmind._yoyo_migration").fetchone()
    assert applied == (len(install.migrate.shipped(install.PACKAGE)),)


async def test_the_tables_of_others_are_left_alone(fresh_postgres_url: str) -> None:
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE memories (mine int)")
        connection.execute("INSERT INTO memories VALUES (7)")
        await open_and_close(fresh_postgres_url)
        assert connection.execute("SELECT mine FROM public.memories").fetchall() == [(7,)]


async def test_many_processes_may_prepare_one_database_at_once(fresh_postgres_url: str) -> None:
    code = (
        "import asyncio, sys\n"
        "from longmind.clock import SystemClock\n"
        "from longmind.store.postgres import PostgresBackend\n"
        "async def main():\n"
        "    await (await PostgresBackend.open(sys.argv[1], clock=SystemClock())).close()\n"
        "asyncio.run(main())\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, fresh_postgres_url], stderr=subprocess.PIPE)  # noqa: ASYNC220
        for _ in range(4)
    ]
    errors = [(await asyncio.to_thread(process.communicate))[1] for process in started]
    assert [process.returncode for process in started] == [0] * 4, errors
    await open_and_close(fresh_postgres_url)


async def test_a_schema_of_someone_else_is_refused(fresh_postgres_url: str) -> None:
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA longmind")
        connection.execute("CREATE TABLE longmind.invoices (id int)")
        with pytest.raises(ForeignStore, match="invoices"):
            await open_store(fresh_postgres_url)
        assert connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'longmind'").fetchone() == (1,)


async def test_a_schema_that_yoyo_made_for_another_program_is_refused(store_url: str) -> None:
    with psycopg.connect(store_url, autocommit=True) as connection:
        connection.execute("UPDATE longmind._yoyo_migration SET migration_id = '0001.invoices'")
    with pytest.raises(ForeignStore, match="invoices"):
        await open_store(store_url)


async def test_a_store_from_the_future_is_refused(store_url: str) -> None:
    with psycopg.connect(store_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO longmind._yoyo_migration (migration_hash, migration_id, applied_at_utc)"
            " VALUES ('x', '9999.future', now())"
        )
    with pytest.raises(SchemaTooNew, match="9999"):
        await open_store(store_url)


async def test_an_empty_schema_that_an_administrator_made_is_used(fresh_postgres_url: str) -> None:
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA longmind")
    await open_and_close(fresh_postgres_url)


async def test_pgvector_may_live_in_any_schema(fresh_postgres_url: str) -> None:
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        connection.execute('CREATE SCHEMA "odd place"')
        connection.execute('CREATE EXTENSION vector SCHEMA "odd place"')
    backend = await open_store(fresh_postgres_url)
    kept = memory(scope=SCOPE)
    await backend.apply(Batch(SCOPE, "op", kept.recorded_at, (Put(kept),)))
    assert await backend.get(SCOPE, [kept.id]) == [kept]
    await backend.close()


@pytest.fixture
def plain_user(fresh_postgres_url: str) -> Any:
    """The URL of the fresh database for a user who may create schemas but no extensions."""
    name = "longmind_plain_user"
    database = urlsplit(fresh_postgres_url).path.removeprefix("/")
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'plain-secret'").format(sql.Identifier(name)))
        grant = sql.SQL("GRANT CREATE ON DATABASE {} TO {}")
        connection.execute(grant.format(sql.Identifier(database), sql.Identifier(name)))
        parts = urlsplit(fresh_postgres_url)
        yield urlunsplit(parts._replace(netloc=f"{name}:plain-secret@{parts.netloc.rpartition('@')[2]}"))
        connection.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(sql.Identifier(name)))
        connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


async def test_a_user_who_may_not_install_pgvector_is_told_who_can(plain_user: str, fresh_postgres_url: str) -> None:
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        construct_unvalidated = connection.execute(
            "SELECT trusted FROM pg_available_extension_versions WHERE name = 'vector'"
        ).fetchone()
        if construct_unvalidated == (True,):  # a trusted extension asks only for the right to create in the database
            revoke = sql.SQL("REVOKE CREATE ON DATABASE {} FROM longmind_plain_user")
            connection.execute(revoke.format(sql.Identifier(connection.info.dbname)))
            connection.execute("CREATE SCHEMA longmind AUTHORIZATION longmind_plain_user")
    with pytest.raises(StoreError) as caught:
        await open_store(plain_user)
    assert "CREATE EXTENSION vector" in caught.value.hint
    assert "plain-secret" not in str(caught.value)


async def test_once_pgvector_is_there_a_plain_user_may_install_the_rest(
    plain_user: str, fresh_postgres_url: str
) -> None:
    with psycopg.connect(fresh_postgres_url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    await open_and_close(plain_user)


def test_an_old_server_is_refused() -> None:
    old: Any = SimpleNamespace(info=SimpleNamespace(server_version=130_011))
    with pytest.raises(LongmindError, match="PostgreSQL 13; Longmind needs 14"):
        install._require_server(old, Place("db.example", "memories"))


def test_without_its_driver_the_package_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from longmind.errors import InvalidSetting\n"
        "try:\n"
        "    import longmind.store.postgres\n"
        "except InvalidSetting as error:\n"
        "    sys.exit(0 if 'pip install \"longmind[postgres]\"' in error.hint else 2)\n"
        "sys.exit(3)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
