"""From fills to round trips: what is left is what was entered first, for each announcer and instrument."""

from collections import deque
from collections.abc import Iterable
from decimal import Decimal, localcontext
from operator import attrgetter

from taat.models import Instrument, Side, multiplier
from taat.performance.fills import AnnouncedFill, in_order
from taat.performance.trips import DIGITS, Lot, Matched, OpenPosition, Realised, RoundTrip

_SMALLEST_FEE = Decimal("1e-12")


class _Book:
    """The lots of one announcer in one instrument."""

    def __init__(self, announcer: str, instrument: Instrument) -> None:
        self.announcer, self.instrument = announcer, instrument
        self.trips: list[RoundTrip] = []
        self._begin()

    def _begin(self) -> None:
        self._lots: deque[Lot] = deque()
        self._open = Decimal(0)
        self._side: Side | None = None
        self._fills: list[AnnouncedFill] = []
        self._parts: list[Realised] = []
        self._entered = self._cost = self._proceeds = self._fees = Decimal(0)

    def add(self, executed: AnnouncedFill) -> None:
        fill = executed.fill
        side: Side = "long" if fill.side == "buy" else "short"
        if self._side is None or self._side == side:
            self._enter(executed, side)
        elif fill.quantity <= self._open:
            self._leave(executed)
        else:  # more was sold than held: the rest is a position on the other side
            first, second = _divided(executed, self._open)
            self._leave(first)
            self._enter(second, side)

    def _enter(self, executed: AnnouncedFill, side: Side) -> None:
        fill = executed.fill
        self._side = side
        self._lots.append(Lot(quantity=fill.quantity, price=fill.price, fee=fill.fee, at=executed.at))
        self._fills.append(executed)
        self._open += fill.quantity
        self._entered += fill.quantity
        self._cost += executed.value
        self._fees += fill.fee

    def _leave(self, executed: AnnouncedFill) -> None:
        fill, units = executed.fill, multiplier(self.instrument)
        left, earned = fill.quantity, -fill.fee
        while left:
            lot = self._lots.popleft()
            part = min(left, lot.quantity)
            # the last part takes what is left of the fee, so that nothing is lost by dividing
            fee = lot.fee if part == lot.quantity else _share(lot.fee, part, lot.quantity)
            gain = (fill.price - lot.price) * part * units
            earned += (gain if self._side == "long" else -gain) - fee
            if part < lot.quantity:
                self._lots.appendleft(lot.model_copy(update={"quantity": lot.quantity - part, "fee": lot.fee - fee}))
            left -= part
        self._fills.append(executed)
        self._parts.append(Realised(at=executed.at, quantity=fill.quantity, amount=earned))
        self._open -= fill.quantity
        self._proceeds += executed.value
        self._fees += fill.fee
        if not self._lots:
            self._close(executed)

    def _close(self, last: AnnouncedFill) -> None:
        assert self._side is not None  # something was held until now
        self.trips.append(
            RoundTrip(
                announcer=self.announcer,
                instrument=self.instrument,
                side=self._side,
                time_frame=self._time_frame(),
                opened_at=self._fills[0].at,
                closed_at=last.at,
                quantity=self._entered,
                cost=self._cost,
                proceeds=self._proceeds,
                fees=self._fees,
                fills=tuple(self._fills),
                parts=tuple(self._parts),
            )
        )
        self._begin()

    def _time_frame(self) -> str | None:
        return next((executed.time_frame for executed in self._fills if executed.time_frame), None)

    def position(self) -> OpenPosition | None:
        if self._side is None:
            return None
        return OpenPosition(
            announcer=self.announcer,
            instrument=self.instrument,
            side=self._side,
            time_frame=self._time_frame(),
            opened_at=self._fills[0].at,
            lots=tuple(self._lots),
            fills=tuple(self._fills),
            parts=tuple(self._parts),
        )


def _divided(executed: AnnouncedFill, quantity: Decimal) -> tuple[AnnouncedFill, AnnouncedFill]:
    """Return a fill as two: one of a quantity, and one of the rest; the fee is divided without loss."""
    fill = executed.fill
    fee = _share(fill.fee, quantity, fill.quantity)
    first = fill.model_copy(update={"quantity": quantity, "fee": fee})
    second = fill.model_copy(update={"quantity": fill.quantity - quantity, "fee": fill.fee - fee})
    return executed.model_copy(update={"fill": first}), executed.model_copy(update={"fill": second})


def _share(fee: Decimal, part: Decimal, whole: Decimal) -> Decimal:
    """Return the part of a fee, with so few digits that every sum with it is exact."""
    return (fee * part / whole).quantize(_SMALLEST_FEE)


def match_fills(fills: Iterable[AnnouncedFill]) -> Matched:
    """Return the round trips and open positions that fills add up to.

    Lots are kept for each announcer and instrument, and left first in, first out. A round trip lasts from the first
    unit to the last, so scaling out and partial fills do not make one trade many.
    """
    books: dict[tuple[str, Instrument], _Book] = {}
    with localcontext() as context:
        context.prec = DIGITS
        for executed in in_order(fills):
            key = (executed.announcer, executed.instrument)
            if key not in books:
                books[key] = _Book(*key)
            books[key].add(executed)
    return Matched(
        trips=tuple(sorted((trip for book in books.values() for trip in book.trips), key=attrgetter("closed_at"))),
        positions=tuple(position for book in books.values() if (position := book.position())),
    )
