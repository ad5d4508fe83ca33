"""Migrations of a database to the schema of this version, with yoyo.

The caller opens the connection, begins the transaction, takes whatever lock keeps a second process out, and commits.
yoyo then runs wholly inside that transaction: either the schema and the note that it was applied are both there
afterwards, or neither is. Left to itself yoyo opens connections of its own, commits the two separately, and looks up
the machine's name on the network; none of this suits a library that is embedded in somebody else's program.

yoyo is imported only by ``apply``: a store that is up to date is opened without it.
"""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from longmind.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER = "migrations"
APPLIED_TABLE = "_yoyo_migration"
"""Where yoyo notes what was applied: (migration_hash, migration_id, applied_at_utc)."""


def shipped(package: str) -> list[str]:
    """Return the ids of the migrations that a package ships, oldest first."""
    files = resources.files(package).joinpath(FOLDER).iterdir()
    names = (file.name for file in files)
    return sorted(n.removesuffix(".sql") for n in names if n.endswith(".sql") and not n.endswith(".rollback.sql"))


def apply(connection: Any, package: str, dialect: Literal["sqlite", "postgresql"]) -> list[str]:
    """Apply what is missing and return the ids of what was applied.

    ``connection`` is an apsw or a psycopg connection in the middle of a transaction that the caller commits.
    """
    backend = _backend(connection, dialect)
    todo = backend.to_apply(_migrations(package, tuple(shipped(package))))
    backend.apply_migrations(todo)
    return [migration.id for migration in todo]


@cache
def _migrations(package: str, names: tuple[str, ...]) -> Any:
    """Return the migrations of these names that a package ships. yoyo takes 20 ms to split them into statements."""
    from yoyo import read_migrations

    return read_migrations(f"package:{package}:{FOLDER}")


def _backend(connection: Any, dialect: Literal["sqlite", "postgresql"]) -> Any:
    """Return a yoyo backend that uses an open connection, inside a transaction that the caller began."""
    from yoyo import internalmigrations
    from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend
    from yoyo.backends.core.sqlite3 import SQLiteBackend
    from yoyo.connections import parse_uri

    base: Any = SQLiteBackend if dialect == "sqlite" else PostgresqlPsycopgBackend

    class Borrowed(base):  # type: ignore[misc]
        _in_transaction = True
        _internal_schema_updated: bool = False
        has_transactional_ddl = True

        def _load_driver_module(self) -> Any:
            return _Apsw() if dialect == "sqlite" else super()._load_driver_module()

        def connect(self, dburi: Any) -> Any:
            return connection

        @contextmanager
        def copy(self) -> Iterator[Any]:
            yield self

        def cursor(self) -> Any:
            return _Cursor(connection) if dialect == "sqlite" else super().cursor()

        def ensure_internal_schema_updated(self) -> None:
            if not self._internal_schema_updated:
                self._internal_schema_updated = True
                if internalmigrations.needs_upgrading(self):
                    internalmigrations.upgrade(self)

        def get_log_data(self, migration: Any = None, operation: str = "apply") -> dict[str, Any]:
            clock = SystemClock()
            return {
                "id": clock.new_id(),
                "migration_id": migration.id if migration else None,
                "migration_hash": migration.hash if migration else None,
                "username": "",
                "hostname": "",
                "created_at_utc": clock.now().replace(tzinfo=None),
                "operation": operation,
            }

    return Borrowed(parse_uri(f"{dialect}:///"), APPLIED_TABLE)


class _Apsw:
    """The part of a DB-API driver module that yoyo uses."""

    paramstyle = "named"

    def __init__(self) -> None:
        import apsw

        self.DatabaseError = apsw.Error


class _Cursor:
    """An apsw cursor that behaves as the DB-API says: times as text, and no error for a statement without rows."""

    description = None

    def __init__(self, connection: Any) -> None:
        self._cursor = connection.cursor()

    def execute(self, sql: str, params: Mapping[str, Any] | None = None) -> None:
        values = {k: v.isoformat(" ") if isinstance(v, datetime) else v for k, v in (params or {}).items()}
        self._cursor.execute(sql, values)

    def fetchone(self) -> Any:
        return self._cursor.fetchone()

    def fetchall(self) -> list[Any]:
        return list(self._cursor.fetchall())

    def close(self) -> None:
        self._cursor.close()
