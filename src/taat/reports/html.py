"""A report as one HTML page: no script, nothing loaded from anywhere, and every text escaped."""

from collections.abc import Sequence
from datetime import UTC
from decimal import Decimal
from html import escape
from importlib.resources import files
from typing import NamedTuple

from taat.performance import Figures, underwater
from taat.reports import words
from taat.reports.charts import Line, bar_chart, line_chart
from taat.reports.report import Report

MOST_TRADES = 500
"""How many trades a page lists, the latest first."""
MOST_BARS = 20
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_NAMES = {"announcer": "Announcer", "symbol": "Symbol", "strategy": "Strategy"}


class _Cell(NamedTuple):
    """A cell of a table: its text, and the class that says how it looks."""

    text: str
    style: str = ""


class _Column(NamedTuple):
    name: str
    right: bool = True
    explained: str = ""


def html_report(report: Report) -> str:
    """Return the page."""
    if report.total.trades or report.total.open_positions:
        body = "".join(
            (_tiles(report), _equity(report), _drawdown(report), _groups(report), _positions(report), _trades(report))
        )
    else:
        body = '<section class="card empty"><p>Nothing has been traded yet.</p></section>'
    style = files("taat.reports").joinpath("style.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Trading report</title><style>\n{style}</style></head>\n<body><main>"
        f'<h1>Trading report</h1><p class="lead">{_text(_lead(report))}</p>\n{body}\n{_footer()}</main></body></html>\n'
    )


def _text(text: str) -> str:
    return escape(words.plain(text))


def _lead(report: Report) -> str:
    moment = f"{report.at.astimezone(UTC):%d %B %Y, %H:%M} UTC"
    if report.first is None or report.last is None:
        return f"As of {moment}"
    days = f"{report.first:%d %B %Y} to {report.last:%d %B %Y}"
    return f"{days} · capital {words.money(report.capital)} · as of {moment}"


def _tone(value: Decimal | None) -> str:
    return "" if not value else "up" if value > 0 else "down"


def _tiles(report: Report) -> str:
    total, benchmark = report.total, report.benchmark
    beside = f"{_text(benchmark.name)} {words.percent(benchmark.return_percent, sign=True)}" if benchmark else ""
    fall = benchmark.drawdown.percent if benchmark else None
    tiles = [
        (
            "Realised profit",
            words.money(total.profit, sign=True),
            f"after fees of {words.money(total.fees)}",
            _tone(total.profit),
        ),
        ("Return", words.percent(total.return_percent, sign=True), beside, _tone(total.return_percent)),
        (
            "Unrealised",
            words.money(total.unrealised, sign=True),
            f"{total.open_positions} open",
            _tone(total.unrealised),
        ),
        (
            "Drawdown",
            words.percent(total.maximum_drawdown_percent),
            f"{_text(benchmark.name)} {words.percent(fall)}" if benchmark else words.money(total.maximum_drawdown),
            "",
        ),
        ("Sharpe ratio", words.number(total.sharpe), "daily, per year", ""),
        ("Win rate", words.share(total.win_rate), f"{total.wins} of {total.trades} trades", ""),
        (
            "Expectancy",
            words.money(total.expectancy, sign=True),
            f"{words.percent(total.expectancy_percent, sign=True, places=2)} a trade",
            _tone(total.expectancy),
        ),
        ("Profit factor", words.number(total.profit_factor), f"best {words.money(total.best, sign=True)}", ""),
        ("Time in trade", words.duration(total.time_in_trade), "on average", ""),
        (
            "Slippage",
            words.percent(total.slippage_percent, sign=True, places=2),
            f"{words.money(total.slippage)} in money",
            "",
        ),
        ("Delay", words.duration(total.delay_seconds), "from post to fill", ""),
        ("Worst trade", words.money(total.worst, sign=True), "", _tone(total.worst)),
    ]
    cells = (
        f'<div class="tile"><dt>{name}</dt><dd class="{tone}">{value}<small>{note}</small></dd></div>'
        for name, value, note, tone in tiles
    )
    return f'<dl class="tiles">{"".join(cells)}</dl>\n'


def _equity(report: Report) -> str:
    if not report.curve:
        return ""
    lines = [Line("Account", "account", [(point.at, float(point.equity)) for point in report.curve], steps=True)]
    legend = ""
    if report.benchmark is not None:
        points = [(point.at, float(point.equity)) for point in report.benchmark.points]
        lines.insert(0, Line(report.benchmark.name, "benchmark", points))
        name = _text(report.benchmark.name)
        legend = f'<p class="legend"><span>Account</span><span class="benchmark">{name}, bought and held</span></p>'
    chart = line_chart(lines, lambda value: f"{value:,.0f}", "The equity over time")
    return f'<section class="card"><h2>Equity</h2>{legend}{_wide(chart)}</section>\n'


def _drawdown(report: Report) -> str:
    points = [(at, float(percent)) for at, percent in underwater(report.curve)]
    if not any(value for _, value in points):
        return ""
    if report.benchmark is not None:  # both charts have the same days
        points.append((max(points[-1][0], report.benchmark.points[-1].at), points[-1][1]))
    line = Line("Below the peak", "under", points, steps=True)
    chart = line_chart(
        [line], lambda value: f"{value:g} %".replace("-", "−"), "The drawdown over time", height=180, area=True
    )
    return f'<section class="card"><h2>Drawdown</h2>{_wide(chart)}</section>\n'


