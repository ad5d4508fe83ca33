"""What TAAT keeps of its work: one type for each kind of event, and the trade that they add up to."""

from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from taat.models import Fill, Frozen, Holding, Instrument, Order, OrderKind, OrderStatus, Post, Side, Signal, multiplier

Purpose = Literal["entry", "exit", "stop"]
"""What an order is for: to enter a position, to leave it, or to leave it when the price gets to the stop."""
Method = Literal["rules", "model"]


class TradeOutcome(Frozen):
    """What one closed trade of an announcer brought."""

    trade: str
    return_percent: Decimal
    """The profit in percent of what was put in."""
    delay_seconds: float
    """How long after the announcement it was entered."""


class Announcer(Frozen):
    """An account that is followed: what it posted so far, and what it says that it holds."""

    name: str
    first_post_at: datetime
    latest_post_at: datetime
    posts: int = 0
    signals: int = 0
    holdings: tuple[Holding, ...] = ()
    """What the announcer holds by their own posts, which is not what we hold on their word."""
    recent: dict[str, datetime] = Field(default_factory=dict)
    """The fingerprints of the announcements of the last days, and when each was made last."""
    trades: int = 0
    """How many trades were closed on their word."""
    wins: int = 0
    profit: Decimal = Decimal(0)
    return_percent: Decimal = Decimal(0)
    """The sum of the returns of all closed trades."""
    outcomes: tuple[TradeOutcome, ...] = ()
    """The latest closed trades, the newest last; limits are learnt from these."""

    @property
    def expectancy_percent(self) -> Decimal | None:
        """The average return of a closed trade."""
        return self.return_percent / self.trades if self.trades else None


class Detection(Frozen):
    """Whether a post announces trades, and which signals were read from it."""

    post: Post
    announcer: str
    signals: tuple[str, ...] = ()
    method: Method = "rules"


class SignalRecord(Frozen):
    """A signal with the post it was read from."""

    id: str
    announcer: str
    post: Post
    signal: Signal
    fraction: Decimal | None = None
    """The part of the announcer's own position that is left, when it was said in units and the position is known."""
    method: Method = "rules"

    @property
    def quote(self) -> str:
        """The words that it was read from."""
        return self.post.text[self.signal.span.start : self.signal.span.end]

    @property
    def announced_price(self) -> Decimal | None:
        """The price that the announcer named, in the middle of a range."""
        return self.signal.price.middle if self.signal.price else None

    @property
    def strategy(self) -> str:
        """How trades are grouped in figures: the time frame that was said, otherwise what is traded."""
        return self.signal.time_frame or self.signal.instrument.asset.value


class RuleCheck(Frozen):
    """What one rule said of a signal."""

    rule: str
    outcome: Literal["passed", "refused", "needs_confirmation", "does_not_apply"]
    reason: str
    value: str | None = None
    limit: str | None = None


class PlannedOrder(Frozen):
    """An order that a decision asks for, and what it is for.

    With ``held`` the order is no larger than what is held when it is placed: ``held``, more by what the orders
    ``added_by`` executed, and less by what the orders ``reduced_by`` executed beyond what was known.
    """

    order: Order
    purpose: Purpose
    held: Decimal | None = None
    added_by: tuple[str, ...] = ()
    reduced_by: dict[str, Decimal] = Field(default_factory=dict)


class Decision(Frozen):
    """What was decided on a signal, why, and by what."""

    signal: str
    announcer: str
    at: datetime
    accepted: bool
    reason: str
    """In one sentence; for a refusal the first rule that was against it."""
    checks: tuple[RuleCheck, ...] = ()
    """What the rules said that apply to such a signal."""
    rules_not_applied: int = 0
    trade: str | None = None
    """The trade that it opens or changes."""
    cancels: tuple[str, ...] = ()
    """The client ids of orders that are cancelled first."""
    orders: tuple[PlannedOrder, ...] = ()
    procedure: str = "execute_trade"
    procedure_version: int | None = None
    context: dict[str, Any] = Field(default_factory=dict)
    """What the decision drew on, as plain JSON: equity, open trades, the announcer's record, rules valid then."""


