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
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from longmind.errors import StoreUnavailable
from longmind.private_files import create_folder, open_private
from longmind.store.base import Head
from longmind.store.search.packed import CapturedView, PackedView, pack, unpack
from longmind.store.search.view import View
from longmind.text.index_terms import ANALYSIS_VERSION
from longmind.types import Scope

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_MAGIC = b"longmind view 1\n"
_LOCK, _SNAPSHOT, _UNFINISHED = "lock", ".view", ".new"
_UNUSED_SECONDS = 30 * 86_400
"""How long a snapshot is kept that nobody reads."""
_LOCK_SECONDS, _LOCK_POLL = 30.0, 0.02
_NAMES = "names"
_GROWING = ("column ", "vectors small", "vectors scale")


@dataclass(frozen=True, slots=True)
class SnapshotHeader:
    """What a snapshot says of itself."""

    store: int
    """The inode of the store's file: another file in its place has other rows."""
    analysis: int
    """The version of the text analyser."""
    seq: int
    epoch: int
    mark: str
    """A hash of the journal's line with the number ``seq``."""
    rows: int
    space: str | None
    dimensions: int
    arrays: tuple[tuple[str, str, tuple[int, ...], int], ...]
    """Name, type, shape and CRC-32 of each array, in the order of the file."""

    @property
    def head(self) -> Head:
        return Head(self.seq, self.epoch)


class SnapshotFolder:
    """The snapshots of one store. Every method but ``erasing`` blocks: call it in a thread."""

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
                header = _read_header(file)
        except (OSError, ValueError, TypeError, KeyError):
            return None
        usable = header.store == self._inode() and header.analysis == ANALYSIS_VERSION
        return header if usable else None

    def load(self, scope: Scope, header: SnapshotHeader) -> View | None:
        """Return the view of a snapshot whose header was read before; None if it is damaged or was replaced."""
        path = self._path(scope)
        try:
            with path.open("rb") as file:
                if _read_header(file) != header:
                    return None
                arrays = {name: _read_array(file, name, dtype, shape, crc) for name, dtype, shape, crc in header.arrays}
                if file.read(1):
                    return None
            os.utime(path)
            names = json.loads(arrays.pop(_NAMES).tobytes())
            if len(names["ids"]) != header.rows:
                return None
        except (OSError, ValueError, KeyError):
            return None
        return unpack(PackedView(header.head, header.space, header.dimensions, names, arrays))

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
                _write(file, pack(captured), self._inode(), mark)
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
        viewer = hashlib.sha256(json.dumps([scope.user, scope.all_users]).encode()).hexdigest()[:16]
        return self._folder / f"{_agent_name(scope)}-{viewer}{_SNAPSHOT}"

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


def _write(file: IO[bytes], packed: PackedView, store: int, mark: str) -> None:
    names = np.frombuffer(json.dumps(dict(packed.names)).encode(), np.uint8)
    arrays = {_NAMES: names, **{name: np.ascontiguousarray(array) for name, array in packed.arrays.items()}}
    header = SnapshotHeader(
        store=store,
        analysis=ANALYSIS_VERSION,
        seq=packed.head.seq,
        epoch=packed.head.epoch,
        mark=mark,
        rows=packed.rows,
        space=packed.space,
        dimensions=packed.dimensions,
        arrays=tuple((name, a.dtype.str, a.shape, zlib.crc32(_bytes_of(a))) for name, a in arrays.items()),
    )
    text = json.dumps(asdict(header)).encode()
    file.write(_MAGIC + len(text).to_bytes(8, "little") + zlib.crc32(text).to_bytes(4, "little") + text)
    for array in arrays.values():
        file.write(_bytes_of(array))


def _read_header(file: IO[bytes]) -> SnapshotHeader:
    """Read the header; ``ValueError`` if there is none."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("no snapshot of this version")
    size, crc = int.from_bytes(file.read(8), "little"), int.from_bytes(file.read(4), "little")
    if size > os.fstat(file.fileno()).st_size:
        raise ValueError("the header is damaged")
    text = file.read(size)
    if zlib.crc32(text) != crc:
        raise ValueError("the header is damaged")
    values = json.loads(text)
    values["arrays"] = tuple((name, dtype, tuple(shape), crc) for name, dtype, shape, crc in values["arrays"])
    return SnapshotHeader(**values)


def _read_array(file: IO[bytes], name: str, dtype: str, shape: tuple[int, ...], crc: int) -> NDArray[Any]:
    """Read an array; ``ValueError`` if it is damaged. One that new rows are added to gets room for some."""
    room = shape[0] // 16 if name.startswith(_GROWING) else 0
    array = np.zeros((shape[0] + room, *shape[1:]), np.dtype(dtype))
    read = array[: shape[0]]
    if file.readinto(_bytes_of(read)) != read.nbytes or zlib.crc32(_bytes_of(read)) != crc:  # type: ignore[attr-defined]
        raise ValueError("an array is damaged")
    return array


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
