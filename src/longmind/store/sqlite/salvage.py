"""Salvage of what can still be read in a damaged file.

The numbers of the rows are kept in several places (the table, its indexes, the journal, the vectors), and damage seldom
meets all of them. So every number that any of these still tells is looked up one by one, and what lies on a bad page
is passed over and counted. The file is opened for reading only; one that SQLite will not open is read from a repaired
copy.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

import apsw
from pydantic import ValidationError

from longmind.store import sql
from longmind.store.sqlite import rows
from longmind.store.sqlite.connect import LOG, is_lost_beside_log
from longmind.store.sqlite.failures import DamagedRow, translate
from longmind.store.sqlite.queries import PACKAGE, QUERIES, fetch
from longmind.store.sqlite.repair import repaired_copy
from longmind.types import Link, Memory, Scope

PLACES = sql.load(PACKAGE, "salvage.sql")
BROKEN = (apsw.CorruptError, apsw.IOError, apsw.NotADBError, apsw.SQLError)


@dataclass(slots=True)
class Salvage:
    """An iterator over the memories of a damaged file.

    Afterwards ``links`` holds the links between those that were read, and ``lost`` what could not be read.
    """

    path: str
    workspace: str | None = None
    """The folder for a repaired copy, if one is needed; by default the system's folder for temporary files."""
    read: int = 0
    links: list[tuple[Scope, Link]] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Which rows were lost and why, with the memory's id where the journal still has it."""
    _numbers_seen: int = 0

    def __iter__(self) -> Iterator[Memory]:
        try:
            connection = _open(self.path)
        except BROKEN as error:
            yield from self._read_repaired(error)
        except apsw.Error as error:
            raise translate(error, self.path) from error
        else:
            yield from self._read(connection)

    def _read_repaired(self, refusal: Exception) -> Iterator[Memory]:
        """Read a repaired copy; raise the error for which it was needed if nothing is left in it."""
        with tempfile.TemporaryDirectory(prefix="longmind-salvage-", dir=self.workspace) as folder:
            connection = apsw.Connection(repaired_copy(self.path, folder))
            connection.pragma("query_only", "ON")
            yield from self._read(connection)
        if not self._numbers_seen:
            raise translate(refusal, self.path) from refusal

    def _read(self, connection: apsw.Connection) -> Iterator[Memory]:
        """Read all that can be read, then close the connection."""
        try:
            names = self._scopes(connection)
            there: set[tuple[int, str]] = set()
            numbers = self._rows(connection)
            self._numbers_seen = len(numbers)
            for row in sorted(numbers):
                memory = self._memory(connection, row, names)
                if memory is not None:
                    self.read += 1
                    there.add((row >> rows.SEQ_BITS, memory.id))
                    yield memory
            self.links = self._links(connection, there, names)
        finally:
            connection.close()

    def _scopes(self, connection: apsw.Connection) -> dict[int, tuple[str, str]]:
        stored: dict[int, tuple[str, str]] = {}
        for number in self._numbers(connection, "scopes"):
            try:
                stored.update(
                    (number, (tenant, agent)) for tenant, agent in fetch(connection, PLACES["scope"], (number,))
                )
            except BROKEN as error:
                self.lost.append(f"the name of agent {number}: {error}")
        return stored

    def _rows(self, connection: apsw.Connection) -> set[int]:
        """Return every row number that the table, an index or the journal still holds."""
        known: set[int] = set()
        for place in ("table", "index_id", "index_kind", "index_user", "index_occurred", "journal"):
            known.update(self._numbers(connection, place))
        return known

    def _numbers(self, connection: apsw.Connection, place: str) -> Iterator[int]:
        """Yield row numbers up to the first bad page, then from the other end."""
        for ordering in ("ASC", "DESC"):
            try:
                for (number,) in connection.execute(f"{PLACES[place]} {ordering}"):
                    yield number
                return
            except BROKEN:
                continue

    def _links(
        self, connection: apsw.Connection, there: set[tuple[int, str]], names: dict[int, tuple[str, str]]
    ) -> list[tuple[Scope, Link]]:
        """Return the links between memories that were read, up to the first bad page from either end."""
        stored: dict[tuple[int, str, str, str], Link] = {}
        for place in ("links", "links_backwards"):
            try:
                for *columns, number in connection.execute(PLACES[place]):
                    link = Link.model_validate(rows.link(columns).__dict__)
                    if {(number, link.source), (number, link.target)} <= there:
                        stored[number, link.source, link.relation, link.target] = link
                break
            except (*BROKEN, ValidationError, ValueError, TypeError, OverflowError) as error:
                self.lost.append(f"links that cannot be read: {error}")
        return [(_scope(number, names), link) for (number, *_), link in stored.items()]

    def _memory(self, connection: apsw.Connection, row: int, names: dict[int, tuple[str, str]]) -> Memory | None:
        scope = _scope(row >> rows.SEQ_BITS, names)
        try:
            stored = connection.execute(QUERIES["memory_at"], (row,)).fetchone()
            if stored is None:
                return None
            return Memory.model_validate(rows.memory(stored, scope.tenant, scope.agent).__dict__)
        except (*BROKEN, DamagedRow, ValidationError, ValueError, TypeError, OverflowError) as error:
            self.lost.append(f"row {row}{self._id(connection, row)}: {error}")
            return None

    def _id(self, connection: apsw.Connection, row: int) -> str:
        try:
            stored = connection.execute(PLACES["id"], (row,)).fetchone()
        except BROKEN:
            return ""
        return f" (memory {stored[0]})" if stored else ""


def salvage(path: str, *, workspace: str | None = None) -> Salvage:
    """Return an iterator over what can still be read of a store. The file and its log are not changed."""
    return Salvage(path, workspace)


def _scope(number: int, names: dict[int, tuple[str, str]]) -> Scope:
    """Return the scope of an agent's number, with a made-up name if the real one is lost."""
    tenant, agent = names.get(number, ("recovered", f"agent-{number}"))
    return Scope(tenant=tenant, agent=agent, all_users=True)


def _open(path: str) -> apsw.Connection:
    """Open for reading only, with what its write-ahead log still holds if that can be read; raise if it is no store."""
    if is_lost_beside_log(path):  # SQLite would delete the log
        raise apsw.CorruptError("the file is missing or empty, and its log is not")
    has_log = os.path.exists(path + LOG) and os.path.getsize(path + LOG) > 0
    options = (
        "mode=ro" if has_log else "mode=ro&immutable=1"
    )  # which would pass over a log, but makes no files beside it
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(f"file:{quote(path)}?{options}", flags=flags)
    try:
        if fetch(connection, PLACES["has_tables"])[0][0]:
            return connection
    except apsw.Error:
        connection.close()
        raise
    connection.close()
    raise apsw.NotADBError("the tables of a store are not there")
