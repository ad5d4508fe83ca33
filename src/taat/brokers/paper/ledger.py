"""The file of a paper account: one SQLite database, written in whole transactions."""

import asyncio
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from longmind import ForeignStore, NotFound, StoreError, StoreUnavailable
from taat.brokers.paper.book import Book, Holding, Mark, PaperOrder
from taat.brokers.paper.settings import PaperSettings
from taat.market.symbols import instrument_key, instrument_of
from taat.models import Fill, Order, OrderReport, Quote

Answer = TypeVar("Answer")
APPLICATION_ID = 0x54414154
"""``TAAT`` in ASCII: marks the file as a ledger."""
VERSION = 1
BUSY_SECONDS = 30.0

_COMMENT = re.compile(r"^--.*$", re.MULTILINE)
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def _queries() -> dict[str, str]:
    text = resources.files(__package__).joinpath("ledger.sql").read_text(encoding="utf-8")
    parts = _NAME.split(text)
    return {name: _COMMENT.sub("", body).strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


QUERIES = _queries()


class Ledger:
    """The orders, executions, positions and money of a paper account.

    A transaction is on the disk when it ends (write-ahead log, ``synchronous = FULL``), and one account may be used by
    several threads and processes at once.
    """

    def __init__(self, path: Path | None, settings: PaperSettings) -> None:
        """Open or make a ledger; without a path it is kept in memory."""
        self.path = path
        self.settings = settings
        self._lock = threading.RLock()
        self._book: Book | None = None
        self._version = 0
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                path or ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise StoreUnavailable(f"The ledger {path} cannot be opened: {error}.") from error
        try:
            with self._errors():
                self._prepare()
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    @contextmanager
    def transaction(self, key: str = "") -> Iterator[Book]:
        """Load the account, and store what the block changes: all of it, or nothing when the block raises.

        ``key`` is that of an instrument about to be ordered.
        """
        with self._lock, self._errors():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                book = self._current(key)
                yield book
                self._save(book)
                self._database.execute("COMMIT")
            except BaseException:
                self._book = None  # it may have changes that are not in the file
                self._database.execute("ROLLBACK")
                raise
            if book.dirty:
                book.stored()

    async def read(self, function: Callable[..., Answer], *values: Any) -> Answer:
        """Call a reading method of this ledger: at once when nobody else uses it, otherwise in a thread.

        Readers of a write-ahead log wait for nobody but the lock, and a change of threads costs more than the read.
        """
        if not self._lock.acquire(blocking=False):
            return await asyncio.to_thread(function, *values)
        try:
            return function(*values)
        finally:
            self._lock.release()

    def book(self) -> Book:
        """Return a copy of the account as it is."""
        with self._lock, self._errors(), self._snapshot():
            return self._current("").copy()

    def report(self, client_id: str) -> OrderReport | None:
        """Return what became of an order, or ``None`` when there is none."""
        with self._lock, self._errors(), self._snapshot():
            rows = self._rows("order", client_id)
            return _report(self._entry(rows[0])) if rows else None

    def open_orders(self) -> Sequence[OrderReport]:
        """Return the orders that can still be executed."""
        with self._lock, self._errors(), self._snapshot():
            return [_report(self._entry(row)) for row in self._rows("open_orders")]

    def changes(self, after: int | None = None) -> tuple[Sequence[OrderReport], int]:
        """Return the orders that changed after a change, or after the last that was told; and the last change."""
        with self._lock, self._errors(), self._snapshot():
            *_, changes, reported = self._rows("account")[0]
            rows = self._rows("changed_orders", reported if after is None else after)
            return [_report(self._entry(row)) for row in rows], changes

    def reported(self, change: int) -> None:
        """Remember that the caller has seen all changes up to one."""
        with self._lock, self._errors():
            self._run("reported", change, change)

    def fills(self, after: str | None = None) -> Sequence[Fill]:
        """Return the executions in their order."""
        with self._lock, self._errors(), self._snapshot():
            number = 0
            if after is not None:
                rows = self._rows("fill_number", after)
                if not rows:
                    raise NotFound(f"There is no execution {after!r}.")
                number = rows[0][0]
            return [_fill(row) for row in self._rows("fills_after", number)]

    # --- inside ------------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        self._database.execute("PRAGMA foreign_keys = ON")
        self._database.execute("PRAGMA synchronous = FULL")
        # the first transaction of several processes makes the tables, the others find them
        self._database.execute("BEGIN IMMEDIATE")
        try:
            (mark,) = self._database.execute("PRAGMA application_id").fetchone()
            (version,) = self._database.execute("PRAGMA user_version").fetchone()
            (tables,) = self._database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if not mark and not tables:
                for statement in QUERIES["schema"].split(";"):
                    self._database.execute(statement)
                self._run("account_create", {"cash": str(self.settings.starting_cash)})
                self._database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._database.execute(f"PRAGMA user_version = {VERSION}")
            elif mark != APPLICATION_ID:
                raise ForeignStore(f"{self.path} is not the ledger of a paper account.")
            elif version != VERSION:
                raise ForeignStore(f"The ledger {self.path} is of version {version}; this TAAT reads {VERSION}.")
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")
        self._database.execute("PRAGMA journal_mode = WAL")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreUnavailable(f"The ledger {self.path} cannot be used: {error}.") from error
        except sqlite3.Error as error:
            raise StoreError(f"The ledger {self.path} failed: {error}.") from error

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Read one state, whatever others write meanwhile."""
        if self._database.in_transaction:
            yield
            return
        self._database.execute("BEGIN")
        try:
            yield
        finally:
            self._database.execute("ROLLBACK")

    def _run(self, name: str, *values: Any) -> sqlite3.Cursor:
        given = values[0] if len(values) == 1 and isinstance(values[0], dict) else values
        return self._database.execute(QUERIES[name], given)

    def _rows(self, name: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._run(name, *values).fetchall()

    def _current(self, key: str) -> Book:
        """Return the account in memory, or load it when another connection has changed the file."""
        (version,) = self._database.execute("PRAGMA data_version").fetchone()
        if self._book is None or version != self._version:
            self._book, self._version = self._load(key), version
        elif key and key not in self._book.marks and (mark := self._marks(key).get(key)):
            self._book.marks[key] = mark
        return self._book

    def _marks(self, key: str) -> dict[str, Mark]:
        return {
            name: Mark(
                Quote(
                    instrument=instrument_of(name), bid=Decimal(bid), ask=Decimal(ask), at=datetime.fromisoformat(at)
                ),
                Decimal(used),
                stored=True,
            )
            for name, bid, ask, at, used in self._rows("marks", key)
        }

    def _load(self, key: str) -> Book:
        cash, realised, fees, now, day_text, start, _, _ = self._rows("account")[0]
        day = date.fromisoformat(day_text) if day_text else None
        return Book(
            settings=self.settings,
            cash=Decimal(cash),
            realised=Decimal(realised),
            fees=Decimal(fees),
            now=_moment(now),
            day=day,
            loaded_day=day,
            day_start_equity=Decimal(start),
            holdings={
                name: Holding(instrument_of(name), Decimal(quantity), Decimal(cost))
                for name, quantity, cost in self._rows("positions")
            },
            marks=self._marks(key),
            orders=[self._entry(row) for row in self._rows("open_orders")],
        )

    def _save(self, book: Book) -> None:
        if not book.dirty:
            return
        changes: int = self._rows("account")[0][6]
        for entry in book.changed.values():
            changes += 1
            self._run("order_put", *_order_row(entry), changes)
            for fill in entry.fills:
                self._run("fill_add", *_fill_row(fill))
        for key in book.touched:
            holding = book.holdings[key]
            if holding.quantity:
                self._run("position_put", key, _text(holding.quantity), _text(holding.cost))
            else:
                self._run("position_remove", key)
        for key, mark in book.marks.items():
            if mark.stored:
                continue
            quote = mark.quote
            self._run("mark_put", key, _text(quote.bid), _text(quote.ask), _iso(quote.at), _text(mark.used))
        money = [_text(amount) for amount in (book.cash, book.realised, book.fees)]
        now, day = _iso(book.now) if book.now else None, book.day.isoformat() if book.day else None
        self._run("account_update", *money, now, day, _text(book.day_start_equity), changes)

    def _entry(self, row: tuple[Any, ...]) -> PaperOrder:
        client_id, key, side, quantity, kind, limit, stop, good_till, at, expires, triggered, status, reason = row
        order = Order(
            client_id=client_id,
            instrument=instrument_of(key),
            side=side,
            quantity=Decimal(quantity),
            kind=kind,
            limit_price=Decimal(limit) if limit is not None else None,
            stop_price=Decimal(stop) if stop is not None else None,
            good_till=good_till,
        )
        return PaperOrder(
            order=order,
            submitted_at=datetime.fromisoformat(at),
            status=status,
            expires_at=_moment(expires),
            triggered=bool(triggered),
            reason=reason,
            fills=[_fill(fill) for fill in self._rows("fills_of_order", client_id)],
        )


def _text(amount: Decimal) -> str:
    return f"{amount:f}"


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _report(entry: PaperOrder) -> OrderReport:
    return OrderReport(
        order=entry.order,
        status=entry.status,
        submitted_at=entry.submitted_at,
        fills=tuple(entry.fills),
        reason=entry.reason,
    )


def _fill(row: tuple[Any, ...]) -> Fill:
    fill_id, client_id, key, side, quantity, price, fee, filled_at = row
    return Fill(
        id=fill_id,
        client_id=client_id,
        instrument=instrument_of(key),
        side=side,
        quantity=Decimal(quantity),
        price=Decimal(price),
        fee=Decimal(fee),
        filled_at=datetime.fromisoformat(filled_at),
    )


def _order_row(entry: PaperOrder) -> tuple[Any, ...]:
    order = entry.order
    return (
        order.client_id,
        instrument_key(order.instrument),
        order.side,
        _text(order.quantity),
        order.kind,
        _text(order.limit_price) if order.limit_price is not None else None,
        _text(order.stop_price) if order.stop_price is not None else None,
        order.good_till,
        _iso(entry.submitted_at),
        _iso(entry.expires_at) if entry.expires_at else None,
        int(entry.triggered),
        entry.status,
        entry.reason,
    )


def _fill_row(fill: Fill) -> tuple[Any, ...]:
    return (
        fill.id,
        fill.client_id,
        instrument_key(fill.instrument),
        fill.side,
        _text(fill.quantity),
        _text(fill.price),
        _text(fill.fee),
        _iso(fill.filled_at),
    )
