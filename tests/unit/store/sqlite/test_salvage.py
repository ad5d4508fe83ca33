"""What can be read of a file that SQLite itself refuses: cut short, damaged at its beginning, or lost beside a log."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from longmind.errors import ForeignStore
from longmind.store.base import Put
from longmind.store.conformance.steps import AGENT, apply, clock, put
from longmind.store.sqlite import SqliteBackend, salvage
from longmind.testing import memory
from longmind.types import Memory

PAGE = 4096
COUNT = 400


@pytest.fixture
async def kept(path: Path) -> dict[str, Memory]:
    """What a store of 400 memories held; it is closed, and its log is in the file."""
    store = await SqliteBackend.open(path)
    memories = [memory(f"{n} " * 50, scope=AGENT, clock=clock, key=f"k{n}") for n in range(COUNT)]
    for start in range(0, COUNT, 50):
        await apply(store, *(Put(m) for m in memories[start : start + 50]))
    await store.close()
    return {m.id: m for m in memories}


def files_of(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if not file.name.endswith("-shm")}


def read_from(path: Path) -> dict[str, Memory]:
    """What salvage reads, having made sure that it touched nothing and left nothing behind."""
    before = files_of(path)
    memories = {m.id: m for m in salvage(str(path), workspace=str(path.parent))}
    assert files_of(path) == before
    return memories


def overwrite(path: Path, start: int, content: bytes) -> None:
    whole = bytearray(path.read_bytes())
    whole[start : start + len(content)] = content
    path.write_bytes(whole)


@pytest.mark.parametrize("cut", [1, PAGE, 3 * PAGE + 17])
def test_a_file_cut_short_gives_what_the_padded_file_gives(path: Path, kept: dict[str, Memory], cut: int) -> None:
    whole = files_of(path)[path.name]
    overwrite_whole(path, whole[:-cut] + bytes(cut))
    padded = read_from(path)
    overwrite_whole(path, whole[:-cut])
    cut_short = read_from(path)
    assert cut_short == padded
    assert len(padded) > COUNT * 0.9
    assert all(kept[id_] == m for id_, m in cut_short.items())


def test_half_a_file_gives_about_half(path: Path, kept: dict[str, Memory]) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    memories = read_from(path)
    assert COUNT * 0.3 < len(memories) < COUNT
    assert all(kept[id_] == m for id_, m in memories.items())


HEADERS = {
    "magic": (0, b"\xff" * 16),
    "page size": (16, b"\x13\x37"),
    "versions and payload": (18, b"\xff" * 6),
    "number of pages": (28, b"\xff" * 4),
    "free pages": (32, b"\xff" * 8),
    "schema format": (44, b"\xff" * 4),
    "encoding": (56, b"\xff" * 4),
    "whole header": (0, bytes(100)),
    "first page": (0, b"\xfe" * PAGE),
    "first page zero": (0, bytes(PAGE)),
}


@pytest.mark.parametrize(("start", "content"), HEADERS.values(), ids=HEADERS)
def test_a_damaged_beginning_costs_nothing(path: Path, kept: dict[str, Memory], start: int, content: bytes) -> None:
    overwrite(path, start, content)
    assert read_from(path) == kept


def test_a_damaged_beginning_of_a_file_cut_short(path: Path, kept: dict[str, Memory]) -> None:
    overwrite(path, 0, b"\xfe" * PAGE)
    path.write_bytes(path.read_bytes()[: -2 * PAGE])
    memories = read_from(path)
    assert len(memories) > COUNT * 0.9
    assert all(kept[id_] == m for id_, m in memories.items())


@pytest.mark.parametrize("left", [None, b""])
async def test_a_log_without_its_file(path: Path, tmp_path: Path, left: bytes | None) -> None:
    store = await SqliteBackend.open(path)
    kept = [await put(store, f"number {n}") for n in range(20)]
    folder = tmp_path / "elsewhere"
    os.mkdir(folder)
    shutil.copy(f"{path}-wal", folder / "memory.db-wal")
    await store.close()
    lost = folder / "memory.db"
    if left is not None:
        overwrite_whole(lost, left)
    assert read_from(lost) == {m.id: m for m in kept}


def overwrite_whole(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def test_a_file_that_never_was_a_store(path: Path) -> None:
    path.write_bytes(b"no database " * 5_000)
    with pytest.raises(ForeignStore):
        read_from(path)
