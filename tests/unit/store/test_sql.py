"""Named queries are read from .sql files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from longmind.store import sql


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "some_queries"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "two.sql").write_text(
        "-- About this file.\n\n-- name: first\n-- What it is for.\nSELECT 1\n\n  FROM t;\n\n"
        "-- name: second_one\nSELECT 'ü';\n"
    )
    (folder / "twice.sql").write_text("-- name: a\nSELECT 1;\n-- name: a\nSELECT 2;\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder.name
    sys.modules.pop(folder.name, None)


def test_queries_come_by_name_without_comments(package: str) -> None:
    assert sql.load(package, "two.sql") == {"first": "SELECT 1\n  FROM t", "second_one": "SELECT 'ü'"}


def test_a_name_is_given_once(package: str) -> None:
    with pytest.raises(ValueError, match=r"twice\.sql.*named a"):
        sql.load(package, "twice.sql")


@pytest.mark.parametrize("file", ["queries.sql", "filters.sql", "checks.sql", "salvage.sql"])
def test_no_query_of_sqlite_is_empty(file: str) -> None:
    queries = sql.load("longmind.store.sqlite", file)
    assert queries
    assert all(queries.values())
