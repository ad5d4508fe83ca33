"""Figures from executions: round trips, what they brought, and a benchmark beside them."""

from taat.performance.benchmark import Benchmark, buy_and_hold
from taat.performance.curve import Drawdown, EquityPoint, daily_amounts, drawdown, equity_curve, sharpe, underwater
from taat.performance.figures import Figures, Grouping, figures_of, grouped, split
from taat.performance.fills import AnnouncedFill
from taat.performance.matching import match_fills
from taat.performance.trips import Lot, Matched, OpenPosition, Realised, RoundTrip

__all__ = [
    "AnnouncedFill",
    "Benchmark",
    "Drawdown",
    "EquityPoint",
    "Figures",
    "Grouping",
    "Lot",
    "Matched",
    "OpenPosition",
    "Realised",
    "RoundTrip",
    "buy_and_hold",
    "daily_amounts",
    "drawdown",
    "equity_curve",
    "figures_of",
    "grouped",
    "match_fills",
    "sharpe",
    "split",
    "underwater",
]
