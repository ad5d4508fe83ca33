"""The embedded store: one SQLite file."""

from recollect.store.sqlite.backend import SqliteBackend
from recollect.store.sqlite.salvage import salvage

__all__ = ["SqliteBackend", "salvage"]
