"""Writing a file so that it is either whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from longmind.errors import Conflict
from longmind.private_files import open_private


@contextmanager
def whole_file(path: Path, *, replace: bool) -> Iterator[IO[str]]:
    """A text file that gets its name only when it is complete and on the disk. Only its owner may read it."""
    if path.exists() and not replace:
        raise Conflict(f"{path} exists already.", hint="Choose another name, or give --force to replace it.")
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "w", encoding="utf-8", newline="\n", opener=open_private) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
