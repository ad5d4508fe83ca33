"""What comes out of matching fills: round trips and open positions, and what each of their parts earned."""

from datetime import datetime, timedelta
from decimal import Decimal
from functools import cached_property
from operator import attrgetter

from taat.models import Frozen, Instrument, Side, multiplier
from taat.performance.fills import AnnouncedFill

DIGITS = 60
"""Digits that products and sums of money are computed with, so that none is rounded."""


class Lot(Frozen):
    """Units that were entered at one price and are still open."""

    quantity: Decimal
    price: Decimal
    fee: Decimal
    """What is left of the entry's fee for these units."""
    at: datetime


class Realised(Frozen):
    """What leaving a part of a position earned, after the fees of entering and leaving that part."""

    at: datetime
    quantity: Decimal
    amount: Decimal


class _Traded(Frozen):
    """What a round trip and an open position have in common."""

    announcer: str
    instrument: Instrument
    side: Side
    time_frame: str | None = None
    opened_at: datetime
    fills: tuple[AnnouncedFill, ...]
    """Its fills. One that closed a position and opened the opposite one is divided between the two."""
    parts: tuple[Realised, ...] = ()
    """What was left, part by part."""

    @property
    def strategy(self) -> str:
        """The kind of trade: what is traded, for how long if that was said, and on which side."""
        parts = (self.instrument.asset.value, self.time_frame, self.side)
        return " ".join(part for part in parts if part)

    @property
    def realised(self) -> Decimal:
        """What the parts that were left have earned."""
        return sum((part.amount for part in self.parts), Decimal(0))


class RoundTrip(_Traded):
    """A position from its first unit to its last: how it was entered, left, and what it earned."""

    closed_at: datetime
    quantity: Decimal
    """How many units were entered in all."""
    cost: Decimal
    """What the entries were worth: what was at stake."""
    proceeds: Decimal
    """What the exits were worth."""
    fees: Decimal

    @property
    def profit(self) -> Decimal:
        gain = self.proceeds - self.cost if self.side == "long" else self.cost - self.proceeds
        return gain - self.fees

    @property
    def return_percent(self) -> Decimal:
        """The profit in percent of what was at stake; 0 for what cost nothing."""
        return self.profit / self.cost * 100 if self.cost else Decimal(0)

    @property
    def entry_price(self) -> Decimal:
        return self.cost / self.quantity / multiplier(self.instrument)

    @property
    def exit_price(self) -> Decimal:
        return self.proceeds / self.quantity / multiplier(self.instrument)

    @property
    def duration(self) -> timedelta:
        return self.closed_at - self.opened_at


class OpenPosition(_Traded):
    """What is held on the word of one announcer."""

    lots: tuple[Lot, ...]
    """The open units, the oldest first: they are left first."""

    @property
    def quantity(self) -> Decimal:
        return sum((lot.quantity for lot in self.lots), Decimal(0))

    @property
    def cost(self) -> Decimal:
        """What the open units were worth when they were entered."""
        return sum((lot.quantity * lot.price for lot in self.lots), Decimal(0)) * multiplier(self.instrument)

    @property
    def average_price(self) -> Decimal:
        return self.cost / self.quantity / multiplier(self.instrument)

    @property
    def fees(self) -> Decimal:
        """The entry fees of the open units, which are counted when the units are left."""
        return sum((lot.fee for lot in self.lots), Decimal(0))

    def worth(self, price: Decimal) -> Decimal:
        """Return what the open units are worth at a price."""
        return self.quantity * price * multiplier(self.instrument)

    def unrealised(self, price: Decimal) -> Decimal:
        """Return what the open units would earn at a price, after the fees of entering them."""
        gain = self.worth(price) - self.cost
        return (gain if self.side == "long" else -gain) - self.fees


class Matched(Frozen):
    """All that fills add up to."""

    trips: tuple[RoundTrip, ...] = ()
    """The closed positions, in the order in which they were closed."""
    positions: tuple[OpenPosition, ...] = ()

    @cached_property
    def realised(self) -> tuple[Realised, ...]:
        """The earnings, in the order of time."""
        parts = [part for traded in (*self.trips, *self.positions) for part in traded.parts]
        return tuple(sorted(parts, key=attrgetter("at")))

    @cached_property
    def fills(self) -> tuple[AnnouncedFill, ...]:
        """The fills, in the order of time."""
        fills = [fill for traded in (*self.trips, *self.positions) for fill in traded.fills]
        return tuple(sorted(fills, key=attrgetter("at")))
