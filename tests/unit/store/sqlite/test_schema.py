"""The schema to read is the schema that is made."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import apsw

from longmind.store import migrate
from longmind.store.sqlite import SqliteBackend
from longmind.store.sqlite.connect import APPLICATION_ID, SCHEMA_VERSION
from longmind.store.sqlite.queries import PACKAGE

Schema = list[tuple[str, str, str, list[str]]]


def schema(connection: apsw.Connection) -> Schema:
    """Tables and indexes with their SQL, spaces and comments aside, and what a header says; yoyo's own left out."""
    found = connection.execute("SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema ORDER BY type, name")
    return [
        (kind, name, table, [word for line in sql.splitlines() for word in line.partition("--")[0].split()])
        for kind, name, table, sql in found
        if "yoyo" not in table
    ]


async def test_schema_equals_the_sum_of_migrations(path: Path) -> None:
    await (await SqliteBackend.open(path)).close()
    migrated, written = apsw.Connection(str(path)), apsw.Connection(":memory:")
    written.execute(resources.files(PACKAGE).joinpath("schema.sql").read_text(encoding="utf-8"))
    assert schema(migrated) == schema(written)
    for header in ("application_id", "user_version"):
        assert migrated.pragma(header) == written.pragma(header)
    migrated.close()


async def test_the_header_says_whose_file_it_is(path: Path) -> None:
    await (await SqliteBackend.open(path)).close()
    connection = apsw.Connection(str(path))
    assert connection.pragma("application_id") == APPLICATION_ID == int.from_bytes(b"Lmd1", "big")
    assert connection.pragma("user_version") == SCHEMA_VERSION
    connection.close()


def test_the_version_is_the_number_of_the_last_migration() -> None:
    numbers = [int(name.split(".")[0]) for name in migrate.shipped(PACKAGE)]
    assert numbers == list(range(1, SCHEMA_VERSION + 1))
