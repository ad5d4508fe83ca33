"""What is known when a signal is judged."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import ROUND_DOWN, Decimal
from typing import Annotated

from pydantic import Field

from taat.models import Account, Action, AssetClass, Frozen, Instrument, Position, Quote, Signal, multiplier
from taat.validation.rules import Rules

OPENING: frozenset[Action] = frozenset({"open", "add", "limit"})
"""The actions that make a position or enlarge it. All others make it smaller, end it, or move its stop."""
_STEPS = {AssetClass.CRYPTO: Decimal("0.000001"), AssetClass.INDEX: Decimal("0.01")}
ZERO = Decimal(0)


class AnnouncerRecord(Frozen):
    """What following an announcer has brought so far."""

    trades: Annotated[int, Field(ge=0)] = 0
    """How many trades are closed."""
    expectancy_percent: Decimal | None = None
    """The average return of a closed trade, in percent of what it cost; ``None`` without trades."""


class Situation(Frozen):
    """Everything a signal is judged by, beside the signal itself. The same situation gives the same verdict."""

    at: datetime
    """The moment of the decision."""
    posted_at: datetime
    announcer: str
    account: Account
    market_open: bool = True
    next_opening: datetime | None = None
    quote: Quote | None = None
    positions: tuple[Position, ...] = ()
    """What the account holds, of all announcers."""
    held: Decimal | None = None
    """What is held of the instrument on this announcer's word; below zero when short. Taken from the account's
    positions when it is ``None``."""
    opposed: str | None = None
    """On whose word the other side of the instrument is held or ordered."""
    buying_power: Decimal | None = None
    """What may be spent. Taken from the account when it is ``None``."""
    record: AnnouncerRecord = AnnouncerRecord()
    earlier: Mapping[str, datetime] = Field(default_factory=dict)
    """The fingerprints of earlier signals, and when each was announced last."""
    edited: bool = False
    """Whether the signal was read from a post that was changed after it was first seen."""
    rules: Rules = Rules()

    @property
    def age(self) -> timedelta:
        return self.at - self.posted_at

    @property
    def loss_today(self) -> Decimal:
        """What the account has lost since the day began, realised or not; 0 on a day with a gain."""
        return max(ZERO, self.account.day_start_equity - self.account.equity)

    def account_quantity(self, instrument: Instrument) -> Decimal:
        """Return what the account holds of an instrument; below zero when it is short."""
        return sum((position.quantity for position in self.positions if position.instrument == instrument), ZERO)

    def held_quantity(self, instrument: Instrument) -> Decimal:
        """Return what is held on the announcer's word."""
        return self.held if self.held is not None else self.account_quantity(instrument)

    def spendable(self) -> Decimal:
        """Return the buying power.

        It is the cash, less twice what the short positions were sold for: the proceeds are owed, and as much again
        secures them. It is no more than what the broker says, which knows of orders that wait.
        """
        if self.buying_power is not None:
            return max(ZERO, self.buying_power)
        shorts = (
            -position.quantity * position.average_price * multiplier(position.instrument)
            for position in self.positions
            if position.quantity < 0
        )
        own, brokers = self.account.cash - 2 * sum(shorts, ZERO), self.account.buying_power
        return max(ZERO, own if brokers is None else min(own, brokers))


def fingerprint(announcer: str, signal: Signal) -> str:
    """Return what makes two announcements the same: who does what with which instrument, at which price and size."""
    price = f"{_plain(signal.price.low)}-{_plain(signal.price.high)}" if signal.price else ""
    quantity = f"{_plain(signal.quantity.value)} {signal.quantity.unit}" if signal.quantity else ""
    instrument = f"{signal.instrument.asset} {signal.instrument}"
    return "|".join((announcer.casefold(), instrument, signal.action, signal.side or "", price, quantity))


def smallest_step(instrument: Instrument) -> Decimal:
    """Return the smallest quantity that is traded: whole shares and contracts, parts of coins and indices."""
    return _STEPS.get(instrument.asset, Decimal(1))


def in_steps(quantity: Decimal, instrument: Instrument) -> Decimal:
    """Return a quantity rounded down to what can be traded."""
    step = smallest_step(instrument)
    return (quantity / step).to_integral_value(ROUND_DOWN) * step


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"
