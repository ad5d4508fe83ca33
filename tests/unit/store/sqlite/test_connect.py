"""Opening: what is made, what is refused, and that a refused file is left as it is."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from longmind.errors import ForeignStore, InvalidSetting, SchemaTooNew, StoreCorrupt, StoreUnavailable
from longmind.store.conformance.steps import AGENT, get, put
from longmind.store.sqlite import SqliteBackend
from longmind.store.sqlite.connect import Target
from longmind.types import Filter


def bytes_of(path: Path) -> bytes | None:
    return None if path.is_dir() else path.read_bytes()


def rewrite(path: Path, content: bytes | bytearray) -> None:
    path.write_bytes(content)


async def test_folders_on_the_way_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "memory.db"
    backend = await SqliteBackend.open(path)
    kept = await put(backend)
    await backend.close()
    assert path.exists()
    again = await SqliteBackend.open(str(path))
    assert await get(again, kept.id) == kept
    await again.close()


async def test_an_empty_file_becomes_a_store(path: Path) -> None:
    rewrite(path, b"")
    backend = await SqliteBackend.open(path)
    kept = await put(backend)
    assert await backend.get(AGENT, [kept.id]) == [kept]
    await backend.close()


async def test_odd_characters_in_the_path(tmp_path: Path) -> None:
    path = tmp_path / "what? 100% #1 'ü" / "file:memory.db?mode=ro"
    backend = await SqliteBackend.open(path)
    await put(backend)
    await backend.close()
    assert path.exists()


def test_settings(path: Path) -> None:
    target = Target(str(path))
    writer = target.writer()
    writer.pragma("journal_mode", "WAL")
    assert writer.pragma("synchronous") == 2
    assert writer.pragma("secure_delete") == 1
    reader = target.reader()
    with pytest.raises(apsw.ReadOnlyError):
        reader.execute("CREATE TABLE t (x)")
    reader.close()
    writer.close()


async def test_the_log_is_written_ahead(store: SqliteBackend, path: Path) -> None:
    await put(store)
    assert path.with_name("memory.db-wal").stat().st_size > 0


async def refused(path: Path, error: type[Exception], *said: str) -> None:
    """Opening raises this, tells the path and what to do, and leaves the file byte for byte as it was."""
    before = bytes_of(path)
    with pytest.raises(error) as caught:
        await SqliteBackend.open(path, busy_timeout_s=0.1)
    told = str(caught.value)
    assert all(word in told for word in (str(path), *said)), told
    if before is not None:
        assert bytes_of(path) == before
        assert not path.with_name(f"{path.name}-wal").exists()


async def test_a_text_file_is_refused(path: Path) -> None:
    rewrite(path, b"Dear diary, this is not a database. " * 50)
    await refused(path, ForeignStore, "longmind doctor --url")


async def test_a_database_of_another_program_is_refused(path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE mine (x); INSERT INTO mine VALUES (1)")
    other.close()
    await refused(path, ForeignStore, "another program")


@pytest.mark.parametrize("header", ["application_id", "user_version"])
async def test_an_empty_database_marked_by_another_program_is_refused(path: Path, header: str) -> None:
    other = apsw.Connection(str(path))
    other.pragma(header, 7)
    other.close()
    await refused(path, ForeignStore, "another program")


async def test_a_newer_schema_is_refused(path: Path) -> None:
    await (await SqliteBackend.open(path)).close()
    newer = apsw.Connection(str(path))
    newer.pragma("user_version", 99)
    newer.close()
    await refused(path, SchemaTooNew, "99", "newer Longmind")


@pytest.mark.parametrize("left", [None, b""])
async def test_a_lost_file_beside_its_log_is_refused_and_the_log_is_kept(path: Path, left: bytes | None) -> None:
    log = path.with_name(f"{path.name}-wal")
    backend = await SqliteBackend.open(path)
    await put(backend)
    kept = log.read_bytes()
    assert kept
    await backend.close()
    os.unlink(path)
    rewrite(log, kept)
    if left is not None:
        rewrite(path, left)
    with pytest.raises(StoreCorrupt, match="Nothing was touched") as refusal:
        await SqliteBackend.open(path)
    assert "--salvage" in refusal.value.hint
    assert log.read_bytes() == kept
    left_files = {file for file in os.listdir(path.parent) if file.startswith(path.name)}
    assert left_files == {log.name} if left is None else {log.name, path.name}


async def test_an_empty_log_beside_a_missing_file_is_no_loss(path: Path) -> None:
    path.with_name(f"{path.name}-wal").write_bytes(b"")
    await (await SqliteBackend.open(path)).close()
    assert bytes_of(path)


async def test_a_path_with_a_nul_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="NUL"):
        await SqliteBackend.open(f"{tmp_path}/a\0b.db")


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
@pytest.mark.parametrize("umask", [0o000, 0o277])
async def test_only_the_owner_may_read_what_is_made(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        backend = await SqliteBackend.open(tmp_path / "a" / "b" / "memory.db")
        await put(backend)
    finally:
        os.umask(before)
    made = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "a").rglob("*")}
    await backend.close()
    assert made == {"b": 0o700, "memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
async def test_a_file_that_exists_keeps_its_mode(path: Path) -> None:
    rewrite(path, b"")
    os.chmod(path, 0o660)
    os.chmod(path.parent, 0o750)
    await (await SqliteBackend.open(path)).close()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o660
    assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o750


async def test_a_folder_is_refused(path: Path) -> None:
    os.mkdir(path)
    await refused(path, StoreUnavailable, "folder")


async def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match="cannot be made"):
        await SqliteBackend.open(tmp_path / "file" / "memory.db")


async def test_a_damaged_beginning_is_refused(path: Path) -> None:
    backend = await SqliteBackend.open(path)
    await put(backend)
    await backend.close()
    rewrite(path, b"\0" * 50 + (bytes_of(path) or b"")[50:])
    await refused(path, ForeignStore, "beginning is damaged", "longmind doctor --url")


def pages_of(path: Path, *tables: str) -> list[int]:
    """The pages on which these tables and indexes lie."""
    connection = apsw.Connection(str(path))
    matching_ids = connection.execute(
        "SELECT pageno FROM dbstat WHERE name IN (SELECT value FROM json_each(?))", (json.dumps(tables),)
    )
    pages = [page for (page,) in matching_ids]
    connection.close()
    return pages


async def test_a_damaged_page_is_told_when_it_is_read(path: Path) -> None:
    backend = await SqliteBackend.open(path)
    for _ in range(50):
        await put(backend, "x" * 3000)
    await backend.close()
    content = bytearray(bytes_of(path) or b"")
    for page in pages_of(path, "memories", "journal"):
        content[(page - 1) * 4096 : (page - 1) * 4096 + 64] = b"\xff" * 64
    rewrite(path, content)
    backend = await SqliteBackend.open(path)
    with pytest.raises(StoreCorrupt, match=r"memory\.db is damaged.*left as it is.*longmind doctor --url"):
        await backend.scan(AGENT, Filter())
    with pytest.raises(StoreCorrupt):
        await put(backend)
    with pytest.raises(StoreCorrupt):
        _ = [chunk async for chunk in backend.feed(AGENT, 0)]
    await backend.close()
    assert bytes_of(path) == bytes(content)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder anybody may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def as_nobody() -> Iterator[Callable[[], None]]:
    """Stop being root, who may write everything, until the end of the test."""
    was = os.geteuid()
    yield lambda: os.seteuid(65534) if was == 0 else None
    os.seteuid(was)


@pytest.mark.parametrize(("mode", "said"), [(0o444, "right to write"), (0o000, "may read and write")])
async def test_a_file_one_may_not_write_is_refused(
    open_folder: Path, as_nobody: Callable[[], None], mode: int, said: str
) -> None:
    path = open_folder / "memory.db"
    backend = await SqliteBackend.open(path)
    await put(backend)
    await backend.close()
    os.chmod(path, mode)
    as_nobody()
    with pytest.raises(StoreUnavailable, match=said):
        await SqliteBackend.open(path)


async def test_a_folder_one_may_not_write_is_refused(open_folder: Path, as_nobody: Callable[[], None]) -> None:
    path = open_folder / "memory.db"
    backend = await SqliteBackend.open(path)
    await put(backend)
    await backend.close()
    os.chmod(path, 0o666)
    os.chmod(open_folder, 0o555)
    as_nobody()
    with pytest.raises(StoreUnavailable, match="its folder"):
        await SqliteBackend.open(path)


async def test_a_file_that_stays_locked_is_unavailable(path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute("BEGIN EXCLUSIVE")
    await refused(path, StoreUnavailable, "locked")
    other.close()


async def test_many_processes_make_one_store(path: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from longmind.store.sqlite import SqliteBackend\n"
        "from longmind.store.base import Put, Batch\n"
        "from longmind.clock import SystemClock\n"
        "from longmind.testing import memory\n"
        "from longmind.types import Scope\n"
        "async def main():\n"
        "    clock, scope = SystemClock(), Scope(tenant='acme', agent='assistant')\n"
        "    sys.stdin.read()\n"
        "    backend = await SqliteBackend.open(sys.argv[1])\n"
        "    new = memory(scope=scope, id=clock.new_id())\n"
        "    await backend.apply(Batch(scope, clock.new_id(), clock.now(), (Put(new),)))\n"
        "    await backend.close()\n"
        "asyncio.run(main())\n"
    )
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, str(path), stdin=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        for _ in range(3)
    ]
    await asyncio.sleep(1)
    told = await asyncio.gather(*(process.communicate(b"") for process in processes))
    assert [process.returncode for process in processes] == [0, 0, 0], told
    backend = await SqliteBackend.open(path)
    assert (await backend.head(AGENT)).seq == 3
    assert await backend.check() == []
    await backend.close()
