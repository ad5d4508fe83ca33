"""A snapshot of a view as bytes: a header with checksums, then the arrays one after another; and where it is kept."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from typing import IO, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from longmind.store.base import Head
from longmind.store.search.packed import CapturedView, PackedView
from longmind.store.search.view import View
from longmind.text.index_terms import ANALYSIS_VERSION
from longmind.types import Scope

_MAGIC = b"longmind view 1\n"
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


class Snapshots(Protocol):
    """Where the snapshots of a store are kept."""

    async def header(self, scope: Scope) -> SnapshotHeader | None:
        """Return the header of the snapshot of a scope; None if there is none that this version can read."""
        ...

    async def load(self, scope: Scope, header: SnapshotHeader) -> View | None:
        """Return the view of a snapshot whose header was read before; None if it is damaged or was replaced."""
        ...

    async def begin(self, scope: Scope) -> Callable[[CapturedView, str], Awaitable[bool]]:
        """Announce a snapshot, which from now on an erasure takes back. Return what stores it.

        That returns False, with nothing stored, if it was taken back meanwhile.
        """
        ...

    async def remove(self) -> int:
        """Remove every snapshot of the store. Return how many there were."""
        ...

    def erasing(self, scope: Scope) -> AbstractAsyncContextManager[None]:
        """Remove every snapshot of an agent, and let no new one begin until what is in the block was erased."""
        ...


def write_snapshot(file: IO[bytes], packed: PackedView, store: int, mark: str) -> None:
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


def read_header(file: IO[bytes], total: int) -> SnapshotHeader:
    """Read the header; ``ValueError`` if there is none. ``total`` is the size of all that can be read."""
    if file.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("no snapshot of this version")
    size, crc = int.from_bytes(file.read(8), "little"), int.from_bytes(file.read(4), "little")
    if size > total:
        raise ValueError("the header is damaged")
    text = file.read(size)
    if zlib.crc32(text) != crc:
        raise ValueError("the header is damaged")
    values = json.loads(text)
    values["arrays"] = tuple((name, dtype, tuple(shape), crc) for name, dtype, shape, crc in values["arrays"])
    return SnapshotHeader(**values)


def read_snapshot(file: IO[bytes], total: int, header: SnapshotHeader) -> PackedView:
    """Read a snapshot whose header was read before; ``ValueError`` if it is damaged or was replaced."""
    if read_header(file, total) != header:
        raise ValueError("it was replaced")
    arrays = {name: _read_array(file, name, dtype, shape, crc) for name, dtype, shape, crc in header.arrays}
    names = json.loads(arrays.pop(_NAMES).tobytes())
    if file.read(1) or len(names["ids"]) != header.rows:
        raise ValueError("it has another length than it says")
    return PackedView(header.head, header.space, header.dimensions, names, arrays)


def viewer_name(scope: Scope) -> str:
    """Return what tells the snapshots of an agent apart: a hash of the user whose memories it holds."""
    return hashlib.sha256(json.dumps([scope.user, scope.all_users]).encode()).hexdigest()[:16]


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
