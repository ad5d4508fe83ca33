"""Migrations run inside the caller's transaction, whole or not at all."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from longmind.errors import StoreError
from longmind.store import migrate


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / f"migrated_{tmp_path.name}"
    (folder / migrate.FOLDER).mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / migrate.FOLDER / "0001.initial.sql").write_text("-- depends:\nCREATE TABLE a (x);\nCREATE TABLE b (x);\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    sys.modules.pop(folder.name, None)


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    made = apsw.Connection(":memory:")
    made.execute("BEGIN IMMEDIATE")
    yield made
    made.close()


def tables(connection: apsw.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def add(package: Path, name: str, text: str) -> None:
    (package / migrate.FOLDER / f"{name}.sql").write_text(text)


def test_what_is_missing_is_applied_once(package: Path, connection: apsw.Connection) -> None:
    assert migrate.apply(connection, package.name, "sqlite") == ["0001.initial"]
    assert migrate.apply(connection, package.name, "sqlite") == []
    add(package, "0002.more", "-- depends: 0001.initial\nALTER TABLE a ADD COLUMN y;\n")
    assert migrate.shipped(package.name) == ["0001.initial", "0002.more"]
    assert migrate.apply(connection, package.name, "sqlite") == ["0002.more"]
    applied = connection.execute(f"SELECT migration_id FROM {migrate.APPLIED_TABLE} ORDER BY 1").fetchall()
    assert applied == [("0001.initial",), ("0002.more",)]


def test_the_callers_rollback_undoes_all_of_it(package: Path, connection: apsw.Connection) -> None:
    migrate.apply(connection, package.name, "sqlite")
    assert {"a", "b", migrate.APPLIED_TABLE} <= tables(connection)
    connection.execute("ROLLBACK")
    assert tables(connection) == set()


def test_a_migration_that_fails_says_so(package: Path, connection: apsw.Connection) -> None:
    add(package, "0002.wrong", "-- depends: 0001.initial\nCREATE TABLE c (x);\nCREATE TABLE a (x);\n")
    with pytest.raises(apsw.SQLError, match="table a already exists"):
        migrate.apply(connection, package.name, "sqlite")
    assert connection.in_transaction


def test_a_migration_that_depends_on_nothing_known_says_so(package: Path, connection: apsw.Connection) -> None:
    add(package, "0002.lost", "-- depends: 0001.never\nSELECT 1;\n")
    with pytest.raises(Exception, match=r"0002\.lost"):
        migrate.apply(connection, package.name, "sqlite")


def test_no_name_is_looked_up(package: Path, connection: apsw.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> str:
        raise StoreError("a name was looked up")

    for name in ("getfqdn", "gethostbyaddr", "getaddrinfo", "gethostname"):
        monkeypatch.setattr(socket, name, forbidden)
    migrate.apply(connection, package.name, "sqlite")
    assert connection.execute("SELECT username, hostname FROM _yoyo_log").fetchall() == [("", "")]


def test_an_up_to_date_store_is_opened_without_yoyo(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from longmind.store.sqlite import SqliteBackend\n"
        "asyncio.run(asyncio.wait_for(SqliteBackend.open(sys.argv[1]), 30))\n"
        "print('yoyo' in sys.modules, 'sqlite3' in sys.modules)"
    )
    told = [
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "m.db")], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert told[0].stdout.split()[0] == "True"
    assert told[1].stdout.split() == ["False", "False"]
