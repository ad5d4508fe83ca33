"""While somebody reads, the write-ahead log cannot be emptied: that is noted, and made up for at the next chance."""

from pathlib import Path

import apsw
import pytest

from longmind.store.base import ClearHistory, Delete
from longmind.store.conformance.steps import apply, put
from longmind.store.sqlite import SqliteBackend, writer

WORD = "the-word-nobody-may-find"


def in_files(path: Path) -> list[str]:
    return [file.name for file in path.parent.iterdir() if WORD.encode() in file.read_bytes()]


def reader(path: Path) -> apsw.Connection:
    """Another process, in the middle of a read."""
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM memories").fetchall()
    return connection


async def erased_beside_a_reader(path: Path, busy_timeout_s: float = 30.0) -> tuple[SqliteBackend, apsw.Connection]:
    store = await SqliteBackend.open(path, busy_timeout_s=busy_timeout_s)
    gone = await put(store, WORD)
    other = reader(path)
    await apply(store, Delete(gone.id, erase=True))
    assert in_files(path)
    lines = await store.uncleared()
    assert len(lines) == 1
    assert "doctor --scrub" in lines[0]
    return store, other


async def test_the_next_write_without_a_reader_empties_the_log(path: Path) -> None:
    store, other = await erased_beside_a_reader(path)
    await put(store, "while it reads")
    assert in_files(path)
    other.close()
    await put(store, "afterwards")
    assert in_files(path) == []
    assert await store.uncleared() == []
    await store.close()


async def test_closing_empties_it(path: Path) -> None:
    store, other = await erased_beside_a_reader(path)
    second = await SqliteBackend.open(path)
    assert await second.uncleared()
    other.close()
    await store.close()
    assert in_files(path) == []
    assert await second.uncleared() == []
    await second.close()


async def test_opening_empties_it(path: Path) -> None:
    store, other = await erased_beside_a_reader(path)
    await store.close()
    assert in_files(path), "the reader is still there"
    other.execute("COMMIT")
    again = await SqliteBackend.open(path)
    assert in_files(path) == []
    assert await again.uncleared() == []
    await again.close()
    other.close()


async def test_scrubbing_says_that_a_reader_is_in_the_way_and_then_empties_it(path: Path) -> None:
    store, other = await erased_beside_a_reader(path, busy_timeout_s=0.5)
    assert any("another process is reading" in line for line in (await store.scrub()).not_done)
    other.close()
    scrubbed = await store.scrub()
    assert any("write-ahead log" in line for line in scrubbed.done)
    assert in_files(path) == []
    assert await store.uncleared() == []
    assert await store.check() == []
    await store.close()


async def test_clearing_a_history_empties_the_log_too(path: Path) -> None:
    store = await SqliteBackend.open(path)
    gone = await put(store, WORD)
    await apply(store, Delete(gone.id))
    assert in_files(path)
    await apply(store, ClearHistory((gone.id,)))
    assert in_files(path) == []
    await store.close()


async def test_a_large_file_is_rewritten_only_when_asked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MAX_REWRITTEN", 0)
    store = await SqliteBackend.open(path)
    gone = await put(store, WORD)
    await apply(store, Delete(gone.id, erase=True))
    assert ["Unused parts" in line for line in await store.uncleared()] == [True]
    await store.scrub()
    assert await store.uncleared() == []
    await store.close()


async def test_no_copy_is_left_in_the_unused_part_of_a_page(path: Path) -> None:
    """SQLite leaves copies there when it moves rows between pages, whatever ``secure_delete`` says."""
    store = await SqliteBackend.open(path)
    written = [await put(store, f"{WORD} {n} " + "x" * (37 * n % 900), key=f"{WORD}-{n}") for n in range(120)]
    for memory in written[::3]:
        await apply(store, Delete(memory.id, erase=True))
    for n in range(60):
        await put(store, "y" * (53 * n % 700))
    for memory in written:
        if memory not in written[::3]:
            await apply(store, Delete(memory.id, erase=True))
    assert in_files(path) == []
    await store.close()
