"""A benchmark: what the same money had become in something that was bought once and held."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from taat.models import Frozen
from taat.performance.curve import Drawdown, EquityPoint, drawdown


class Benchmark(Frozen):
    """Buying and holding, beside the account."""

    name: str
    points: tuple[EquityPoint, ...]

    @property
    def return_percent(self) -> Decimal:
        first, last = self.points[0].equity, self.points[-1].equity
        return (last - first) / first * 100

    @property
    def drawdown(self) -> Drawdown:
        return drawdown(self.points)


def buy_and_hold(
    name: str, prices: Iterable[tuple[datetime, Decimal]], capital: Decimal, start: datetime, end: datetime
) -> Benchmark | None:
    """Return what a capital had become from ``start`` to ``end``, or ``None`` when no price says it.

    It is bought at the latest price at or before the start, or else at the first one after it.
    """
    ordered = sorted((at, price) for at, price in prices if at <= end and price > 0)
    before = [pair for pair in ordered if pair[0] <= start]
    during = [pair for pair in ordered if pair[0] > start]
    held: Sequence[tuple[datetime, Decimal]] = ([(start, before[-1][1])] if before else []) + during
    if not held or capital <= 0:
        return None
    bought = held[0][1]
    points = [EquityPoint(at=at, equity=capital * price / bought) for at, price in held]
    if points[-1].at < end:
        points.append(EquityPoint(at=end, equity=points[-1].equity))
    return Benchmark(name=name, points=tuple(points))
