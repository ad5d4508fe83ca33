"""Translation of SQLite's errors: what happened, to which file, and what to do."""

from __future__ import annotations

import apsw

from longmind.errors import ForeignStore, InvalidInput, StoreCorrupt, StoreError, StoreFull, StoreUnavailable

KEPT = "The file was left as it is."


class DamagedRow(Exception):
    """The row of a memory does not hold what was stored in it."""

    def __init__(self, memory_id: str) -> None:
        super().__init__("its checksum does not fit")
        self.memory_id = memory_id


def translate(error: Exception, path: str) -> Exception:
    """Return the Longmind error for an error of SQLite's; any other error is returned as it is."""
    match error:
        case apsw.NotADBError():
            return ForeignStore(
                f"{path} is not a SQLite database, or its beginning is damaged. {KEPT}",
                hint=f"Give another path, or run `longmind doctor --url {path}` if this was a store.",
                path=path,
            )
        case apsw.CorruptError():
            return StoreCorrupt(
                f"{path} is damaged ({error}). {KEPT}",
                hint=f"Make a copy of it, then run `longmind doctor --url {path}` to see what can be read.",
                path=path,
            )
        case DamagedRow() | UnicodeDecodeError():
            which = f"The memory {error.memory_id}" if isinstance(error, DamagedRow) else "A memory"
            return StoreCorrupt(
                f"{which} in {path} is damaged: it is not what was stored. Other memories can be read. {KEPT}",
                hint=f"Copy the file; `longmind doctor --url {path}` names what is damaged. Restore a backup, or make "
                f"a new store of the rest: `longmind doctor --url {path} --salvage out.jsonl`, then "
                "`longmind import out.jsonl --url new.db`.",
                path=path,
            )
        case apsw.FullError():
            return StoreFull(
                f"There is no space left to write to {path}; nothing of this change was kept.",
                hint="Free space on the disk (or raise the quota) and try again.",
                path=path,
            )
        case apsw.BusyError() | apsw.LockedError():
            return StoreUnavailable(
                f"{path} stayed locked by another program for too long.",
                hint="Try again; if it lasts, find what holds the file open in a long transaction.",
                path=path,
            )
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            return StoreUnavailable(
                f"{path} cannot be written ({error}).",
                hint="Give this user the right to write the file and its folder.",
                path=path,
            )
        case apsw.CantOpenError():
            return StoreUnavailable(
                f"{path} cannot be opened ({error}).",
                hint="Check that it is a file, not a folder, and that this user may read and write it and its folder.",
                path=path,
            )
        case apsw.ConnectionClosedError():
            return closed(path)
        case apsw.Error():
            return StoreError(
                f"{path} could not be read or written ({type(error).__name__}: {error}).",
                hint=f"Check the disk, then run `longmind doctor --url {path}`.",
                path=path,
            )
        case OverflowError() | UnicodeError():
            return InvalidInput(
                f"A value cannot be stored: {error}.",
                hint="Whole numbers must fit 64 bits and text must be valid Unicode.",
            )
    return error


def closed(path: str) -> StoreUnavailable:
    return StoreUnavailable(f"The store {path} is closed.", hint="Open it again.", path=path)
