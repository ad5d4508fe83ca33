"""Stored snapshots of views: what a new process reads of them, when they are ignored, and that erasure removes them."""

from __future__ import annotations

import asyncio
import shutil
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from longmind.store.base import Put, Space
from longmind.store.search import vectors, views
from longmind.store.search.ranking import by_text, by_vector
from longmind.store.search.snapshots import FolderSnapshots, SnapshotFolder
from longmind.store.search.view import View
from longmind.store.sqlite import SqliteBackend
from longmind.store.store import Store
from longmind.testing import FakeClock, memory
from longmind.types import Filter, Memory, Scope

SCOPE = Scope(agent="a", all_users=True)
WORDS = ("heron", "lantern", "quartz", "violin", "harbour", "pepper")
SPACE = Space("one/16", 16)
ROWS = 60
CLOCK = FakeClock()
_RANDOM = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views of a few rows are large."""
    monkeypatch.setattr(views, "SNAPSHOT_ROWS", 40)
    monkeypatch.setattr(views, "_SNAPSHOT_CHANGES", 30)
    monkeypatch.setattr(vectors, "EXACT_ROWS", 40)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Store]:
    """A store as another process would open it: with no view in memory."""
    store = Store(await SqliteBackend.open(path, clock=CLOCK), CLOCK, snapshots=FolderSnapshots(path))
    await store.backend.declare_space(SPACE)  # type: ignore[attr-defined]
    try:
        yield store
    finally:
        await store.close()


async def fill(store: Store, count: int = ROWS, *, first: int = 0) -> list[Memory]:
    """Store memories of two users and three sessions."""
    memories = [
        memory(
            f"The {WORDS[n % 6]} number {n} stands by the {WORDS[n % 5]}.",
            scope=SCOPE.of_user(("alice", "bob", None)[n % 3]),
            clock=store.clock,
            session=f"session {n % 4}" if n % 4 else None,
        )
        for n in range(first, first + count)
    ]
    for user in ("alice", "bob", None):
        puts = [Put(stored, _vector()) for stored in memories if stored.user == user]
        if puts:
            await store.apply(SCOPE.of_user(user), puts)
    return memories


def _vector() -> NDArray[np.float32]:
    vector = _RANDOM.normal(size=16).astype(np.float32)
    return vector / np.linalg.norm(vector)


def feeds_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the number after which each feed is read."""
    numbers: list[int] = []
    feed = store.backend.feed

    def counted(scope: Scope, after: int) -> object:
        numbers.append(after)
        return feed(scope, after)

    monkeypatch.setattr(store.backend, "feed", counted)
    return numbers


def stored_files(path: Path) -> list[Path]:
    folder = path.with_name("memory.db.views")
    return sorted(file for file in folder.glob("*") if file.name != "lock") if folder.exists() else []


def answers(view: View) -> list[list[tuple[str, float]]]:
    """Return what a view answers to some questions, with every bit of the scores."""
    query = np.linspace(-1, 1, 16, dtype=np.float32)
    asked = [by_text(view, f"{word} by the {other}", 20, Filter(), None) for word in WORDS for other in WORDS]
    asked.append(by_vector(view, query / np.linalg.norm(query), 20, Filter(users=("alice",)), None))
    norms = zip(view.ids, view.near_norms(), strict=True)
    around = [(id, float(norm)) for id, norm in norms if view.row_of(id) is not None]
    return [[(hit.id, hit.score) for hit in hits] for hits in asked] + [sorted(around)]


async def cold(path: Path) -> list[list[tuple[str, float]]]:
    """Return the answers of a view that was read from the rows."""
    backend = await SqliteBackend.open(path, clock=CLOCK)
    try:
        return answers(await views.Views(backend, 10**9).fresh(SCOPE))
    finally:
        await backend.close()


