"""Translation of PostgreSQL's errors: what happened, to which database, and what to do. Never the password."""

from __future__ import annotations

from dataclasses import dataclass, field

from longmind.errors import (
    InvalidInput,
    InvalidSetting,
    LongmindError,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from longmind.store.postgres.driver import psycopg, psycopg_pool

RETRY = frozenset({"40001", "40P01"})
"""Serialisation failure and deadlock: the transaction was rolled back and may be tried again."""

GONE = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03"})
"""The server, or someone at it, ended the connection."""


POOL = (psycopg_pool.PoolTimeout, psycopg_pool.PoolClosed, psycopg_pool.TooManyRequests)
"""No connection was given, so none was lost."""


@dataclass(frozen=True)
class Place:
    """The name of a database for messages, without the password."""

    host: str
    database: str
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"the database {self.database!r} on {self.host}"

    def clean(self, error: BaseException) -> str:
        """Return the text of an error on one line, without the password."""
        said = " ".join(str(error).split())
        return said.replace(self.password, "***") if self.password else said


def place(url: str) -> Place:
    """Return the name of a URL's database. An unreadable URL is not shown: its fault may be in the password."""
    try:
        parts = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        raise InvalidSetting(
            "The PostgreSQL URL cannot be read.",
            hint="Write postgresql://user:password@host:port/database, with special characters percent-encoded.",
        ) from None
    host = str(parts.get("host") or parts.get("hostaddr") or "the local server")
    port = parts.get("port")
    name = parts.get("dbname") or parts.get("user") or "of the current user"
    return Place(f"{host}:{port}" if port else host, str(name), str(parts.get("password") or ""))


def is_lost(error: Exception) -> bool:
    """Return whether the connection broke, so that the server's answer is unknown."""
    if not isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)) or isinstance(error, POOL):
        return False
    state = error.sqlstate
    return state is None or state in GONE or state.startswith("08")


def translate(error: Exception, where: Place) -> LongmindError:
    """Return the Longmind error for an error of PostgreSQL's."""
    said = where.clean(error)
    if isinstance(error, psycopg_pool.PoolTimeout):
        return StoreUnavailable(
            f"There was no free connection to {where} in time.",
            hint="Check that the server runs; if it does, raise the pool size or make fewer calls at once.",
        )
    if isinstance(error, psycopg_pool.PoolClosed):
        return StoreUnavailable(f"The store in {where} is closed.", hint="Open it again.")
    state = getattr(error, "sqlstate", None)
    if state is None and isinstance(error, psycopg.DataError):
        return InvalidInput(f"The database cannot store a value: {said}.", hint="Correct it.")
    if state is None:
        return _unreachable(said, where)
    return _by_state(state, said, where)


def _unreachable(said: str, where: Place) -> LongmindError:
    """Translate an error without a code: the connection failed or broke. Only its text says more."""
    if "password" in said or "authentication failed" in said or "pg_hba.conf" in said:
        hint = "Check the user name and password in the URL, and what pg_hba.conf on the server allows."
        return StoreUnavailable(f"The server refused the login to {where}: {said}.", hint=hint)
    if "does not exist" in said:
        hint = "Create it with createdb (or CREATE DATABASE / CREATE ROLE), or correct the URL."
        return StoreUnavailable(f"There is no such database or user, asking for {where}: {said}.", hint=hint)
    hint = "Check that the server runs, that host and port are right, and that the network lets you through."
    return StoreUnavailable(f"The connection to {where} failed: {said}.", hint=hint)


_UNAVAILABLE = {
    "57014": ("A statement took longer than the server allows", "Raise statement_timeout, or ask for less at once."),
    "55P03": ("A record stayed locked for too long", "Try again; find what holds a transaction open at the server."),
    "53300": ("The server has no connection left", "Raise max_connections, or lower the pool size of each process."),
    "53200": ("The server is out of memory", "Try again, with smaller batches if it lasts."),
    "25006": ("The server takes no writes", "Give the URL of the primary server, not of a standby."),
    "40001": ("Too many writers met at the same record", "Try again."),
    "40P01": ("Too many writers met at the same record", "Try again."),
}


def _by_state(state: str, said: str, where: Place) -> LongmindError:
    if state == "53100":
        return StoreFull(
            f"There is no space left on the disk of {where}; nothing of this change was kept.",
            hint="Free space on the server's disk and try again.",
        )
    if known := _UNAVAILABLE.get(state):
        return StoreUnavailable(f"{known[0]}, in {where}: {said}.", hint=known[1])
    if state in GONE or state[:2] in ("08", "28", "3D"):
        return _unreachable(said, where)
    if state in ("XX001", "XX002"):
        return StoreCorrupt(
            f"The server found damaged data in {where}: {said}.",
            hint="Stop writing, take a copy of the server's files, and restore from a backup.",
        )
    if state[:2] in ("22", "54"):
        return InvalidInput(f"The database cannot store a value: {said}.", hint="Correct or shorten it.")
    if state == "42501":
        return StoreError(
            f"The user may not do this in {where}: {said}.",
            hint="Let the owner of the database grant the right, or open the store once as that owner.",
        )
    return StoreError(f"PostgreSQL could not do this in {where} ({state}): {said}.", hint="Run `longmind doctor`.")