def _groups(report: Report) -> str:
    groups, name = report.groups, _NAMES[report.by]
    shown = groups if len(groups) <= MOST_BARS else (*groups[: MOST_BARS // 2], *groups[-MOST_BARS // 2 :])
    bars = [(words.plain(group.name), float(group.profit), words.money(group.profit, sign=True)) for group in shown]
    left_out = len(groups) - len(shown)
    note = f'<p class="note">The best and the worst; {left_out} between them are in the table.</p>' if left_out else ""
    columns = [
        _Column(name, right=False),
        _Column("Trades"),
        _Column("Won"),
        _Column("Profit"),
        _Column("Return"),
        _Column("Expectancy"),
        _Column("Factor", explained="won for each unit of money lost"),
        _Column("Drawdown"),
        _Column("Sharpe"),
        _Column("In trade"),
        _Column("Slippage"),
        _Column("Delay"),
    ]
    table, heading = _table(columns, [_group_row(group) for group in groups]), f"Profit by {report.by}"
    return (
        f'<section class="card"><h2>{heading}</h2>{_wide(bar_chart(bars, heading))}{note}</section>\n'
        f'<section class="card"><h2>Figures by {report.by}</h2>{table}</section>\n'
    )


def _group_row(group: Figures) -> list[_Cell]:
    return [
        _Cell(group.name, "long-text"),
        _Cell(f"{group.trades:,}"),
        _Cell(words.share(group.win_rate)),
        _Cell(words.money(group.profit, sign=True), _tone(group.profit)),
        _Cell(words.percent(group.return_percent, sign=True)),
        _Cell(words.percent(group.expectancy_percent, sign=True, places=2)),
        _Cell(words.number(group.profit_factor)),
        _Cell(words.percent(group.maximum_drawdown_percent)),
        _Cell(words.number(group.sharpe)),
        _Cell(words.duration(group.time_in_trade)),
        _Cell(words.percent(group.slippage_percent, sign=True, places=2)),
        _Cell(words.duration(group.delay_seconds)),
    ]


def _positions(report: Report) -> str:
    if not report.matched.positions:
        return ""
    names = ("Announcer", "Instrument", "Side")
    columns = [
        *(_Column(name, right=False) for name in names),
        *map(_Column, ("Size", "Entry", "Price", "Worth", "Unrealised", "Since")),
    ]
    rows = []
    for position in report.matched.positions:
        mark = report.marks.get(position.instrument)
        gain = None if mark is None else position.unrealised(mark)
        rows.append(
            [
                _Cell(position.announcer, "long-text"),
                _Cell(str(position.instrument)),
                _Cell(position.side),
                _Cell(words.quantity(position.quantity)),
                _Cell(words.price(position.average_price)),
                _Cell(words.price(mark)),
                _Cell(words.money(None if mark is None else position.worth(mark))),
                _Cell(words.money(gain, sign=True), _tone(gain)),
                _Cell(f"{position.opened_at:%Y-%m-%d %H:%M}"),
            ]
        )
    return f'<section class="card"><h2>Open positions</h2>{_table(columns, rows)}</section>\n'


def _trades(report: Report) -> str:
    trips = report.matched.trips
    if not trips:
        return ""
    names = ("Closed", "Announcer", "Instrument", "Side")
    columns = [
        *(_Column(name, right=False) for name in names),
        *map(_Column, ("Size", "Entry", "Exit", "Fees", "Profit", "Return", "In trade")),
    ]
    rows = [
        [
            _Cell(f"{trip.closed_at:%Y-%m-%d %H:%M}"),
            _Cell(trip.announcer, "long-text"),
            _Cell(str(trip.instrument)),
            _Cell(trip.side),
            _Cell(words.quantity(trip.quantity)),
            _Cell(words.price(trip.entry_price)),
            _Cell(words.price(trip.exit_price)),
            _Cell(words.money(trip.fees)),
            _Cell(words.money(trip.profit, sign=True), _tone(trip.profit)),
            _Cell(words.percent(trip.return_percent, sign=True)),
            _Cell(words.duration(trip.duration)),
        ]
        for trip in reversed(trips[-MOST_TRADES:])
    ]
    left_out = len(trips) - len(rows)
    note = (
        f'<p class="note">The latest {len(rows):,}; {left_out:,} earlier trades are not listed.</p>' if left_out else ""
    )
    return f'<section class="card"><h2>Trades</h2>{_table(columns, rows)}{note}</section>\n'


def _table(columns: Sequence[_Column], rows: Sequence[Sequence[_Cell]]) -> str:
    head = "".join(
        f'<th scope="col"{_class("right" if column.right else "")}'
        + (f' title="{escape(column.explained)}"' if column.explained else "")
        + f">{escape(column.name)}</th>"
        for column in columns
    )
    lines = (
        "".join(
            f"<td{_class('right ' * column.right + cell.style)}"
            + (f' title="{_text(cell.text)}"' if cell.style == "long-text" else "")
            + f">{_text(cell.text)}</td>"
            for column, cell in zip(columns, row, strict=True)
        )
        for row in rows
    )
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _wide(chart: str) -> str:
    """Return a chart that keeps a width at which it can be read, and is moved sideways where there is less."""
    return f'<div class="scroll">{chart}</div>'


def _class(names: str) -> str:
    return f' class="{names.strip()}"' if names.strip() else ""


def _footer() -> str:
    return (
        "<footer>A trade lasts from its first unit to its last; what is left is what was entered first. The equity is "
        "the capital and what was realised. The Sharpe ratio is that of daily returns over 252 days a year, without a "
        "risk-free rate. Slippage is the difference to the announced price; above zero it was worse. Past results do "
        "not tell future ones.</footer>"
    )