async def test_a_new_process_begins_with_the_snapshot(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(path) as store:
        await fill(store)
        await store.view(SCOPE)
    async with opened(path) as store:
        read = feeds_read(store, monkeypatch)
        assert answers(await store.view(SCOPE)) == await cold(path)
        assert read == [ROWS]


async def test_it_goes_on_from_the_snapshot_as_if_it_had_read_the_rows(path: Path) -> None:
    async with opened(path) as store:
        memories = await fill(store)
        await store.delete(SCOPE, memories[3].id)
        await store.update(SCOPE, memories[9].id, {"content": "A lantern of quartz."})
        await store.view(SCOPE)
    async with opened(path) as store:
        await fill(store, 10, first=ROWS)
        await store.delete(SCOPE, memories[5].id)
        await store.delete(SCOPE, memories[58].id)
        assert answers(await store.view(SCOPE)) == await cold(path)
        await fill(store, 3, first=ROWS + 10)
        view = await store.view(SCOPE)
        assert answers(view) == await cold(path)
        fresh = await views.Views(store.backend, 10**9).fresh(SCOPE)
        assert (view.units, view.said, view.mean_length) == (fresh.units, fresh.said, fresh.mean_length)


async def test_what_was_removed_is_not_in_a_snapshot(path: Path) -> None:
    async with opened(path) as store:
        await fill(store)
        gone = memory("A word.", scope=SCOPE.of_user("carol"), clock=store.clock, session="the session of carol")
        await store.apply(SCOPE.of_user("carol"), [Put(gone)])
        await store.view(SCOPE)
        await store.delete(SCOPE, gone.id)
        await fill(store, 40, first=ROWS)
        await store.view(SCOPE)
    (file,) = stored_files(path)
    assert b"session 1" in file.read_bytes()
    assert b"carol" not in file.read_bytes()
    assert gone.id.encode() not in file.read_bytes()


async def test_it_is_written_again_after_many_changes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(path) as store:
        await fill(store)
        await store.view(SCOPE)
        await store._views.finish()  # what is added meanwhile would be in the first one
        await fill(store, 29, first=ROWS)
        await store.view(SCOPE)
        await fill(store, 1, first=ROWS + 29)
        await store.view(SCOPE)
    async with opened(path) as store:
        read = feeds_read(store, monkeypatch)
        await store.view(SCOPE)
        assert read == [ROWS + 30]


@pytest.mark.parametrize("place", [3, 40, 2_000, -1])
async def test_a_damaged_snapshot_is_ignored(path: Path, place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(path) as store:
        await fill(store)
        await store.view(SCOPE)
    (file,) = stored_files(path)
    content = bytearray(file.read_bytes())
    content[place] ^= 4
    file.write_bytes(content)
    async with opened(path) as store:
        read = feeds_read(store, monkeypatch)
        assert answers(await store.view(SCOPE)) == await cold(path)
        assert read == [0]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
async def test_a_snapshot_that_was_cut_off_is_ignored(
    path: Path, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(path) as store:
        await fill(store)
        await store.view(SCOPE)
    (file,) = stored_files(path)
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    async with opened(path) as store:
        read = feeds_read(store, monkeypatch)
        await store.view(SCOPE)
        assert read == [0]


async def test_a_snapshot_of_another_past_is_ignored(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(path) as store:
        await fill(store, 50)
    shutil.copy(path, backup := path.with_name("backup.db"))
    async with opened(path) as store:
        await fill(store, 10, first=50)
        await store.view(SCOPE)
    shutil.copyfile(backup, path)  # the same file, set back
    async with opened(path) as store:
        await fill(store, 12, first=100)
        read = feeds_read(store, monkeypatch)
        assert answers(await store.view(SCOPE)) == await cold(path)
        assert read == [0]


async def test_a_snapshot_of_another_file_is_ignored(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(path) as store:
        await fill(store)
        await store.view(SCOPE)
    shutil.copy(path, other := path.with_name("other.db"))
    other.replace(path)
    async with opened(path) as store:
        read = feeds_read(store, monkeypatch)
        await store.view(SCOPE)
        assert read == [0]


async def test_an_erasure_removes_the_snapshots_of_the_agent(path: Path) -> None:
    other = Scope(agent="b", all_users=True)
    async with opened(path) as store:
        memories = await fill(store)
        others = [memory(f"Number {n}.", scope=other, clock=store.clock) for n in range(ROWS)]
        await store.apply(other, [Put(stored, _vector()) for stored in others])
        for scope in (SCOPE, SCOPE.of_user("alice"), other):
            await store.view(scope)
    assert len(stored_files(path)) == 2, "alice has too few memories for one"
    async with opened(path) as store:
        await store.delete(SCOPE, memories[0].id, erase=True)
        assert len(stored_files(path)) == 1
        await store.view(SCOPE)
    assert all(memories[0].id.encode() not in file.read_bytes() for file in stored_files(path))
    async with opened(path) as store:
        assert "Removed the stored search views." in (await store.scrub()).done
    assert stored_files(path) == []


async def test_a_snapshot_that_is_written_during_an_erasure_is_not_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has copied the view, and writes it after the erasure."""
    write, copied, erased = SnapshotFolder.write, asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def late(self: SnapshotFolder, *arguments: object) -> bool:
        loop.call_soon_threadsafe(copied.set)
        asyncio.run_coroutine_threadsafe(erased.wait(), loop).result()
        return write(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(SnapshotFolder, "write", late)
    async with opened(path) as other, opened(path) as store:
        memories = await fill(store)
        await other.view(SCOPE)
        await copied.wait()
        assert len(stored_files(path)) == 1
        await store.delete(SCOPE, memories[0].id, erase=True)
        erased.set()
        await other._views.finish()
        assert stored_files(path) == []


async def test_only_the_owner_can_read_a_snapshot(path: Path) -> None:
    async with opened(path) as store:
        await fill(store)
        await store.view(SCOPE)
    (file,) = stored_files(path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_a_small_agent_has_none(path: Path) -> None:
    async with opened(path) as store:
        memories = await fill(store, 20)
        await store.view(SCOPE)
        await store.delete(SCOPE, memories[0].id, erase=True)
    assert not path.with_name("memory.db.views").exists()


async def test_a_snapshot_that_cannot_be_written_is_logged(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.with_name("memory.db.views").write_text("a file, where the folder should be")
    async with opened(path) as store:
        await fill(store)
        assert (await store.view(SCOPE)).living == ROWS
    assert "The snapshot of a view was not stored" in caplog.text
