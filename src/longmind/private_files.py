"""Files and folders that only their owner may read, whatever the umask says."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from longmind.errors import StoreUnavailable

FILE_MODE = 0o600
FOLDER_MODE = 0o700


def open_private(path: str, flags: int) -> int:
    """Open a file for its owner only; an ``opener`` of the built-in ``open``."""
    opened = os.open(path, flags, FILE_MODE)
    if hasattr(os, "fchmod"):  # not on Windows, where files belong to the user's profile
        os.fchmod(opened, FILE_MODE)
    return opened


def create_file(path: str) -> None:
    """Create an empty file if there is none. One that exists keeps its mode: somebody may have chosen it."""
    try:
        os.close(open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    except OSError as error:
        raise StoreUnavailable(
            f"{path} cannot be made ({error.strerror}).", hint="Give a path you may write to.", path=path
        ) from error


def create_folder(folder: Path) -> None:
    """Create the missing folders of a path and sync them, so that they survive a power cut."""
    missing = [f for f in (folder, *folder.parents) if not f.exists()]
    try:
        for created in reversed(missing):
            with suppress(FileExistsError):  # another process was quicker
                created.mkdir(mode=FOLDER_MODE)
                created.chmod(FOLDER_MODE)
        folder.mkdir(exist_ok=True)
        for created in missing:
            above = os.open(created.parent, os.O_RDONLY)
            try:
                os.fsync(above)
            finally:
                os.close(above)
    except OSError as error:
        raise StoreUnavailable(
            f"The folder {folder} cannot be made ({error.strerror}).", hint="Give a path you may write to."
        ) from error
