"""A paper account in memory: orders, executions, positions and money. No I/O and no clock.

The account is moved from moment to moment by quotes. Its state depends on the orders and the quotes alone, not on how
often it is moved.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext

from taat.brokers.paper.settings import PaperSettings
from taat.market import hours
from taat.market.symbols import instrument_key
from taat.models import FINAL, AssetClass, Fill, Instrument, Order, OrderStatus, Quote, multiplier

ZERO = Decimal(0)
EXACT = Context(prec=80, rounding=ROUND_HALF_UP)
"""Enough digits for sums of products of amounts; the division of a cost is rounded to ``_COST_STEP``."""
_COST_STEP = Decimal("0.00000001")
_CENT = Decimal("0.01")
_HUNDRED = Decimal(100)
_FINE = frozenset({AssetClass.CRYPTO, AssetClass.FOREX})


@dataclass(slots=True)
class PaperOrder:
    """An order of the account and what became of it."""

    order: Order
    submitted_at: datetime
    status: OrderStatus = "accepted"
    expires_at: datetime | None = None
    """When a day order ends; ``None`` for one that stands until it is cancelled."""
    triggered: bool = False
    """Whether the price of a stop order was reached: it is a market order from then on."""
    reason: str | None = None
    fills: list[Fill] = field(default_factory=list)

    @property
    def open(self) -> bool:
        return self.status not in FINAL

    @property
    def rest(self) -> Decimal:
        """How much is not yet executed."""
        return self.order.quantity - sum((fill.quantity for fill in self.fills), ZERO)


@dataclass(slots=True)
class Holding:
    """What the account holds of an instrument, and what was paid for it (got, when it is short: below zero)."""

    instrument: Instrument
    quantity: Decimal = ZERO
    cost: Decimal = ZERO


@dataclass(slots=True)
class Mark:
    """The last quote of an instrument, and how many of its units were taken."""

    quote: Quote
    used: Decimal = ZERO
    stored: bool = False


@dataclass(slots=True)
class Book:
    """The state of an account, and what changed since it was loaded."""

    settings: PaperSettings
    cash: Decimal
    realised: Decimal = ZERO
    """The profit of what was closed, before fees."""
    fees: Decimal = ZERO
    now: datetime | None = None
    day: date | None = None
    day_start_equity: Decimal = ZERO
    holdings: dict[str, Holding] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    orders: list[PaperOrder] = field(default_factory=list)
    """Those that are open, in the order they came."""
    changed: dict[str, PaperOrder] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    """The keys of holdings that changed."""
    moved: bool = False
    """Whether ``now`` is to be stored though nothing else changed."""
    loaded_day: date | None = None

    @property
    def dirty(self) -> bool:
        """Whether there is something to store."""
        return bool(self.changed or self.touched) or self.moved or self.day != self.loaded_day

    def copy(self) -> "Book":
        """Return the same state, to be read or tried out while this one goes on."""
        return replace(
            self,
            holdings={key: replace(holding) for key, holding in self.holdings.items() if holding.quantity},
            marks={key: replace(mark) for key, mark in self.marks.items()},
            orders=[replace(entry, fills=list(entry.fills)) for entry in self.orders],
            changed={},
            touched=set(),
        )

    def stored(self) -> None:
        """Take note that all changes were stored."""
        self.holdings = {key: holding for key, holding in self.holdings.items() if holding.quantity}
        needed = self.holdings.keys() | {instrument_key(entry.order.instrument) for entry in self.orders}
        self.marks = {key: replace(mark, stored=True) for key, mark in self.marks.items() if key in needed}
        self.changed, self.touched, self.moved, self.loaded_day = {}, set(), False, self.day

    # --- money -------------------------------------------------------------------------------------------------------

    def price(self, instrument: Instrument) -> Decimal:
        """Return what an instrument is worth: the middle of its last quote, or what was paid for it."""
        key = instrument_key(instrument)
        if key in self.marks:
            return self.marks[key].quote.middle
        holding = self.holdings.get(key)
        if holding is None or not holding.quantity:
            return ZERO
        return holding.cost / holding.quantity / multiplier(instrument)

    def equity(self) -> Decimal:
        """Return cash and the worth of all positions."""
        with localcontext(EXACT):
            return self.cash + sum(
                (
                    holding.quantity * self.price(holding.instrument) * multiplier(holding.instrument)
                    for holding in self.holdings.values()
                ),
                ZERO,
            )

    def refusal(self, order: Order, quote: Quote | None) -> str | None:
        """Return why the account cannot take an order, or ``None`` when it can."""
        price = self._expected_price(order, quote)
        if price is None:
            return f"no price of {order.instrument} is known"
        with localcontext(EXACT):
            opening = self._opening(order, order.quantity)
            if not opening:
                return None
            signed = opening if order.side == "buy" else -opening
            needed = _exposure(order.instrument, signed, price) + self.fee(order.instrument, order.quantity, price)
            power = self.buying_power()
            if needed <= power:
                return None
            return f"not enough buying power: {needed.quantize(_CENT)} needed, {max(power, ZERO).quantize(_CENT)} left"

    def buying_power(self) -> Decimal:
        """Return what positions may still be opened for: waiting orders that would open one count as if they had."""
        with localcontext(EXACT):
            waiting = sum((self._reserved(waiting) for waiting in self.orders), ZERO)
            held = sum((_exposure(h.instrument, h.quantity, self.price(h.instrument)) for h in self._held()), ZERO)
            return self.equity() * self.settings.leverage - held - waiting

    def fee(self, instrument: Instrument, quantity: Decimal, price: Decimal) -> Decimal:
        """Return the fee of an execution, to the cent."""
        terms = self.settings
        value = quantity * abs(price) * multiplier(instrument)
        fee = quantity * terms.fee_per_unit + value * terms.fee_percent / _HUNDRED
        return max(fee, terms.fee_minimum).quantize(_CENT, ROUND_HALF_UP)

    def _held(self) -> Iterable[Holding]:
        return (holding for holding in self.holdings.values() if holding.quantity)

    def _opening(self, order: Order, quantity: Decimal) -> Decimal:
        """Return how many units of an order open a position or make it larger."""
        holding = self.holdings.get(instrument_key(order.instrument))
        held = holding.quantity if holding else ZERO
        opposite = -held if order.side == "buy" else held
        return max(quantity - max(opposite, ZERO), ZERO)

    def _reserved(self, waiting: PaperOrder) -> Decimal:
        mark = self.marks.get(instrument_key(waiting.order.instrument))
        price = self._expected_price(waiting.order, mark.quote if mark else None)
        opening = self._opening(waiting.order, waiting.rest)
        if price is None or not opening:
            return ZERO
        signed = opening if waiting.order.side == "buy" else -opening
        return _exposure(waiting.order.instrument, signed, price)

    def _expected_price(self, order: Order, quote: Quote | None) -> Decimal | None:
        if order.kind == "limit":
            return order.limit_price
        if order.kind == "stop":
            return order.stop_price
        return self._market_price(order, quote) if quote else None

    # --- orders ------------------------------------------------------------------------------------------------------

    def add(self, order: Order, quote: Quote | None, at: datetime) -> PaperOrder:
        """Take an order, or reject it with a reason, and execute what the present quote allows."""
        entry = PaperOrder(order=order, submitted_at=at)
        self.changed[order.client_id] = entry
        if reason := _malformed(order, at) or self.refusal(order, quote):
            entry.status, entry.reason = "rejected", reason
            return entry
        self.orders.append(entry)
        if quote is not None:
            self._execute(entry, at)
        if entry.open and order.good_till == "day":
            entry.expires_at = hours.session_close(order.instrument, at)
        return entry

    def end(self, entry: PaperOrder, status: OrderStatus, reason: str | None) -> None:
        """End an order: what was executed of it stays."""
        entry.status, entry.reason = status, reason
        self.changed[entry.order.client_id] = entry
        self._drop_ended()

    def mark(self, quotes: Mapping[str, Quote]) -> None:
        """Learn quotes, without executing anything."""
        for key, quote in quotes.items():
            mark = self.marks.get(key)
            if mark is None or (mark.quote != quote and mark.quote.at <= quote.at):
                self.marks[key] = Mark(quote)

    def see(self, quotes: Mapping[str, Quote], at: datetime) -> None:
        """Learn quotes, and execute the waiting orders that they allow, in the order they came."""
        self.mark(quotes)
        for entry in list(self.orders):
            if instrument_key(entry.order.instrument) in quotes:
                self._execute(entry, at)

    def expire_orders(self, at: datetime) -> None:
        """End the day orders whose session has closed."""
        for entry in list(self.orders):
            if entry.expires_at is not None and entry.expires_at <= at:
                self.end(entry, "expired", "the session closed")

    def begin_day(self, day: date) -> None:
        """Remember the equity that a day begins with."""
        if self.day is None or day > self.day:
            self.day, self.day_start_equity = day, self.equity()

    def settle(self, option: Instrument, worth: Decimal, at: datetime) -> None:
        """End an option that has expired: its position is closed at its worth, and its orders end."""
        for entry in [entry for entry in self.orders if entry.order.instrument == option]:
            self.end(entry, "expired", "the option expired")
        holding = self.holdings.get(instrument_key(option))
        if holding is None or not holding.quantity:
            return
        entry = PaperOrder(
            order=Order(
                client_id=f"expiry/{instrument_key(option)}",
                instrument=option,
                side="sell" if holding.quantity > 0 else "buy",
                quantity=abs(holding.quantity),
            ),
            submitted_at=at,
            reason="the option expired",
        )
        self._record(entry, entry.order.quantity, worth, ZERO, at)

    def _execute(self, entry: PaperOrder, at: datetime) -> None:
        order = entry.order
        mark = self.marks.get(instrument_key(order.instrument))
        if mark is None or not entry.open:
            return
        if self.settings.regular_hours and not _in_session(mark.quote, at):
            return
        price = self._execution_price(entry, mark.quote)
        if price is None:
            return
        quantity = entry.rest
        if self.settings.liquidity is not None:
            quantity = min(quantity, self.settings.liquidity - mark.used)
        if quantity <= 0:
            return
        with localcontext(EXACT):
            mark.used += quantity
            mark.stored = False
            self._record(entry, quantity, price, self.fee(order.instrument, quantity, price), at)
        self._drop_ended()

    def _drop_ended(self) -> None:
        self.orders = [entry for entry in self.orders if entry.open]

    def _execution_price(self, entry: PaperOrder, quote: Quote) -> Decimal | None:
        order = entry.order
        buying = order.side == "buy"
        if order.kind == "stop" and order.stop_price is not None and not entry.triggered:
            reached = quote.ask >= order.stop_price if buying else quote.bid <= order.stop_price
            if not reached:
                return None
            entry.triggered = True
            self.changed[order.client_id] = entry
        price = self._market_price(order, quote)
        if order.kind == "limit" and order.limit_price is not None:
            if (quote.ask > order.limit_price) if buying else (quote.bid < order.limit_price):
                return None
            return min(price, order.limit_price) if buying else max(price, order.limit_price)
        return price

    def _market_price(self, order: Order, quote: Quote) -> Decimal:
        slippage = self.settings.slippage_percent / _HUNDRED
        price = quote.ask if order.side == "buy" else quote.bid
        if not slippage:
            return price
        worse = price * (1 + slippage) if order.side == "buy" else price * (1 - slippage)
        step = _COST_STEP if order.instrument.asset in _FINE else Decimal("0.0001")
        return worse.quantize(step, ROUND_HALF_UP)

    def _record(self, entry: PaperOrder, quantity: Decimal, price: Decimal, fee: Decimal, at: datetime) -> None:
        order = entry.order
        fill = Fill(
            id=f"{order.client_id}/{len(entry.fills) + 1}",
            client_id=order.client_id,
            instrument=order.instrument,
            side=order.side,
            quantity=quantity,
            price=price,
            fee=fee,
            filled_at=at,
        )
        entry.fills.append(fill)
        entry.status = "partly_filled" if entry.rest else "filled"
        self.changed[order.client_id] = entry
        with localcontext(EXACT):
            self._book(fill)

    def _book(self, fill: Fill) -> None:
        key = instrument_key(fill.instrument)
        holding = self.holdings.setdefault(key, Holding(fill.instrument))
        self.touched.add(key)
        signed = fill.quantity if fill.side == "buy" else -fill.quantity
        unit = fill.price * multiplier(fill.instrument)
        self.cash -= signed * unit + fill.fee
        self.fees += fill.fee
        closing = min(abs(holding.quantity), fill.quantity) if holding.quantity * signed < 0 else ZERO
        if closing:
            # all of the cost goes with the last unit, so that nothing is lost to rounding
            whole = closing == abs(holding.quantity)
            cost = holding.cost if whole else (holding.cost * closing / abs(holding.quantity)).quantize(_COST_STEP)
            part = closing if signed > 0 else -closing
            self.realised -= cost + part * unit
            holding.cost -= cost
            holding.quantity += part
            signed -= part
        holding.quantity += signed
        holding.cost += signed * unit


def _exposure(instrument: Instrument, quantity: Decimal, price: Decimal) -> Decimal:
    """Return how much of the buying power a position takes: its value, or the strike's value for a short option."""
    if quantity < 0 and instrument.asset is AssetClass.OPTION and instrument.strike is not None:
        price = max(instrument.strike, price)
    return abs(quantity) * abs(price) * multiplier(instrument)


def _in_session(quote: Quote, at: datetime) -> bool:
    """Return whether the market is open, and a quote is of the same session."""
    opens = hours.session(quote.instrument, at).opens
    return opens <= at and opens <= quote.at


def _malformed(order: Order, at: datetime) -> str | None:
    if order.kind == "limit" and order.limit_price is None:
        return "a limit order needs a limit price"
    if order.kind == "stop" and order.stop_price is None:
        return "a stop order needs a stop price"
    expiry = order.instrument.expiry
    if order.instrument.asset is AssetClass.OPTION and expiry is not None and hours.option_expiry(expiry) <= at:
        return "the option has expired"
    return None
