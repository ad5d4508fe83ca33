"""The equity over time: its points, drawdowns, daily returns and Sharpe ratio."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import sqrt

from taat.models import Frozen
from taat.performance.trips import Realised

TRADING_DAYS = 252
"""Trading days in a year, by which a Sharpe ratio of daily returns is scaled."""
FEWEST_DAYS = 5
"""With fewer daily returns a Sharpe ratio is chance."""


class EquityPoint(Frozen):
    """What an account was worth at a moment."""

    at: datetime
    equity: Decimal


class Drawdown(Frozen):
    """The deepest falls from a peak. The deepest in money need not be the deepest in percent."""

    amount: Decimal = Decimal(0)
    percent: Decimal | None = None
    """In percent of the peak; ``None`` when no peak was above zero."""
    peak_at: datetime | None = None
    """When the fall in money began."""
    trough_at: datetime | None = None
    """When it was deepest."""


def equity_curve(realised: Iterable[Realised], capital: Decimal, start: datetime | None = None) -> list[EquityPoint]:
    """Return the capital and what was realised, after each moment at which something was; one point a moment."""
    points: list[EquityPoint] = []
    equity = capital
    for part in realised:
        if not points:
            points.append(EquityPoint(at=min(start, part.at) if start else part.at, equity=capital))
        equity += part.amount
        if len(points) > 1 and points[-1].at == part.at:
            points.pop()
        points.append(EquityPoint(at=part.at, equity=equity))
    return points


def drawdown(points: Sequence[EquityPoint]) -> Drawdown:
    """Return the deepest fall in money, and the deepest in percent of the peak before it."""
    deepest = Drawdown()
    peak: EquityPoint | None = None
    percent: Decimal | None = None
    for point in points:
        if peak is None or point.equity > peak.equity:
            peak = point
        fall = peak.equity - point.equity
        if peak.equity > 0:
            percent = max(percent or Decimal(0), fall / peak.equity * 100)
        if fall > deepest.amount:
            deepest = Drawdown(amount=fall, peak_at=peak.at, trough_at=point.at)
    return deepest.model_copy(update={"percent": percent})


def underwater(points: Sequence[EquityPoint]) -> list[tuple[datetime, Decimal]]:
    """Return how far below its peak the equity is at each point, in percent and never above zero."""
    result: list[tuple[datetime, Decimal]] = []
    peak = Decimal(0)
    for point in points:
        peak = max(peak, point.equity)
        result.append((point.at, (point.equity - peak) / peak * 100 if peak > 0 else Decimal(0)))
    return result


def daily_amounts(realised: Iterable[Realised], first: date | None = None) -> dict[date, Decimal]:
    """Return what each day earned: all weekdays from the first day to the last, and weekends on which something was."""
    amounts: dict[date, Decimal] = {}
    for part in realised:
        amounts[part.at.date()] = amounts.get(part.at.date(), Decimal(0)) + part.amount
    if not amounts:
        return {}
    day, last = min(first or min(amounts), min(amounts)), max(amounts)
    while day <= last:
        if day.weekday() < 5:
            amounts.setdefault(day, Decimal(0))
        day += timedelta(days=1)
    return dict(sorted(amounts.items()))


def sharpe(realised: Iterable[Realised], capital: Decimal, first: date | None = None) -> float | None:
    """Return the yearly Sharpe ratio of daily returns, without a risk-free rate.

    ``None`` with fewer than five days, without any variation, or when the capital was used up: then it says nothing.
    """
    returns: list[float] = []
    equity = capital
    for amount in daily_amounts(realised, first).values():
        if equity <= 0:
            return None
        returns.append(float(amount / equity))
        equity += amount
    if len(returns) < FEWEST_DAYS:
        return None
    mean = sum(returns) / len(returns)
    deviation = sqrt(sum((value - mean) ** 2 for value in returns) / (len(returns) - 1))
    # equal returns that differ in their last binary digit have no variation
    if deviation <= 1e-12 * max(1.0, abs(mean)):
        return None
    return mean / deviation * sqrt(TRADING_DAYS)
