"""Opening a store file: checks, migrations, and the settings of each connection.

A file that is not ours is never written to, not even to turn on the write-ahead log. Only one process at a time brings
the schema up to date; the others wait and then find nothing left to do.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from weakref import WeakSet

import apsw

from longmind.errors import ForeignStore, InvalidSetting, SchemaTooNew, StoreCorrupt, StoreUnavailable
from longmind.private_files import create_file, create_folder
from longmind.store import migrate
from longmind.store.sqlite.failures import DamagedRow, closed, translate
from longmind.store.sqlite.queries import PACKAGE

T = TypeVar("T")

APPLICATION_ID = 1282237489
"""The four bytes "Lmd1" in the header of each of our files."""

SCHEMA_VERSION = 1
"""The number of the newest migration, kept in the header as ``user_version``."""

IDLE_READERS = 4
LOG = "-wal"
"""What SQLite appends to the name of a file for its write-ahead log."""


_connections: WeakSet[apsw.Connection] = WeakSet()
_inherited: list[apsw.Connection] = []
"""Connections of the parent process. A fork must neither use nor close them: closing writes to the parent's file."""


def _keep_inherited() -> None:
    _inherited.extend(_connections)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_keep_inherited)


@dataclass(frozen=True, slots=True)
class Target:
    """A store file and how to open it."""

    path: str
    synchronous: str = "FULL"
    busy_timeout_s: float = 30.0
    vfs: str | None = None

    def connect(self) -> apsw.Connection:
        """Open a connection with the common settings. No mmap: a failing disk must be an error, not a signal."""
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = apsw.Connection(self.path, flags=flags, vfs=self.vfs, statementcachesize=128)
        try:
            connection.set_busy_timeout(int(self.busy_timeout_s * 1000))
            connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
            connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
            connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            for name, value in (("cell_size_check", "ON"), ("temp_store", "MEMORY"), ("cache_size", "-8000")):
                connection.pragma(name, value)
        except apsw.Error:
            connection.close()
            raise
        _connections.add(connection)
        return connection

    def writer(self) -> apsw.Connection:
        """The one connection that writes. It waits for the lock by itself, so SQLite need not.

        The write-ahead log is emptied into the file while it is short, because a log that has once reached its length
        is written over: as long as it grows, each sync also has to find it room on the disk and note that it is longer.
        """
        connection = self.connect()
        connection.pragma("synchronous", self.synchronous)
        connection.pragma("secure_delete", "ON")  # also of what is only replaced: it may be erased one day
        connection.pragma("wal_autocheckpoint", 1_000)
        connection.pragma("journal_size_limit", 64 * 1024 * 1024)
        connection.set_busy_timeout(0)
        return connection

    def reader(self) -> apsw.Connection:
        """Open a read-only connection."""
        connection = self.connect()
        connection.pragma("query_only", "ON")
        return connection


def prepare(target: Target) -> None:
    """Make sure that the file exists, is a Longmind store and has the schema of this version; raise if it cannot be."""
    if "\0" in target.path:
        raise InvalidSetting("The path of the store has a NUL character in it.", hint="Give the path of a file.")
    if os.path.isdir(target.path):
        raise StoreUnavailable(
            f"{target.path} is a folder.", hint="Give the path of a file in it, such as memory.db.", path=target.path
        )
    if is_lost_beside_log(target.path):
        raise StoreCorrupt(
            f"{target.path} is missing or empty, but its log {target.path}{LOG} is not. Nothing was touched.",
            hint="Put the file back, for example from a backup. Without one, copy the log, and save what it holds with "
            f"`longmind doctor --url {target.path} --salvage out.jsonl`. For a new store, move the log away.",
            path=target.path,
        )
    create_folder(Path(target.path).parent)
    create_file(target.path)  # SQLite gives the log the mode of the file
    try:
        connection = target.connect()
        try:
            _bring_up_to_date(connection, target)
        finally:
            connection.close()
    except apsw.Error as error:
        raise translate(error, target.path) from error


def _bring_up_to_date(connection: apsw.Connection, target: Target) -> None:
    if _missing_schema(connection, target.path):
        patiently(target.busy_timeout_s, lambda: connection.pragma("journal_mode", "WAL"))
        connection.pragma("synchronous", target.synchronous)
        with_lock(connection, target)
        try:
            if _missing_schema(connection, target.path):
                migrate.apply(connection, PACKAGE, "sqlite")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    if connection.readonly("main"):
        raise apsw.ReadOnlyError("the file is read-only")


def _missing_schema(connection: apsw.Connection, path: str) -> bool:
    """Return whether migrations are missing. Raise if the file belongs to another program or a newer version."""
    application, version, tables = _told_by_file(connection)
    if application == APPLICATION_ID:
        if version > SCHEMA_VERSION:
            raise SchemaTooNew(
                f"{path} has schema {version}; this Longmind knows up to {SCHEMA_VERSION}.",
                hint="Use the newer Longmind that wrote it.",
                path=path,
            )
        return bool(version < SCHEMA_VERSION)
    if application or version or tables:
        raise ForeignStore(
            f"{path} is a database of another program. It was left as it is.",
            hint="Give the path of a Longmind store, or of a file that does not exist yet.",
            path=path,
        )
    return True


def _told_by_file(connection: apsw.Connection) -> tuple[int, int, bool]:
    """Return the file's application, its version and whether it has tables, as of one moment.

    Another process may be creating it: read one after another, they could be from before and after that.
    """
    began = not connection.in_transaction
    if began:
        connection.execute("BEGIN")
    try:
        tables = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None
        return connection.pragma("application_id"), connection.pragma("user_version"), tables
    finally:
        if began:
            connection.execute("ROLLBACK")


def with_lock(connection: apsw.Connection, target: Target) -> None:
    """Begin a write transaction, waiting for the file's lock up to the timeout."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except apsw.BusyError:
        patiently(target.busy_timeout_s, lambda: connection.execute("BEGIN IMMEDIATE"))


def patiently(seconds: float, work: Callable[[], T]) -> T:
    """Retry until the file is free. SQLite's own wait sleeps up to 0.1 s at a time and starves beside a busy writer."""
    until = time.monotonic() + seconds
    pause = 0.0002
    while True:
        try:
            return work()
        except apsw.BusyError:
            if time.monotonic() >= until:
                raise
            time.sleep(pause)
            pause = min(pause * 1.5, 0.005)


def is_lost_beside_log(path: str) -> bool:
    """Return whether the file is missing or empty while its log is not. SQLite would delete that log.

    The log is looked at first: a store that another process is creating has its first page before it has a log.
    """
    return _size(f"{path}{LOG}") > 0 and _size(path) == 0


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


class Readers:
    """A pool of read connections, each used by one thread at a time."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._idle: deque[apsw.Connection] = deque()
        self._lock = threading.Lock()
        self._closed = False

    def take(self) -> apsw.Connection:
        if self._closed:
            raise closed(self._target.path)
        try:
            return self._idle.pop()
        except IndexError:
            return self._target.reader()

    def give(self, connection: apsw.Connection) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < IDLE_READERS:
                self._idle.append(connection)
                return
        connection.close()

    def run(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run a function with a pooled connection and translate SQLite's errors."""
        try:
            connection = self.take()
            try:
                return work(connection)
            finally:
                self.give(connection)
        except (apsw.Error, DamagedRow, OverflowError, UnicodeError) as error:
            raise translate(error, self._target.path) from error

    def close(self) -> None:
        with self._lock:
            self._closed = True
        while self._idle:
            self._idle.pop().close()
