"""What a user is told when PostgreSQL says no. The password is never part of it."""

from __future__ import annotations

import random
import socket
import traceback
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from longmind.clock import SystemClock
from longmind.errors import InvalidInput, InvalidSetting, LongmindError, StoreError, StoreFull, StoreUnavailable
from longmind.store.base import Batch, Put, Update
from longmind.store.postgres import PostgresBackend
from longmind.store.postgres.failures import Place, is_lost, place, translate
from longmind.testing import memory
from longmind.types import Scope

SCOPE = Scope(agent="assistant")
SECRET = "s3cr3t-W0rd"
MakeBatch = Callable[..., Batch]


async def refused(url: str, error: type[LongmindError] = StoreUnavailable, **options: Any) -> LongmindError:
    """The error of an attempt to open a store; no part of it, nor of what it came from, may tell the password."""
    with pytest.raises(error) as caught:
        await PostgresBackend.open(url, clock=SystemClock(), **options)
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value.details)
    assert SECRET not in told
    return caught.value


@pytest.fixture(scope="module")
def guarded_url(start_postgres: Callable[[], Any]) -> str:
    """The URL of a server that asks one user, locked_out, for a password, with the wrong one in it."""
    server = start_postgres()
    rules = server.folder / "pg_hba.conf"
    rules.write_text("local all locked_out scram-sha-256\n" + rules.read_text())
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE locked_out LOGIN PASSWORD 'another'")
        connection.execute("SELECT pg_reload_conf()")
    parts = urlsplit(server.url)
    return urlunsplit(parts._replace(netloc=f"locked_out:{SECRET}@"))


async def test_a_wrong_password(guarded_url: str) -> None:
    error = await refused(guarded_url)
    assert "refused the login" in error.message
    assert "password" in error.hint


async def test_a_missing_database(postgres_url: str) -> None:
    parts = urlsplit(postgres_url)
    user = parts.netloc.partition("@")[0].partition(":")[0]
    netloc = f"{user}:{SECRET}@{parts.netloc.rpartition('@')[2]}"
    error = await refused(urlunsplit(parts._replace(netloc=netloc, path="/no_such_database")))
    assert "no_such_database" in error.message
    assert "createdb" in error.hint


async def test_nobody_listens() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    error = await refused(f"postgresql://someone:{SECRET}@127.0.0.1:{port}/memories")
    assert f"127.0.0.1:{port}" in error.message
    assert "'memories'" in error.message


@pytest.mark.parametrize("url", [f"postgresql://me:{SECRET}%zz@host/db", f"postgresql://me@host/db?{SECRET}=1"])
async def test_a_url_that_cannot_be_read_is_not_shown(url: str) -> None:
    error = await refused(url, InvalidSetting)
    assert "percent-encoded" in error.hint


