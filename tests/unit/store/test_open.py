"""Which file a URL names, and which URLs are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from longmind import Longmind
from longmind.errors import InvalidSetting
from longmind.store.open import sqlite_path


def test_paths_and_urls() -> None:
    assert sqlite_path("a/b.db") == Path("a/b.db")
    assert sqlite_path("sqlite:///a.db") == Path("a.db")
    assert sqlite_path("sqlite:////a/b%3F%23.db") == Path("/a/b?#.db")
    assert sqlite_path("./file:a.db") == Path("file:a.db")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("a\0b.db", "NUL"),
        ("sqlite:///a%00b.db", "NUL"),
        ("file:memory.db?mode=memory", "URI of SQLite's"),
        ("FILE:memory.db", "URI of SQLite's"),
        ("sqlite:///file:memory.db", "URI of SQLite's"),
        ("sqlite:///memory.db?mode=memory", "options"),
        ("sqlite:///memory.db#one", "options"),
        ("sqlite://memory.db", "names no file"),
    ],
)
async def test_what_names_no_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidSetting, match=message):
        async with Longmind.open(url, embedder="none"):
            pass
    assert os.listdir(tmp_path) == []
