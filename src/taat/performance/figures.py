"""The figures of a group of trades: of everything, of an announcer, a symbol or a strategy."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal, localcontext
from typing import Literal

from taat.models import Frozen, Instrument
from taat.performance.curve import drawdown, equity_curve, sharpe
from taat.performance.trips import DIGITS, Matched, OpenPosition, RoundTrip

Grouping = Literal["announcer", "symbol", "strategy"]
ZERO = Decimal(0)
_EIGHT_PLACES = Decimal("1e-8")


class Figures(Frozen):
    """What trades have brought. A figure that nothing says is ``None``, never zero."""

    name: str
    trades: int = 0
    """How many round trips are closed."""
    wins: int = 0
    losses: int = 0
    open_positions: int = 0
    profit: Decimal = ZERO
    """What closed trades and closed parts of open ones earned, after fees."""
    unrealised: Decimal | None = None
    """What open positions would earn at the known prices; ``None`` when a price is missing."""
    fees: Decimal = ZERO
    return_percent: Decimal | None = None
    """The profit in percent of the capital."""
    win_rate: Decimal | None = None
    """The share of closed trades that earned something, 0 to 1."""
    expectancy: Decimal | None = None
    """The average profit of a closed trade, in money."""
    expectancy_percent: Decimal | None = None
    """The average return of a closed trade, in percent of what was at stake."""
    average_win: Decimal | None = None
    average_loss: Decimal | None = None
    profit_factor: Decimal | None = None
    """What was won for each unit of money that was lost; ``None`` when nothing was lost."""
    best: Decimal | None = None
    worst: Decimal | None = None
    maximum_drawdown: Decimal = ZERO
    maximum_drawdown_percent: Decimal | None = None
    sharpe: float | None = None
    time_in_trade: timedelta | None = None
    """The average time from the first unit of a trade to its last."""
    slippage: Decimal | None = None
    """How much worse than announced the fills were, in money."""
    slippage_percent: Decimal | None = None
    """The same in percent of what the fills were worth at the announced prices."""
    delay_seconds: float | None = None
    """The average time from an announcement to its fill."""


def figures_of(
    name: str, matched: Matched, *, capital: Decimal | None = None, marks: Mapping[Instrument, Decimal] | None = None
) -> Figures:
    """Return the figures of everything that was matched; ``marks`` are the present prices of what is held."""
    with localcontext() as context:
        context.prec = DIGITS
        return _figures(name, matched, capital, marks or {})


def _figures(name: str, matched: Matched, capital: Decimal | None, marks: Mapping[Instrument, Decimal]) -> Figures:
    trips, realised, fills = matched.trips, matched.realised, matched.fills
    profits = [trip.profit for trip in trips]
    wins, losses = [value for value in profits if value > 0], [value for value in profits if value < 0]
    curve = equity_curve(realised, capital or ZERO)
    deepest = drawdown(curve)
    profit = sum((part.amount for part in realised), ZERO)
    announced = sum((value for value in (fill.announced_value for fill in fills) if value is not None), ZERO)
    slippage = [value for fill in fills if (value := fill.slippage) is not None]
    delays = [delay for fill in fills if (delay := fill.delay_seconds) is not None]
    first = min((fill.at for fill in fills), default=None)
    return Figures(
        name=name,
        trades=len(trips),
        wins=len(wins),
        losses=len(losses),
        open_positions=len(matched.positions),
        profit=profit,
        unrealised=_unrealised(matched.positions, marks),
        fees=sum((fill.fill.fee for fill in fills), ZERO),
        return_percent=_ratio(profit * 100, capital) if capital else None,
        win_rate=_ratio(Decimal(len(wins)), Decimal(len(trips))) if trips else None,
        expectancy=_mean(profits),
        expectancy_percent=_mean([trip.return_percent for trip in trips]),
        average_win=_mean(wins),
        average_loss=_mean(losses),
        profit_factor=_ratio(sum(wins, ZERO), -sum(losses, ZERO)) if losses else None,
        best=max(profits, default=None),
        worst=min(profits, default=None),
        maximum_drawdown=deepest.amount,
        maximum_drawdown_percent=_ratio(deepest.percent or ZERO, Decimal(1)) if capital else None,
        sharpe=sharpe(realised, capital, first.date() if first else None) if capital else None,
        time_in_trade=sum((trip.duration for trip in trips), timedelta(0)) / len(trips) if trips else None,
        slippage=sum(slippage, ZERO) if slippage else None,
        slippage_percent=_ratio(sum(slippage, ZERO) * 100, announced) if announced else None,
        delay_seconds=sum(delays) / len(delays) if delays else None,
    )


def grouped(
    matched: Matched,
    by: Grouping,
    *,
    capital: Decimal | None = None,
    marks: Mapping[Instrument, Decimal] | None = None,
) -> list[Figures]:
    """Return the figures of each announcer, symbol or strategy, the most profitable first."""
    result = [figures_of(name, part, capital=capital, marks=marks) for name, part in split(matched, by).items()]
    return sorted(result, key=lambda figures: (-figures.profit, figures.name))


def split(matched: Matched, by: Grouping) -> dict[str, Matched]:
    """Return what was matched, apart for each announcer, symbol or strategy."""
    trips: dict[str, list[RoundTrip]] = {}
    positions: dict[str, list[OpenPosition]] = {}
    for trip in matched.trips:
        trips.setdefault(_group(trip, by), []).append(trip)
    for position in matched.positions:
        positions.setdefault(_group(position, by), []).append(position)
    return {
        name: Matched(trips=tuple(trips.get(name, ())), positions=tuple(positions.get(name, ())))
        for name in sorted({*trips, *positions})
    }


def _group(traded: RoundTrip | OpenPosition, by: Grouping) -> str:
    if by == "strategy":
        return traded.strategy
    return traded.announcer if by == "announcer" else traded.instrument.symbol


def _unrealised(positions: Sequence[OpenPosition], marks: Mapping[Instrument, Decimal]) -> Decimal | None:
    if any(position.instrument not in marks for position in positions):
        return None
    return sum((position.unrealised(marks[position.instrument]) for position in positions), ZERO)


def _mean(values: Sequence[Decimal]) -> Decimal | None:
    return _ratio(sum(values, ZERO), Decimal(len(values))) if values else None


def _ratio(part: Decimal, whole: Decimal) -> Decimal:
    """Return a quotient to eight places; sums of money are exact, quotients cannot be."""
    return (part / whole).quantize(_EIGHT_PLACES)