async def test_a_statement_that_takes_too_long(store_url: str, batch: MakeBatch) -> None:
    backend = await PostgresBackend.open(_with_option(store_url, "statement_timeout=200"), clock=SystemClock())
    with psycopg.connect(store_url) as other:
        other.execute("LOCK TABLE longmind.memories IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreUnavailable, match="took longer"):
            await backend.get(SCOPE, [memory().id])
    await backend.close()


async def test_a_record_that_stays_locked(store_url: str, batch: MakeBatch) -> None:
    backend = await PostgresBackend.open(_with_option(store_url, "lock_timeout=200"), clock=SystemClock())
    kept = memory(scope=SCOPE)
    await backend.apply(batch(SCOPE, Put(kept)))
    with psycopg.connect(store_url) as other:
        other.execute("SELECT * FROM longmind.scopes FOR UPDATE")
        with pytest.raises(StoreUnavailable, match="locked for too long"):
            await backend.apply(batch(SCOPE, Update(kept.id, {"content": "changed"})))
    assert await backend.get(SCOPE, [kept.id]) == [kept]
    await backend.close()


def _with_option(url: str, option: str) -> str:
    return url + ("&" if "?" in url else "?") + f"options=-c%20{option.replace('=', '%3D')}"


def _raise_on_insert(url: str, table: str, state: str) -> None:
    """Let the server fail with this code whenever a row is inserted."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '{state}'; END $$".encode()
        )
        connection.execute(
            f"CREATE TRIGGER fail BEFORE INSERT ON longmind.{table} FOR EACH ROW EXECUTE FUNCTION fail()".encode()
        )


@pytest.mark.parametrize("table", ["memories", "journal"])
async def test_a_full_disk_keeps_nothing_of_the_change(
    store_url: str, backend: PostgresBackend, batch: MakeBatch, table: str
) -> None:
    _raise_on_insert(store_url, table, "53100")
    with pytest.raises(StoreFull, match="no space left"):
        await backend.apply(batch(SCOPE, Put(memory(scope=SCOPE))))
    with pytest.raises(StoreFull):
        await backend.apply(batch(SCOPE, Put(memory(scope=SCOPE)), operation="again", idempotent=True))
    assert (await backend.stats(SCOPE)).memories == 0
    assert (await backend.head(SCOPE)).seq == 0
    assert await backend.check() == []


async def test_a_collision_of_writers_is_tried_again(
    store_url: str, backend: PostgresBackend, batch: MakeBatch
) -> None:
    with psycopg.connect(store_url, autocommit=True) as connection:
        connection.execute("CREATE SEQUENCE attempts")
        connection.execute(
            "CREATE FUNCTION collide() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " IF nextval('public.attempts') < 3 THEN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END IF;"
            " RETURN new; END $$"
        )
        connection.execute(
            "CREATE TRIGGER collide BEFORE INSERT ON longmind.journal FOR EACH ROW EXECUTE FUNCTION collide()"
        )
        kept = memory(scope=SCOPE)
        receipt = await backend.apply(batch(SCOPE, Put(kept)))
        assert receipt.memories == (kept,)
        assert connection.execute("SELECT last_value FROM attempts").fetchone() == (3,)
    assert (await backend.head(SCOPE)).seq == 1


async def test_collisions_without_end_are_told(store_url: str, backend: PostgresBackend, batch: MakeBatch) -> None:
    _raise_on_insert(store_url, "memories", "40001")
    with pytest.raises(StoreUnavailable, match="Too many writers"):
        await backend.apply(batch(SCOPE, Put(memory(scope=SCOPE))))


@pytest.mark.parametrize(
    ("state", "error", "said"),
    [
        ("53300", StoreUnavailable, "no connection left"),
        ("25006", StoreUnavailable, "takes no writes"),
        ("22003", InvalidInput, "cannot store a value"),
        ("42501", StoreError, "may not do this"),
        ("XX001", StoreError, "damaged data"),
        ("42P01", StoreError, "42P01"),
    ],
)
async def test_every_code_has_its_words(
    store_url: str, backend: PostgresBackend, batch: MakeBatch, state: str, error: type[LongmindError], said: str
) -> None:
    _raise_on_insert(store_url, "memories", state)
    with pytest.raises(error, match=said) as caught:
        await backend.apply(batch(SCOPE, Put(memory(scope=SCOPE))))
    assert caught.value.hint


async def test_text_that_no_column_holds_is_the_callers_fault(backend: PostgresBackend, batch: MakeBatch) -> None:
    with pytest.raises(InvalidInput):
        await backend.apply(batch(SCOPE, Put(memory(scope=SCOPE)), operation="a\x00b"))
    with pytest.raises(InvalidInput):
        await backend.apply(
            batch(SCOPE, Put(memory(scope=SCOPE)), operation=random.Random(0).randbytes(9_000).hex(), idempotent=True)
        )
    assert await backend.journal(SCOPE, operation="a\x00b") == []


def test_a_place_is_told_without_the_password() -> None:
    where = place(f"postgresql://me:{SECRET}@db.example:5433/memories")
    assert str(where) == "the database 'memories' on db.example:5433"
    assert SECRET not in repr(where)
    error = psycopg.OperationalError(f"server said {SECRET}")
    assert SECRET not in str(translate(error, where))
    assert str(place("postgresql:///")) == "the database 'of the current user' on the local server"


def test_only_a_broken_connection_is_lost() -> None:
    assert is_lost(psycopg.OperationalError("server closed the connection unexpectedly"))
    assert is_lost(psycopg.errors.AdminShutdown("terminated"))
    assert not is_lost(psycopg.errors.DiskFull("full"))
    assert not is_lost(psycopg.errors.UniqueViolation("twice"))
    assert not is_lost(ValueError("other"))
    assert isinstance(translate(psycopg.errors.DiskFull("full"), Place("h", "d")), StoreError)
