"""The writer thread, with group commit.

Whatever is waiting when the thread is free goes into one transaction, each job in a savepoint of its own, so that many
tasks share one fsync and one that fails takes nothing of the others with it. A job's future is answered only after the
commit: an answer means the disk has it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

import apsw

from longmind.store.base import Space
from longmind.store.sqlite.connect import Target, with_lock
from longmind.store.sqlite.failures import closed, translate
from longmind.store.sqlite.queries import QUERIES, Row
from longmind.types import Scope

T_co = TypeVar("T_co", covariant=True)

MAX_REWRITTEN = 64 * 2**20
"""The size in bytes of the largest file that is rewritten after each erasure; a larger one waits for ``scrub``."""

MAX_GROUP = 500
"""The most jobs that share a transaction, since the first of them waits for the last."""


@dataclass(slots=True)
class SpaceSlots:
    """The vector spaces, each with its slot, as a transaction sees them."""

    active: tuple[str, Space] | None = None
    building: tuple[str, Space] | None = None
    epoch: int = 0


class WriteTransaction:
    """The statements of a job inside the group's transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.execute: Callable[..., Any] = connection.cursor().execute
        self.spaces_known: SpaceSlots | None = None

    def scope(self, scope: Scope) -> tuple[int, int]:
        """Return the number of an agent, assigned now if it is new, and the number of its last change."""
        name = (scope.tenant, scope.agent)
        row = self.fetch_one("scope", name) or self.fetch_one("scope_add", name)
        assert row is not None
        return int(row[0]), int(row[1])

    def fetch_one(self, query: str, values: tuple[Any, ...]) -> Row | None:
        """Return the only row of a query, or None. It is read to its end: an open statement blocks the commit."""
        rows = self.execute(QUERIES[query], values).fetchall()
        return rows[0] if rows else None

    def spaces(self) -> SpaceSlots:
        if self.spaces_known is None:
            self.spaces_known = read_spaces(self.execute)
        return self.spaces_known

    def active(self) -> Space | None:
        """Return the active space."""
        active = self.spaces().active
        return None if active is None else active[1]


def read_spaces(execute: Callable[..., Any]) -> SpaceSlots:
    """Return the vector spaces."""
    spaces = SpaceSlots()
    for slot, name, dimensions, epoch in execute(QUERIES["spaces"]).fetchall():
        if epoch is None:
            spaces.building = (slot, Space(name, dimensions))
        else:
            spaces.active, spaces.epoch = (slot, Space(name, dimensions)), epoch
    return spaces


class WriteJob(Protocol[T_co]):
    """Something that the writer thread does in a transaction."""

    erases: bool
    """Whether the write-ahead log must be emptied afterwards, since it may hold what was erased."""

    def prepare(self) -> None:
        """Do what can be done before the file is locked."""
        ...

    def run(self, transaction: WriteTransaction) -> T_co:
        """Write. An error undoes this job alone."""
        ...


@dataclass(slots=True)
class Ticket(Generic[T_co]):
    """A queued job and the future that waits for it."""

    job: WriteJob[T_co]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[T_co]
    result: Any = None
    error: BaseException | None = None

    def answer(self) -> None:
        if self.future.cancelled():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


