"""The embedded store: one SQLite file."""

from longmind.store.sqlite.backend import SqliteBackend
from longmind.store.sqlite.salvage import salvage

__all__ = ["SqliteBackend", "salvage"]
