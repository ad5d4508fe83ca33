"""Prices in memory, in the order of time."""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from operator import attrgetter

from taat.models import Instrument, Quote

_moment = attrgetter("at")


@dataclass(frozen=True, slots=True)
class PricePoint:
    """A bid and an ask at a moment."""

    at: datetime
    bid: Decimal
    ask: Decimal

    def quote(self, instrument: Instrument) -> Quote:
        """Return it as the price of an instrument."""
        return Quote(instrument=instrument, bid=self.bid, ask=self.ask, at=self.at)


@dataclass(slots=True)
class PriceSeries:
    """The prices of one instrument. Of several at the same moment, the last that was added counts."""

    points: list[PricePoint] = field(default_factory=list)

    def add(self, point: PricePoint) -> None:
        """Add a price; prices usually come in the order of time, which is the fast case."""
        if not self.points or self.points[-1].at <= point.at:
            self.points.append(point)
        else:
            insort(self.points, point, key=_moment)

    def latest(self, at: datetime) -> PricePoint | None:
        """Return the latest price at or before a moment."""
        place = bisect_right(self.points, at, key=_moment)
        return self.points[place - 1] if place else None

    def between(self, after: datetime, until: datetime) -> Sequence[PricePoint]:
        """Return the prices later than ``after`` and not later than ``until``."""
        return self.points[
            bisect_right(self.points, after, key=_moment) : bisect_right(self.points, until, key=_moment)
        ]
