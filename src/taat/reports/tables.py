"""Figures, trades and positions as tables for the terminal. rich is imported only when something is drawn."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from taat.models import Instrument
from taat.performance import Figures, OpenPosition, RoundTrip
from taat.reports import words

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from taat.reports.report import Report

_PIPED_WIDTH, _WORDS_WIDTH, _GAP = 160, 12, 2
_FOLDED = ("says", "value")
"""Columns of words, which may go over several lines; figures and names stay whole."""


def figures_table(figures: Iterable[Figures], name: str) -> Table:
    """Return one row for each group of trades."""
    heads = (
        "trades",
        "won",
        "profit",
        "return",
        "expect.",
        "factor",
        "drawdown",
        "Sharpe",
        "in trade",
        "slip",
        "delay",
    )
    table = _table([name], heads)
    for row in figures:
        table.add_row(
            words.plain(row.name),
            f"{row.trades:,}",
            words.share(row.win_rate),
            _coloured(words.money(row.profit, sign=True), row.profit),
            words.percent(row.return_percent, sign=True),
            words.percent(row.expectancy_percent, sign=True, places=2),
            words.number(row.profit_factor),
            words.percent(row.maximum_drawdown_percent),
            words.number(row.sharpe),
            words.duration(row.time_in_trade),
            words.percent(row.slippage_percent, sign=True, places=2),
            words.duration(row.delay_seconds),
        )
    return table


def trades_table(trips: Sequence[RoundTrip]) -> Table:
    """Return one row for each closed trade, the latest first."""
    table = _table(
        ("closed (UTC)", "announcer", "instrument", "side"), ("size", "entry", "exit", "profit", "return", "in trade")
    )
    for trip in reversed(trips):
        table.add_row(
            f"{trip.closed_at:%Y-%m-%d %H:%M}",
            words.plain(trip.announcer),
            words.plain(str(trip.instrument)),
            trip.side,
            words.quantity(trip.quantity),
            words.price(trip.entry_price),
            words.price(trip.exit_price),
            _coloured(words.money(trip.profit, sign=True), trip.profit),
            words.percent(trip.return_percent, sign=True),
            words.duration(trip.duration),
        )
    return table


def positions_table(positions: Iterable[OpenPosition], marks: Mapping[Instrument, Decimal]) -> Table:
    """Return one row for each open position."""
    table = _table(
        ("announcer", "instrument", "side"),
        ("size", "entry", "price", "worth", "unrealised", "realised", "since (UTC)"),
    )
    for position in positions:
        mark = marks.get(position.instrument)
        gain = None if mark is None else position.unrealised(mark)
        table.add_row(
            words.plain(position.announcer),
            words.plain(str(position.instrument)),
            position.side,
            words.quantity(position.quantity),
            words.price(position.average_price),
            words.price(mark),
            words.money(None if mark is None else position.worth(mark)),
            _coloured(words.money(gain, sign=True), gain),
            words.money(position.realised, sign=True),
            f"{position.opened_at:%Y-%m-%d %H:%M}",
        )
    return table


def summary_lines(report: Report) -> list[str]:
    """Return what a report comes to, in a few lines."""
    total, benchmark = report.total, report.benchmark
    trades = f"{total.trades:,} closed trade{'s' * (total.trades != 1)}"
    lines = [
        f"{trades}, {total.open_positions:,} open. Capital {words.money(report.capital)}, "
        f"realised {words.money(total.profit, sign=True)} ({words.percent(total.return_percent, sign=True, places=2)}) "
        f"after fees of {words.money(total.fees)}, unrealised {words.money(total.unrealised, sign=True)}."
    ]
    if benchmark is not None:
        gain = words.percent(benchmark.return_percent, sign=True, places=2)
        fall, ours = words.percent(benchmark.drawdown.percent), words.percent(total.maximum_drawdown_percent)
        held = f"{words.plain(benchmark.name)}, bought and held: {gain}"
        lines.append(f"{held} with a drawdown of {fall}; ours: {ours}.")
    return lines


def _table(left: Sequence[str], right: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    for name in left:
        table.add_column(name, overflow="fold", no_wrap=name not in _FOLDED)
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _coloured(text: str, value: Decimal | None) -> Text:
    from rich.text import Text

    return Text(text, style="" if not value else "green" if value > 0 else "red")


def rows_table(left: Sequence[str], right: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table of texts: some columns to the left, the others to the right."""
    table = _table(left, right)
    for row in rows:
        table.add_row(*map(words.plain, row))
    return table


def draw(*parts: Table | str) -> None:
    """Draw tables and lines on the standard output; figures are never cut, however narrow it is."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    width = console.width if console.is_terminal else shutil.get_terminal_size((_PIPED_WIDTH, 24)).columns
    for part in parts:
        if isinstance(part, str):
            console.print(Text(part), soft_wrap=True)
        else:
            console.width = max(width, _needed_width(part))
            console.print(part)


def _needed_width(table: Table) -> int:
    """Return how wide a table must be, and keep the columns that must not be cut as wide as their contents."""
    from rich.cells import cell_len

    for column in table.columns:
        if column.no_wrap:
            column.min_width = max(cell_len(str(cell)) for cell in (column.header, *column.cells))
    return sum((column.min_width or _WORDS_WIDTH) + _GAP for column in table.columns)
