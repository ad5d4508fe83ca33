"""Moving a paper account through time: quotes, ends of sessions and of options, and days, each at its moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from taat.brokers.paper.book import ZERO, Book
from taat.market import hours
from taat.market.symbols import instrument_key
from taat.models import AssetClass, Instrument, Quote


@dataclass(frozen=True, slots=True)
class Prices:
    """What the market said of the instruments that an account holds or waits for."""

    window: Mapping[str, Sequence[Quote]] = field(default_factory=dict)
    """The quotes since the account was moved last, by instrument, in the order of time."""
    present: Mapping[str, Quote] = field(default_factory=dict)
    """The latest quote of each at the moment the account is moved to."""
    at_day_start: Mapping[str, Quote] = field(default_factory=dict)
    """The latest quote of each when the day began."""
    underlying: Mapping[str, Quote] = field(default_factory=dict)
    """What the underlying of an expired option cost when it expired, by the option."""


def move(book: Book, prices: Prices, at: datetime) -> int:
    """Let time pass up to a moment and return how many moments there were."""
    start = book.now or at
    day = hours.trading_day(at)
    midnight = hours.day_start(day)
    quotes_at: dict[datetime, dict[str, Quote]] = {}
    for key, quotes in prices.window.items():
        for quote in quotes:
            if start < quote.at <= at:
                quotes_at.setdefault(quote.at, {})[key] = quote
    moments = set(quotes_at)
    moments.update(entry.expires_at for entry in book.orders if entry.expires_at and entry.expires_at <= at)
    moments.update(moment for _, moment in expired_options(book, at))
    new_day = book.day is not None and day > book.day
    if new_day:
        moments.add(midnight)
    for moment in sorted(moments):
        book.expire_orders(moment)
        if new_day and moment >= midnight:
            new_day = False
            book.see({**prices.at_day_start}, moment)
            book.begin_day(day)
        book.see(quotes_at.get(moment, {}), moment)
        _settle(book, prices, moment)
    book.see(prices.present, at)
    book.begin_day(day)
    book.now = at
    return len(moments)


def expired_options(book: Book, at: datetime) -> Sequence[tuple[Instrument, datetime]]:
    """Return the options of an account that have expired by a moment, each with the moment it expired."""
    instruments = [holding.instrument for holding in book.holdings.values() if holding.quantity]
    instruments += [entry.order.instrument for entry in book.orders]
    options = {
        instrument_key(option): (option, hours.option_expiry(option.expiry))
        for option in instruments
        if option.asset is AssetClass.OPTION and option.expiry is not None
    }
    return [(option, moment) for option, moment in options.values() if moment <= at]


def _settle(book: Book, prices: Prices, at: datetime) -> None:
    for option, moment in expired_options(book, at):
        key = instrument_key(option)
        book.settle(option, _worth(book, option, prices.underlying.get(key)), moment)


def _worth(book: Book, option: Instrument, underlying: Quote | None) -> Decimal:
    """Return what an option is worth when it expires. When nobody knows, the worse for the account is taken."""
    if underlying is not None and option.strike is not None:
        difference = underlying.middle - option.strike
        return max(difference if option.right == "call" else -difference, ZERO)
    holding = book.holdings.get(instrument_key(option))
    return book.price(option) if holding is not None and holding.quantity < 0 else ZERO
