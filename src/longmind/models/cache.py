"""Files that are made once and kept, written so that several processes may do it at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def kept(path: Path, make: Callable[[Path], None]) -> Path:
    """The file at ``path``, made first if it is not there.

    ``make`` writes to a name of its own, which is renamed when it is whole and on disk: no process ever sees half a
    file, and when two make it at once the second rename replaces the first with the same content.
    """
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=path.stem + ".", suffix=".part", dir=path.parent)
    os.close(handle)
    part = Path(name)
    try:
        make(part)
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path
