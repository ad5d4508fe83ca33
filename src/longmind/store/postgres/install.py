"""Preparing a database: the right server, pgvector, a schema of our own, and the tables in it.

All of it happens in one transaction behind an advisory lock, so two processes that open a new store at the same moment
both succeed, and one that dies half-way leaves nothing behind. A store that is up to date is only looked at, which a
user without the right to create anything may do.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from psycopg import Connection, sql

from longmind.errors import ForeignStore, NotFound, SchemaTooNew, StoreError
from longmind.store import migrate
from longmind.store.postgres.driver import load_queries, psycopg
from longmind.store.postgres.failures import Place, translate

PACKAGE = "longmind.store.postgres"
OLDEST_SERVER = 14
LOCK = 0x7265636F6C6C6563
"""The number of the advisory lock; any that no other program is likely to take."""

_install = load_queries("install.sql")


@dataclass(frozen=True)
class Installed:
    """What is known of a database that is ready."""

    search_path: str
    halfvec: int
    """The number this database gave to pgvector's type."""
    unrestricted: str | None = None
    """Why row-level security does not keep this role to one tenant; None if it does."""


def install(url: str, schema: str, where: Place, timeout: float = 5.0, *, create: bool = True) -> Installed:
    """Make the database ready if it is not, and tell what a connection needs to know. Blocks; run it in a thread."""
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=_connect_timeout(url, timeout)) as connection:
            _require_server(connection, where)
            if not _is_current(connection, schema, where):
                if not create and not _tables(connection, schema):
                    raise NotFound(f"There is no store in {where}.", hint="The first `longmind remember` makes one.")
                with connection.transaction():
                    connection.execute(_install["take_turns"], {"key": LOCK})
                    _prepare(connection, schema, where)
            return _found(connection, schema, where)
    except psycopg.Error as error:
        raise translate(error, where) from error


def _connect_timeout(url: str, timeout: float) -> int:
    """Return the seconds of the URL, if it has any, or else those of the settings."""
    return int(psycopg.conninfo.conninfo_to_dict(url).get("connect_timeout") or math.ceil(timeout))


def _require_server(connection: Connection, where: Place) -> None:
    version = connection.info.server_version
    if version < OLDEST_SERVER * 10_000:
        raise StoreError(
            f"The server of {where} is PostgreSQL {version // 10_000}; Longmind needs {OLDEST_SERVER} or newer.",
            hint=f"Use a server of version {OLDEST_SERVER} or newer.",
        )


def _is_current(connection: Connection, schema: str, where: Place) -> bool:
    """Whether the schema is ours and complete. Somebody else's, or one from the future, is refused."""
    tables = _tables(connection, schema)
    if not tables:
        return False
    if migrate.APPLIED_TABLE not in tables:
        raise ForeignStore(
            f"The schema {schema!r} of {where} holds other tables ({_some(tables)}); it was left as it is.",
            hint="Give Longmind a database in which no other program uses this schema.",
        )
    query = sql.SQL(_install["applied_migrations"].decode()).format(schema=sql.Identifier(schema))
    applied = {row[0] for row in connection.execute(query)}
    shipped = set(migrate.shipped(PACKAGE))
    if not applied & shipped and applied:
        raise ForeignStore(
            f"The schema {schema!r} of {where} was made by another program ({_some(applied)}); it was left as it is.",
            hint="Give Longmind a database in which no other program uses this schema.",
        )
    if applied - shipped:
        raise SchemaTooNew(
            f"The store in {where} was written by a newer Longmind ({_some(applied - shipped)}).",
            hint="Upgrade Longmind; the store was left as it is.",
        )
    return applied == shipped


def _tables(connection: Connection, schema: str) -> set[str]:
    return {row[0] for row in connection.execute(_install["schema_tables"], {"schema": schema})}


def _some(names: Collection[str]) -> str:
    return ", ".join(sorted(names)[:3]) + (" ..." if len(names) > 3 else "")


def _prepare(connection: Connection, schema: str, where: Place) -> None:
    if _is_current(connection, schema, where):
        return  # another process was quicker
    _require_vector(connection, where)
    connection.execute(sql.SQL(_install["create_schema"].decode()).format(schema=sql.Identifier(schema)))
    path = _found(connection, schema, where).search_path
    connection.execute(_install["set_search_path"], {"path": path})
    migrate.apply(connection, PACKAGE, "postgresql")


def _require_vector(connection: Connection, where: Place) -> None:
    if connection.execute(_install["find_vector"]).fetchone():
        return
    if not _truth(connection, "vector_available"):
        raise StoreError(
            f"The server of {where} has no pgvector.",
            hint="Install pgvector 0.7 or newer on the server (packages are named postgresql-NN-pgvector or pgvector).",
        )
    try:
        with connection.transaction():
            connection.execute(_install["create_vector"])
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreError(
            f"pgvector is not installed in {where}, and this user may not install it.",
            hint="Let an administrator run in that database: CREATE EXTENSION vector;",
        ) from error


def _truth(connection: Connection, name: str) -> bool:
    row = connection.execute(_install[name]).fetchone()
    return bool(row and row[0])


def _found(connection: Connection, schema: str, where: Place) -> Installed:
    row = connection.execute(_install["find_vector"]).fetchone()
    if row is None or row[1] is None:
        raise StoreError(
            f"The pgvector in {where} is missing or older than 0.7: it has no half-precision vectors.",
            hint="Upgrade pgvector on the server and run: ALTER EXTENSION vector UPDATE;",
        )
    path = sql.SQL(", ").join([sql.Identifier(schema), sql.Identifier(row[0])]).as_string(connection)
    return Installed(path, row[1], _unrestricted(connection, schema))


def _unrestricted(connection: Connection, schema: str) -> str | None:
    row = connection.execute(_install["role"], {"schema": schema}).fetchone()
    if row is None:
        return "there are no tables yet"
    role, superuser, bypasses, owner, unforced = row
    if superuser or bypasses:
        return f"the role {role} is a superuser" if superuser else f"the role {role} has BYPASSRLS"
    if owner:
        return f"the role {role} owns the tables, or is a member of the role that does"
    return "row-level security is not forced on every table" if unforced else None
