"""``taat report``: what the trading has brought, in the terminal and as a page with charts."""

import asyncio
import sys
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated

import typer

from longmind import InvalidInput, NotFound
from taat.cli import screen
from taat.cli.place import StoreOption, existing_memory
from taat.cli.recorded import JsonOption, PricesOption, Recorded, read_recorded
from taat.market import ReplayMarket
from taat.models import AssetClass, Instrument
from taat.performance import Benchmark, Grouping, buy_and_hold
from taat.reports import (
    Report,
    build_report,
    draw,
    figures_table,
    html_report,
    report_json,
    summary_lines,
    trades_table,
)

_CAPITAL = Decimal(100_000)
_LATEST = 10
_BEGINNING = datetime.min.replace(tzinfo=UTC)


def report(
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page with charts, which needs nothing else.")
    ] = None,
    by: Annotated[
        Grouping | None,
        typer.Option(
            help="What the figures are told by. By default as `taat prefer report-by` says.", show_default=False
        ),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(metavar="FILE:SYMBOL", help="Prices of an index, to tell what buying and holding it had brought."),
    ] = None,
    capital: Annotated[
        str | None,
        typer.Option(
            metavar="MONEY",
            help="What returns are measured by. By default what the paper account began with, or 100000.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    prices: PricesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what the trading has brought: return, win rate, expectancy, drawdown, Sharpe ratio, slippage and delay."""
    with screen.problems_told(as_json=as_json):
        result = asyncio.run(_report(store, prices, by, _money(capital), benchmark))
        if html is not None:
            _write(html, html_report(result))
        if as_json:
            sys.stdout.write(screen.json_line(report_json(result)))
            return
        _show(result)
        if html is not None:
            draw(f"The page is {html}.")


async def _report(
    store: Path | None, prices: str | None, by: Grouping | None, capital: Decimal | None, benchmark: str | None
) -> Report:
    recorded = await read_recorded(store, prices)
    if by is None:
        async with existing_memory(store) as memory:
            by = (await memory.knowledge.preferences()).report_by
    money = capital or recorded.capital or _CAPITAL
    beside = await _benchmark(benchmark, money, recorded) if benchmark is not None else None
    return build_report(recorded.fills, at=recorded.at, capital=money, by=by, marks=recorded.marks, benchmark=beside)


async def _benchmark(address: str, capital: Decimal, recorded: Recorded) -> Benchmark | None:
    """Return what buying and holding had brought from the first fill to the last; ``None`` before the first."""
    path, _, symbol = address.rpartition(":")
    if not path or not symbol:
        raise InvalidInput(f"{address!r} names no benchmark.", hint="Say FILE:SYMBOL, such as prices.csv:SPY.")
    market, fills = ReplayMarket(Path(path)), recorded.matched.fills
    end = max((fill.at for fill in fills), default=recorded.at)
    for asset in (AssetClass.INDEX, *AssetClass):
        quotes = await market.quotes(Instrument(symbol=symbol.upper(), asset=asset), _BEGINNING, recorded.at)
        if not quotes:
            continue
        if not fills:
            return None
        result = buy_and_hold(symbol, [(quote.at, quote.middle) for quote in quotes], capital, fills[0].at, end)
        if result is None:
            raise NotFound(f"{path} has no price of {symbol} up to {end:%Y-%m-%d}.")
        return result
    raise NotFound(f"{path} has no prices of {symbol}.")


def _money(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        value = Decimal(text.replace(",", ""))
    except InvalidOperation:
        value = Decimal(0)
    if not value.is_finite() or value <= 0:
        raise InvalidInput(f"--capital {text!r} is no sum of money.", hint="Write a number above zero.")
    return value


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror or error}.") from error


def _show(result: Report) -> None:
    if not (result.total.trades or result.total.open_positions):
        draw("Nothing has been traded yet.")
        return
    draw(figures_table([*result.groups, *([result.total] if len(result.groups) > 1 else [])], result.by))
    trips = result.matched.trips
    if trips:
        draw("", trades_table(trips[-_LATEST:]))
        if len(trips) > _LATEST:
            draw(f"The latest {_LATEST} of {len(trips):,} trades; the page of --html has more.")
    draw("", *summary_lines(result))