class Execution(Frozen):
    """What a broker executed of an order: fills that no other execution has."""

    id: str
    signal: str
    """The signal that the order was placed for."""
    trade: str
    announcer: str
    instrument: Instrument
    strategy: str
    purpose: Purpose
    order: Order
    status: OrderStatus
    fills: tuple[Fill, ...]
    announced_price: Decimal | None = None
    announced_at: datetime
    at: datetime
    """When the last of the fills was."""

    @property
    def quantity(self) -> Decimal:
        return sum((fill.quantity for fill in self.fills), Decimal(0))

    @property
    def price(self) -> Decimal:
        """The average price of the fills."""
        return sum((fill.quantity * fill.price for fill in self.fills), Decimal(0)) / self.quantity

    @property
    def fee(self) -> Decimal:
        return sum((fill.fee for fill in self.fills), Decimal(0))

    @property
    def delay_seconds(self) -> float:
        """How long after the announcement it was executed."""
        return (self.at - self.announced_at).total_seconds()


class WorkingOrder(Frozen):
    """An order that the broker may still execute."""

    client_id: str
    purpose: Purpose
    signal: str
    quantity: Decimal
    kind: OrderKind = "market"
    filled: Decimal = Decimal(0)
    announced_price: Decimal | None = None
    announced_at: datetime


class Trade(Frozen):
    """What we hold, or held, on the word of one announcer: opened by one signal, closed by another or by a stop."""

    id: str
    """The id of the signal that opened it."""
    announcer: str
    instrument: Instrument
    side: Side
    strategy: str
    decided_at: datetime
    opened_at: datetime | None = None
    closed_at: datetime | None = None
    entered: Decimal = Decimal(0)
    """How many units were bought, or sold short, in all."""
    entry_value: Decimal = Decimal(0)
    """The sum of quantity times price of the entries."""
    left: Decimal = Decimal(0)
    """How many units were given up again."""
    exit_value: Decimal = Decimal(0)
    fees: Decimal = Decimal(0)
    stop: Decimal | None = None
    """The price at which the position is left."""
    working: tuple[WorkingOrder, ...] = ()
    signals: tuple[str, ...] = ()
    """All signals that had a part in it."""
    stops_placed: int = 0
    """How many stops were placed after the fact, because more was executed later."""
    stop_refused_at: datetime | None = None
    """When the broker refused a stop last."""
    delay_seconds: float | None = None
    """How long after the announcement the first unit was entered."""
    run: str | None = None
    """The run of ``execute_trade`` that opened it."""
    learnt: bool = False
    """Whether its outcome was given back to the procedure and to the announcer's record."""

    @property
    def quantity(self) -> Decimal:
        """How many units are open."""
        return self.entered - self.left

    @property
    def average_entry(self) -> Decimal | None:
        return self.entry_value / self.entered if self.entered else None

    @property
    def average_exit(self) -> Decimal | None:
        return self.exit_value / self.left if self.left else None

    @property
    def profit(self) -> Decimal:
        """What the units that were given up earned, in money, less all fees."""
        if not self.left or not self.entered:
            return -self.fees
        cost = self.entry_value * self.left / self.entered
        gain = self.exit_value - cost if self.side == "long" else cost - self.exit_value
        return gain * multiplier(self.instrument) - self.fees

    @property
    def return_percent(self) -> Decimal:
        """The profit in percent of what was put in."""
        put_in = self.entry_value * multiplier(self.instrument)
        return self.profit / put_in * 100 if put_in else Decimal(0)

    @property
    def closed(self) -> bool:
        return self.closed_at is not None

    def orders(self, *purposes: Purpose) -> tuple[WorkingOrder, ...]:
        """Return the working orders with one of these purposes."""
        return tuple(order for order in self.working if order.purpose in purposes)
