"""The types that every part of TAAT speaks: posts, signals, orders, fills and positions.

All are frozen, and money and quantities are exact: ``Decimal`` from the text of a post to the ledger.
"""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Side = Literal["long", "short"]
Action = Literal["open", "add", "reduce", "close", "stop_moved", "stopped_out", "limit"]
Unit = Literal["price", "points", "percent"]


class Frozen(BaseModel):
    """A value: it is not changed, and two with the same fields are equal."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Post(Frozen):
    """A post of an announcer, as its feed delivered it."""

    id: str = Field(min_length=1)
    author: str = Field(min_length=1)
    text: str
    created_at: datetime
    feed: str = "file"
    edited: bool = False
    reply_to: str | None = None


class AssetClass(StrEnum):
    """What kind of thing is traded."""

    STOCK = "stock"
    INDEX = "index"
    FUTURE = "future"
    OPTION = "option"
    CRYPTO = "crypto"
    FOREX = "forex"


class Instrument(Frozen):
    """What is traded: a symbol, and for an option its expiry, strike and right."""

    symbol: str
    """The underlying's symbol without a dollar sign, in capitals: ``AAPL``, ``SPX``, ``BTC``."""
    asset: AssetClass = AssetClass.STOCK
    expiry: date | None = None
    strike: Decimal | None = None
    right: Literal["call", "put"] | None = None

    def __str__(self) -> str:
        if self.asset is not AssetClass.OPTION or self.strike is None or self.right is None:
            return self.symbol
        expiry = f" {self.expiry:%m/%d/%y}" if self.expiry else ""
        return f"{self.symbol} {self.strike.normalize():f}{self.right[0].upper()}{expiry}"


class Level(Frozen):
    """A stop or a target: a price, or a distance in points or percent from the entry."""

    value: Decimal
    unit: Unit = "price"


class Quantity(Frozen):
    """How much: a number of shares or contracts, or a fraction of the position (0 to 1)."""

    value: Annotated[Decimal, Field(gt=0)]
    unit: Literal["units", "fraction"] = "units"


class Price(Frozen):
    """An announced price, or a range of prices; ``low`` equals ``high`` for a single price."""

    low: Decimal
    high: Decimal

    @property
    def middle(self) -> Decimal:
        return (self.low + self.high) / 2


class Span(Frozen):
    """The part of a post's text that a signal was read from, by character positions."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Signal(Frozen):
    """One announced trade, as it was read from a post."""

    instrument: Instrument
    action: Action
    side: Side | None = None
    """Long or short of the instrument: who buys a put is long the put. ``None`` when nothing tells."""
    price: Price | None = None
    """The price of the announced action itself: of the entry when a position is opened, of the exit when it is left."""
    entry_price: Price | None = None
    """The entry price of a position that is left, when the post names both (``IN 13720 OUT 12484``)."""
    exit_price: Price | None = None
    """The same as ``price`` when the post names entry and exit; otherwise ``None``."""
    quantity: Quantity | None = None
    stop: Level | None = None
    targets: tuple[Level, ...] = ()
    time_frame: str | None = None
    confidence: float = Field(ge=0.0, le=1.0)
    span: Span


class Holding(Frozen):
    """What an announcer is known to hold: the context in which their next post is read."""

    instrument: Instrument
    side: Side
    remaining: Decimal = Decimal(1)
    """The fraction of the first size that is still open."""
    units: Decimal | None = None
    """How many shares or contracts are still open, if the posts said."""
    entry: Decimal | None = None
    opened_at: datetime | None = None


OrderSide = Literal["buy", "sell"]
OrderKind = Literal["market", "limit", "stop"]
OrderStatus = Literal["accepted", "partly_filled", "filled", "cancelled", "rejected", "expired"]
FINAL: frozenset[OrderStatus] = frozenset({"filled", "cancelled", "rejected", "expired"})
"""The states in which nothing more happens to an order."""


class Order(Frozen):
    """What a broker is asked to do. ``client_id`` is ours: the same one never makes two orders."""

    client_id: str = Field(min_length=1, max_length=128)
    instrument: Instrument
    side: OrderSide
    quantity: Annotated[Decimal, Field(gt=0)]
    """Shares, contracts or coins."""
    kind: OrderKind = "market"
    limit_price: Decimal | None = None
    stop_price: Decimal | None = None
    good_till: Literal["day", "cancelled"] = "day"


class Fill(Frozen):
    """A part of an order, or all of it, that was executed."""

    id: str
    client_id: str
    instrument: Instrument
    side: OrderSide
    quantity: Annotated[Decimal, Field(gt=0)]
    price: Decimal
    fee: Decimal = Decimal(0)
    filled_at: datetime


class OrderReport(Frozen):
    """What a broker says of an order."""

    order: Order
    status: OrderStatus
    submitted_at: datetime
    fills: tuple[Fill, ...] = ()
    reason: str | None = None
    """Why it was rejected, cancelled or has expired."""

    @property
    def final(self) -> bool:
        """Whether nothing more happens to it."""
        return self.status in FINAL

    @property
    def filled(self) -> Decimal:
        """How much of it was executed."""
        return sum((fill.quantity for fill in self.fills), Decimal(0))

    @property
    def average_price(self) -> Decimal | None:
        """What was paid or got for each unit, on average; ``None`` when nothing was executed."""
        if not self.fills:
            return None
        return sum((fill.quantity * fill.price for fill in self.fills), Decimal(0)) / self.filled


class Position(Frozen):
    """What an account holds of an instrument; below zero when it is short."""

    instrument: Instrument
    quantity: Decimal
    average_price: Decimal


class Account(Frozen):
    """The money of an account. ``equity`` is cash and what the positions are worth now."""

    cash: Decimal
    equity: Decimal
    day_start_equity: Decimal
    """The equity when the trading day began: what the day's loss is measured from."""
    buying_power: Decimal | None = None
    """What positions may still be opened for, by the broker's own account; ``None`` when it does not say."""


class Quote(Frozen):
    """What an instrument costs at a moment."""

    instrument: Instrument
    bid: Decimal
    ask: Decimal
    at: datetime

    @property
    def middle(self) -> Decimal:
        return (self.bid + self.ask) / 2


MULTIPLIERS: dict[AssetClass, Decimal] = {AssetClass.OPTION: Decimal(100)}
"""How much of the underlying one contract stands for, where it is not 1."""


def multiplier(instrument: Instrument) -> Decimal:
    """Return what a price of 1 means in money for one unit."""
    return MULTIPLIERS.get(instrument.asset, Decimal(1))


def price_text(price: Decimal) -> str:
    """Return a price without zeros that say nothing: at least two decimals if it has any, ``86900.00``."""
    text = f"{price:f}"
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}" if decimals else text
