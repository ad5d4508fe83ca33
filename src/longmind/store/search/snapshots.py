"""Stored snapshots of views: files in a folder beside the store, so that a new process need not read every row.

A snapshot is a cache. It is used only if the journal still has the line up to which it was made, and if its checksums
are right; anything else is as if there were none. It holds hashes of words, vectors, ids and names, so only the owner
of the store may read it, and an erasure removes it before anything is erased (docs/adr/0025-view-snapshots.md).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import IO

from longmind.errors import StoreUnavailable
from longmind.private_files import create_folder, open_private
from longmind.store.search.packed import CapturedView, pack, unpack
from longmind.store.search.snapshot_format import (
    SnapshotHeader,
    read_header,
    read_snapshot,
    viewer_name,
    write_snapshot,
)
from longmind.store.search.view import View
from longmind.text.index_terms import ANALYSIS_VERSION
from longmind.types import Scope

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOCK, _SNAPSHOT, _UNFINISHED = "lock", ".view", ".new"
_UNUSED_SECONDS = 30 * 86_400
"""How long a snapshot is kept that nobody reads."""
_LOCK_SECONDS, _LOCK_POLL = 30.0, 0.02


class SnapshotFolder:
    """The files of one store. Every method but ``erasing`` blocks: call it in a thread."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._folder = store.with_name(f"{store.name}.views")

    @staticmethod
    def supported() -> bool:
        """Whether this system can lock the folder."""
        return fcntl is not None

    def header(self, scope: Scope) -> SnapshotHeader | None:
        """Return the header of the snapshot of a scope; None if there is none that this version can read."""
        try:
            with self._path(scope).open("rb") as file:
                header = read_header(file, os.fstat(file.fileno()).st_size)
        except (OSError, ValueError, TypeError, KeyError):
            return None
        usable = header.store == self._inode() and header.analysis == ANALYSIS_VERSION
        return header if usable else None

    def load(self, scope: Scope, header: SnapshotHeader) -> View | None:
        """Return the view of a snapshot whose header was read before; None if it is damaged or was replaced."""
        path = self._path(scope)
        try:
            with path.open("rb") as file:
                packed = read_snapshot(file, os.fstat(file.fileno()).st_size, header)
            os.utime(path)
        except (OSError, ValueError, KeyError):
            return None
        return unpack(packed)

    def begin(self, scope: Scope) -> IO[bytes]:
        """Make the file of a new snapshot, which from now on an erasure removes."""
        create_folder(self._folder)
        with self._locked():
            return open(self._unfinished(scope), "wb", opener=open_private)

    def write(self, file: IO[bytes], scope: Scope, captured: CapturedView, mark: str) -> bool:
        """Write the snapshot of a view and put it in place. Return False if an erasure removed its file meanwhile."""
        unfinished = self._unfinished(scope)
        try:
            with file:
                write_snapshot(file, pack(captured), self._inode(), mark)
            with self._locked():
                self._remove_unused()
                os.replace(unfinished, self._path(scope))
        except FileNotFoundError:
            return False
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise
        return True

    def remove(self, scope: Scope | None = None) -> int:
        """Remove every snapshot of an agent, or of the store. Return how many there were."""
        if not self._folder.exists():
            return 0
        with self._locked():
            return self._remove(scope)

    @asynccontextmanager
    async def erasing(self, scope: Scope) -> AsyncIterator[None]:
        """Remove every snapshot of an agent, and let no new one begin until the block ends."""
        await asyncio.to_thread(create_folder, self._folder)
        descriptor = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            begun = time.monotonic()
            while not _try_lock(descriptor):
                if time.monotonic() - begun > _LOCK_SECONDS:
                    raise StoreUnavailable(f"{self._folder} is locked by another process.", hint="Try again.")
                await asyncio.sleep(_LOCK_POLL)
            await asyncio.to_thread(self._remove, scope)
            yield
        finally:
            os.close(descriptor)

    def _remove(self, scope: Scope | None) -> int:
        prefix = "" if scope is None else _agent_name(scope)
        removed = 0
        for path in self._folder.iterdir():
            if path.name != _LOCK and path.name.startswith(prefix):
                path.unlink(missing_ok=True)
                removed += 1
        return removed

    def _remove_unused(self) -> None:
        oldest = time.time() - _UNUSED_SECONDS
        for path in self._folder.glob(f"*{_SNAPSHOT}"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < oldest:
                    path.unlink()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        descriptor = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _inode(self) -> int:
        return self._store.stat().st_ino

    def _path(self, scope: Scope) -> Path:
        return self._folder / f"{_agent_name(scope)}-{viewer_name(scope)}{_SNAPSHOT}"

    def _unfinished(self, scope: Scope) -> Path:
        return self._path(scope).with_suffix(f".{os.getpid()}-{id(self):x}{_UNFINISHED}")


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _agent_name(scope: Scope) -> str:
    """Return how the names of an agent's files begin. They tell nothing of who it is."""
    return hashlib.sha256(json.dumps([scope.tenant, scope.agent]).encode()).hexdigest()[:32]


class FolderSnapshots:
    """The snapshots of a store in a file."""

    def __init__(self, store: Path) -> None:
        self._folder = SnapshotFolder(store)

    async def header(self, scope: Scope) -> SnapshotHeader | None:
        return await asyncio.to_thread(self._folder.header, scope)

    async def load(self, scope: Scope, header: SnapshotHeader) -> View | None:
        return await asyncio.to_thread(self._folder.load, scope, header)

    async def begin(self, scope: Scope) -> Callable[[CapturedView, str], Awaitable[bool]]:
        file = await asyncio.to_thread(self._folder.begin, scope)

        async def write(captured: CapturedView, mark: str) -> bool:
            return await asyncio.to_thread(self._folder.write, file, scope, captured, mark)

        return write

    async def remove(self) -> int:
        return await asyncio.to_thread(self._folder.remove)

    def erasing(self, scope: Scope) -> AbstractAsyncContextManager[None]:
        return self._folder.erasing(scope)
