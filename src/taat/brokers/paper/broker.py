"""The paper broker: orders are executed at the prices of a market, and kept in a ledger of its own."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path

from longmind import InvalidInput, NotFound
from taat.brokers.paper.book import Book
from taat.brokers.paper.ledger import Ledger
from taat.brokers.paper.settings import PaperSettings
from taat.brokers.paper.timeline import Prices, expired_options, move
from taat.market import Market, QuoteHistory, hours
from taat.market.symbols import instrument_key
from taat.models import Account, AssetClass, Fill, Instrument, Order, OrderReport, Position, Quote, multiplier

_MOMENTS_BETWEEN_WRITES = 500
"""After so many moments in which nothing happened, how far the account has come is written down."""


class PaperBroker:
    """An account without real money. Two accounts with the same orders and prices come to the same ledger.

    An order is stored in one transaction with its executions: after a crash it is there in full, or not at all.
    """

    name = "paper"
    live = False

    def __init__(self, market: Market, path: Path | None = None, settings: PaperSettings | None = None) -> None:
        """``path`` is the file of the ledger; without it the account is kept in memory."""
        self._market = market
        self._ledger = Ledger(path, settings or PaperSettings())
        self._now = self._ledger.book().now
        self._told = 0

    async def place(self, order: Order, at: datetime) -> OrderReport:
        """Place an order: time passes up to ``at``, then what the price of that moment allows is executed."""
        _check(at)
        if (report := await self.order(order.client_id)) is not None:
            return report
        prices, at = await self._prices(at, order.instrument)
        return await asyncio.to_thread(self._place, order, prices, at)

    def _place(self, order: Order, prices: Prices, at: datetime) -> OrderReport:
        key = instrument_key(order.instrument)
        with self._ledger.transaction(key) as book:
            # another thread or process may have placed it meanwhile
            if self._ledger.report(order.client_id) is None:
                at = max(at, book.now or at)
                move(book, prices, at)
                book.add(order, prices.present.get(key), at)
        self._pass(at)
        return self._reported(order.client_id)

    async def order(self, client_id: str) -> OrderReport | None:
        """Return what became of an order, or ``None`` when it was never placed."""
        return await self._ledger.read(self._ledger.report, client_id)

    async def cancel(self, client_id: str, at: datetime) -> OrderReport:
        """Cancel what is still open of an order; one that has ended stays as it is."""
        _check(at)
        report = await self._ledger.read(self._reported, client_id)
        if report.final:
            return report
        prices, at = await self._prices(at)
        return await asyncio.to_thread(self._cancel, client_id, prices, at)

    def _cancel(self, client_id: str, prices: Prices, at: datetime) -> OrderReport:
        with self._ledger.transaction() as book:
            at = max(at, book.now or at)
            move(book, prices, at)
            for entry in [entry for entry in book.orders if entry.order.client_id == client_id]:
                book.end(entry, "cancelled", "cancelled on request")
        self._pass(at)
        return self._reported(client_id)

    async def advance(
        self, at: datetime, *, before_change: Callable[[], Awaitable[None]] | None = None
    ) -> Sequence[OrderReport]:
        """Let time pass up to a moment and return the orders that changed since the last call.

        What one call returned is taken as seen when the next call comes. So after a crash the first call returns the
        changes of the last call before it once more.
        """
        _check(at)
        prices, at = await self._prices(at)
        if before_change is not None and await self._ledger.read(self._would_change, prices, at):
            await before_change()
        return await asyncio.to_thread(self._advance, prices, at)

    def _would_change(self, prices: Prices, at: datetime) -> bool:
        """Whether moving the account to a moment stores anything, tried out on a copy."""
        book = self._ledger.book()
        return move(book, prices, max(at, book.now or at)) >= _MOMENTS_BETWEEN_WRITES or book.dirty

    def _advance(self, prices: Prices, at: datetime) -> Sequence[OrderReport]:
        with self._ledger.transaction() as book:
            at = max(at, book.now or at)
            moments = move(book, prices, at)
            book.moved = moments >= _MOMENTS_BETWEEN_WRITES
        self._pass(at)
        if self._told:
            self._ledger.reported(self._told)
        reports, self._told = self._ledger.changes()
        return reports

    async def open_orders(self) -> Sequence[OrderReport]:
        """Return the orders that can still be executed."""
        return await self._ledger.read(self._ledger.open_orders)

    async def positions(self) -> Sequence[Position]:
        """Return what the account holds."""
        book = await self._ledger.read(self._ledger.book)
        return [
            Position(
                instrument=holding.instrument,
                quantity=holding.quantity,
                average_price=holding.cost / holding.quantity / multiplier(holding.instrument),
            )
            for _, holding in sorted(book.holdings.items())
        ]

    async def fills(self, *, after: str | None = None) -> Sequence[Fill]:
        """Return the executions in their order, those after a fill's id when one is given."""
        return await asyncio.to_thread(self._ledger.fills, after)

    async def account(self) -> Account:
        """Return the money of the account at the last moment it was moved to."""
        book = await self._ledger.read(self._ledger.book)
        if self._now is not None:
            held = [holding.instrument for holding in book.holdings.values()]
            book.mark(await self._quotes(held, self._now))
        return Account(
            cash=book.cash,
            equity=book.equity(),
            day_start_equity=book.day_start_equity,
            buying_power=book.buying_power(),
        )

    async def close(self) -> None:
        """Close the ledger; the market is left open, because others may use it."""
        self._ledger.close()

    # --- prices ------------------------------------------------------------------------------------------------------

    async def _prices(self, at: datetime, ordered: Instrument | None = None) -> tuple[Prices, datetime]:
        """Ask the market for all that moving the account to a moment needs."""
        book = await self._ledger.read(self._ledger.book)
        at = max(at, book.now or at)
        held = [holding.instrument for holding in book.holdings.values()]
        waiting = [entry.order.instrument for entry in book.orders]
        every = _once([*held, *waiting, *([ordered] if ordered else [])])
        window: dict[str, Sequence[Quote]] = {}
        if book.now is not None and isinstance(self._market, QuoteHistory):
            for instrument in _once(waiting):
                window[instrument_key(instrument)] = await self._market.quotes(instrument, book.now, at)
        day = hours.trading_day(at)
        new_day = book.day is not None and day > book.day
        prices = Prices(
            window=window,
            present=await self._quotes(every, at),
            at_day_start=await self._quotes(held, hours.day_start(day)) if new_day else {},
            underlying=await self._underlying(book, at),
        )
        return prices, at

    async def _quotes(self, instruments: Iterable[Instrument], at: datetime) -> dict[str, Quote]:
        quotes = {}
        for instrument in instruments:
            quote = await self._market.quote(instrument, at)
            if quote is not None:
                quotes[instrument_key(instrument)] = quote
        return quotes

    async def _underlying(self, book: Book, at: datetime) -> dict[str, Quote]:
        quotes = {}
        for option, moment in expired_options(book, at):
            for asset in (AssetClass.STOCK, AssetClass.INDEX):
                quote = await self._market.quote(Instrument(symbol=option.symbol, asset=asset), moment)
                if quote is not None:
                    quotes[instrument_key(option)] = quote
                    break
        return quotes

    def _pass(self, at: datetime) -> None:
        self._now = max(at, self._now or at)

    def _reported(self, client_id: str) -> OrderReport:
        report = self._ledger.report(client_id)
        if report is None:
            raise NotFound(f"There is no order {client_id!r}.")
        return report


def _check(at: datetime) -> None:
    if at.tzinfo is None:
        raise InvalidInput("The moment of an order has no time zone.")


def _once(instruments: Iterable[Instrument]) -> list[Instrument]:
    return list({instrument_key(instrument): instrument for instrument in instruments}.values())
