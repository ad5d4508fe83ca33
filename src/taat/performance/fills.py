"""A fill together with the announcement that led to it: what all figures are computed from."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from taat.models import Fill, Frozen, Instrument, multiplier


class AnnouncedFill(Frozen):
    """A part of an order that was executed, and on whose word."""

    fill: Fill
    announcer: str
    signal: str | None = None
    """The id of the signal that the order was placed for."""
    time_frame: str | None = None
    announced_price: Decimal | None = None
    """The price that was announced; ``None`` when there was none, or when a stop of ours was executed."""
    announced_at: datetime | None = None
    """When it was announced; ``None`` when the order waited for its price, so that a delay tells nothing."""

    @property
    def instrument(self) -> Instrument:
        return self.fill.instrument

    @property
    def at(self) -> datetime:
        return self.fill.filled_at

    @property
    def value(self) -> Decimal:
        """What was paid or got, without the fee."""
        return self.fill.quantity * self.fill.price * multiplier(self.fill.instrument)

    @property
    def announced_value(self) -> Decimal | None:
        """What would have been paid or got at the announced price."""
        if self.announced_price is None:
            return None
        return self.fill.quantity * self.announced_price * multiplier(self.fill.instrument)

    @property
    def slippage(self) -> Decimal | None:
        """How much worse than announced it was executed, in money; below zero when it was better."""
        announced = self.announced_value
        if announced is None:
            return None
        return self.value - announced if self.fill.side == "buy" else announced - self.value

    @property
    def delay_seconds(self) -> float | None:
        """How long after the announcement it was executed."""
        return None if self.announced_at is None else (self.at - self.announced_at).total_seconds()


def in_order(fills: Iterable[AnnouncedFill]) -> list[AnnouncedFill]:
    """Return fills in the order of time, each once: a broker may tell the same fill again."""
    once: dict[tuple[str, str], AnnouncedFill] = {}
    for executed in fills:
        once.setdefault((executed.fill.client_id, executed.fill.id), executed)
    return sorted(once.values(), key=lambda executed: executed.at)