@dataclass(slots=True)
class Writer:
    """The queue and its thread."""

    target: Target
    connection: apsw.Connection
    _queue: SimpleQueue[Ticket[Any] | None] = field(default_factory=SimpleQueue)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _thread: threading.Thread | None = None
    _closed: bool = False
    _in_debt: bool = False
    """Whether erased words may be left below the records, to be removed as soon as nobody is in the way."""

    def settle(self) -> None:
        """Remove what is left of erased words, if any process owes that. Call it while the thread does not run."""
        if self.connection.execute(QUERIES["debts"]).fetchall():
            self._in_debt = not remove_remnants(self.connection)

    async def write(self, job: WriteJob[T_co]) -> T_co:
        """Run a job and wait until it is durable. Cancelling the caller does not stop the job."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T_co] = loop.create_future()
        with self._lock:
            if self._closed:
                raise closed(self.target.path)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="longmind-sqlite-writer", daemon=True)
                self._thread.start()
            self._queue.put(Ticket(job, loop, future))
        return await future

    async def close(self) -> None:
        """Finish the queued jobs, then close the connection. A second call returns at once."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join)
        with suppress(apsw.Error):  # what is owed is noted in the file, for whoever opens it next
            self.settle()
        self.connection.close()

    def _serve(self) -> None:
        while (first := self._queue.get()) is not None:
            group, last = [first], False
            while len(group) < MAX_GROUP and not self._queue.empty():
                following = self._queue.get()
                if following is None:
                    last = True
                    break
                group.append(following)
            try:
                self._commit(group)
            except Exception as error:
                for ticket in group:
                    ticket.error = ticket.error or translate(error, self.target.path)
            _answer(group)
            if last:
                return

    def _commit(self, group: list[Ticket[Any]]) -> None:
        ready = []
        for ticket in group:
            try:
                ticket.job.prepare()
                ready.append(ticket)
            except Exception as error:
                ticket.error = translate(error, self.target.path)
        if not ready:
            return
        try:
            self._transact(ready)
        except Exception as error:
            self._undo()
            if len(ready) > 1 and not isinstance(error, apsw.BusyError):
                for ticket in ready:
                    self._commit_alone(ticket)
                return
            for ticket in ready:
                ticket.error = translate(error, self.target.path)

    def _commit_alone(self, ticket: Ticket[Any]) -> None:
        """Run each job in a transaction of its own, after the group failed as a whole (such as on a full disk)."""
        ticket.result = ticket.error = None
        try:
            self._transact([ticket])
        except Exception as error:
            self._undo()
            ticket.error = translate(error, self.target.path)

    def _transact(self, group: list[Ticket[Any]]) -> None:
        with_lock(self.connection, self.target)
        transaction = WriteTransaction(self.connection)
        if len(group) == 1:
            group[0].result = group[0].job.run(transaction)
        else:
            for ticket in group:
                self._run_in_savepoint(ticket, transaction)
        self.connection.execute("COMMIT")
        if self._in_debt or any(ticket.job.erases for ticket in group):
            self._in_debt = not remove_remnants(self.connection)

    def _run_in_savepoint(self, ticket: Ticket[Any], transaction: WriteTransaction) -> None:
        transaction.execute("SAVEPOINT job")
        try:
            ticket.result = ticket.job.run(transaction)
        except Exception as error:
            if not self.connection.in_transaction:
                raise
            transaction.execute("ROLLBACK TO job")
            transaction.spaces_known = None
            ticket.error = translate(error, self.target.path)
        transaction.execute("RELEASE job")

    def _undo(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")


def remove_remnants(connection: apsw.Connection) -> bool:
    """Remove what is left of erased words below the records; return False if somebody was in the way.

    SQLite overwrites what it removes, but not the copies that it leaves in the unused part of a page when it moves rows
    between pages. So a file that is not too large is rewritten, and then the log, which keeps old pages, is emptied.
    What was not possible stays noted in the file: it is tried after each following write, and by whoever opens or
    closes the file next.
    """
    try:
        owed = {place for place, _ in connection.execute(QUERIES["debts"]).fetchall()}
        if "pages" in owed and connection.pragma("page_count") * connection.pragma("page_size") <= MAX_REWRITTEN:
            connection.execute("VACUUM")
            connection.execute(QUERIES["debt_clear"], ("pages",))
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        connection.execute(QUERIES["debt_clear"], ("log",))
    except apsw.BusyError:
        return False
    return True


def _answer(group: list[Ticket[Any]]) -> None:
    """Resolve the futures, with one call for each event loop. A closed loop has no waiters."""
    loops = {group[0].loop} if len(group) == 1 else {ticket.loop for ticket in group}
    for loop in loops:
        tickets = [ticket for ticket in group if ticket.loop is loop]
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(_answer_all, tickets)


def _answer_all(tickets: list[Ticket[Any]]) -> None:
    for ticket in tickets:
        ticket.answer()
