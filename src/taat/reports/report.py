"""What a report tells: figures of everything and of each group, trades, positions, curve and benchmark."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal

from taat.memory import Execution
from taat.models import Frozen, Instrument
from taat.performance import (
    AnnouncedFill,
    Benchmark,
    EquityPoint,
    Figures,
    Grouping,
    Matched,
    equity_curve,
    figures_of,
    grouped,
    match_fills,
)


class Report(Frozen):
    """All that is shown, computed once."""

    at: datetime
    capital: Decimal
    by: Grouping
    total: Figures
    groups: tuple[Figures, ...]
    matched: Matched
    marks: Mapping[Instrument, Decimal]
    curve: tuple[EquityPoint, ...]
    benchmark: Benchmark | None = None

    @property
    def first(self) -> datetime | None:
        """When the first order was executed."""
        return self.matched.fills[0].at if self.matched.fills else None

    @property
    def last(self) -> datetime | None:
        """When the last order was executed."""
        return self.matched.fills[-1].at if self.matched.fills else None


def announced_fills(executions: Iterable[Execution]) -> list[AnnouncedFill]:
    """Return the fills of executions with what was announced.

    An order of ours that waits, such as a stop, is executed when the market gets there: it has no delay. A stop was not
    announced at its price, so it has no slippage either.
    """
    return [
        AnnouncedFill(
            fill=fill,
            announcer=execution.announcer,
            signal=execution.signal,
            time_frame=execution.strategy if execution.strategy != execution.instrument.asset.value else None,
            announced_price=execution.announced_price if execution.purpose != "stop" else None,
            announced_at=execution.announced_at if _at_once(execution) else None,
        )
        for execution in executions
        for fill in execution.fills
    ]


def _at_once(execution: Execution) -> bool:
    return execution.purpose != "stop" and execution.order.kind == "market"


def build_report(
    fills: Iterable[AnnouncedFill],
    *,
    at: datetime,
    capital: Decimal,
    by: Grouping = "announcer",
    marks: Mapping[Instrument, Decimal] | None = None,
    benchmark: Benchmark | None = None,
) -> Report:
    """Return the report on fills; ``marks`` are the present prices of what is held."""
    matched, marks = match_fills(fills), dict(marks or {})
    first = matched.fills[0].at if matched.fills else None
    return Report(
        at=at,
        capital=capital,
        by=by,
        total=figures_of("all", matched, capital=capital, marks=marks),
        groups=tuple(grouped(matched, by, capital=capital, marks=marks)),
        matched=matched,
        marks=marks,
        curve=tuple(equity_curve(matched.realised, capital, first)),
        benchmark=benchmark,
    )
