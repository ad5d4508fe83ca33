"""Power cuts: a disk that forgets what was not synced.

SQLite runs on a file system that works as usual but also keeps, for each file, what is safe on the platters and what
has been written since the last sync. A power cut leaves the safe part and an arbitrary selection of the rest: sectors
of 512 bytes that made it or did not, in any combination. The store is then opened on what is left. Every memory that
was acknowledged before the cut must be there, and the file must be sound.

With ``synchronous=FULL`` nothing is lost. The same test with ``NORMAL`` must lose something; if it did not, the test
would prove nothing.
"""

from __future__ import annotations

import random
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import apsw
import pytest

from longmind.store.base import Batch, Put
from longmind.store.sqlite import SqliteBackend
from longmind.testing import FakeClock, memory
from longmind.types import Scope

CUTS = 500
LIVES = 10
"""How often the store is opened again on what a cut left, and goes on from there."""

SECTOR = 512
SCOPE = Scope(tenant="acme", agent="assistant")


@dataclass
class Platter:
    """One file: what is safe, and what was asked for since, in order."""

    safe: bytearray = field(default_factory=bytearray)
    waiting: list[tuple[int, bytes | None]] = field(default_factory=list)
    """(offset, bytes) of a write, or (size, None) of a truncation."""

    def sync(self) -> None:
        for place, data in self.waiting:
            _do(self.safe, place, data)
        self.waiting.clear()

    def after_cut(self, rng: random.Random) -> bytes:
        """What a power cut leaves: of the unsynced, nothing, all, or an arbitrary selection."""
        luck = rng.choice((0.0, 0.0, 0.5, 0.9, 1.0))
        left = bytearray(self.safe)
        for place, data in self.waiting:
            if data is None:
                if rng.random() < luck:
                    _do(left, place, None)
                continue
            for start in range(0, len(data), SECTOR):
                if rng.random() < luck:
                    _do(left, place + start, data[start : start + SECTOR])
        return bytes(left)


def _do(content: bytearray, place: int, data: bytes | None) -> None:
    if data is None:
        del content[place:]
        return
    if len(content) < place:
        content.extend(bytes(place - len(content)))
    content[place : place + len(data)] = data


class Disk(apsw.VFS):
    """The machine's own file system, with a memory of what is safe. ``before_write`` is called before each change."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.platters: dict[str, Platter] = {}
        self.before_write: Callable[[], None] = lambda: None
        self.lock = threading.Lock()
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return DiskFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        with self.lock:
            self.platters.pop(filename, None)

    def after_cut(self, rng: random.Random) -> dict[str, bytes]:
        with self.lock:
            return {Path(name).name: platter.after_cut(rng) for name, platter in self.platters.items()}


class DiskFile(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self.disk = disk
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        super().__init__("", name, flags)
        with disk.lock:
            if path not in disk.platters:
                disk.platters[path] = Platter(bytearray(Path(path).read_bytes()))
            self.platter = disk.platters[path]

    def xWrite(self, data: bytes, offset: int) -> None:
        self.disk.before_write()
        super().xWrite(data, offset)
        with self.disk.lock:
            self.platter.waiting.append((offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:
        self.disk.before_write()
        super().xTruncate(newsize)
        with self.disk.lock:
            self.platter.waiting.append((newsize, None))

    def xSync(self, flags: int) -> None:
        self.disk.before_write()
        with self.disk.lock:
            self.platter.sync()


@pytest.fixture
def disk() -> Iterator[Disk]:
    made = Disk("longmind-power-cut")
    yield made
    made.unregister()


Mode = Literal["FULL", "NORMAL"]
Remains = tuple[dict[str, bytes], frozenset[str]]
"""The files after a cut, and the ids acknowledged before it."""


async def live(disk: Disk, folder: Path, synchronous: Mode, acked: set[str], seed: int) -> list[Remains]:
    """Write for a while on this disk; the remains of power cuts at random moments, the last one at the very end."""
    rng, clock, remains = random.Random(seed), FakeClock(seed=seed), list[Remains]()

    def maybe_cut() -> None:
        if len(remains) < CUTS // LIVES - 1 and rng.random() < 0.15:
            remains.append((disk.after_cut(rng), frozenset(acked)))

    disk.platters.clear()
    disk.before_write = maybe_cut
    backend = await SqliteBackend.open(folder / "memory.db", clock=clock, synchronous=synchronous, vfs=disk.name)
    while len(remains) < CUTS // LIVES - 1:
        size = rng.choice((1, 1, 1, 5, 40))
        texts = [rng.randbytes(rng.randint(5, 900)).hex() for _ in range(size)]
        puts = tuple(Put(memory(text, scope=SCOPE, clock=clock)) for text in texts)
        receipt = await backend.apply(Batch(SCOPE, clock.new_id(), clock.now(), puts))
        acked.update(m.id for m in receipt.memories)
        if rng.random() < 0.1:
            empty_log(disk, folder, synchronous)
    remains.append((disk.after_cut(rng), frozenset(acked)))
    disk.before_write = lambda: None
    await backend.close()
    return remains


def empty_log(disk: Disk, folder: Path, synchronous: Mode) -> None:
    """Move the write-ahead log into the file, as SQLite does by itself once it has grown; the log then starts anew."""
    connection = apsw.Connection(str(folder / "memory.db"), vfs=disk.name)
    connection.pragma("synchronous", synchronous)
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
    connection.close()


def lay_out(folder: Path, files: dict[str, bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def lost(folder: Path, remains: Remains) -> int:
    """How many acknowledged memories the store does not have after a cut. It must be sound in any case."""
    files, acked = remains
    lay_out(folder, files)
    connection = apsw.Connection(str(folder / "memory.db"))
    try:
        assert connection.pragma("integrity_check") == "ok"
        if connection.pragma("user_version") == 0:
            assert connection.execute("SELECT * FROM sqlite_schema").fetchall() == [], (
                "a schema comes whole or not at all"
            )
            return len(acked)
        found = {row[0] for row in connection.execute("SELECT id FROM memories")}
        numbered = [row[0] for row in connection.execute("SELECT row & 274877906943 FROM journal ORDER BY row")]
        assert numbered == list(range(1, len(found) + 1)), "whole batches, in their order, and nothing in between"
    finally:
        connection.close()
    return len(acked - found)


async def cut_power(disk: Disk, tmp_path: Path, synchronous: Mode) -> tuple[int, int]:
    """Cuts made, and acknowledged memories lost by them; each life goes on from what the last cut left."""
    acked: set[str] = set()
    cuts = missing = 0
    home, ruin = tmp_path / "home", tmp_path / "ruin"
    home.mkdir()
    for life in range(LIVES):
        remains = await live(disk, home, synchronous, acked, seed=life)
        for each in remains:
            cuts += 1
            missing += lost(ruin, each)
        lay_out(home, remains[-1][0])
        acked = set(remains[-1][1]) if synchronous == "FULL" else set()
    return cuts, missing


async def test_nothing_acknowledged_is_lost(disk: Disk, tmp_path: Path) -> None:
    assert await cut_power(disk, tmp_path, "FULL") == (CUTS, 0)


async def test_the_test_finds_what_normal_loses(disk: Disk, tmp_path: Path) -> None:
    cuts, missing = await cut_power(disk, tmp_path, "NORMAL")
    assert cuts == CUTS
    assert missing > 0
