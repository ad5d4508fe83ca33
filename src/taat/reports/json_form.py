"""Figures, trades and positions as JSON values: numbers are numbers, and what nothing says is null."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from taat.performance import OpenPosition, RoundTrip
from taat.reports.report import Report


def json_value(value: Any) -> Any:
    """Return a value as JSON can say it; a time span is told in seconds."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, BaseModel):
        return {name: json_value(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, tuple | list):
        return [json_value(item) for item in value]
    return value


def report_json(report: Report) -> dict[str, Any]:
    """Return a report as JSON values."""
    benchmark = report.benchmark
    return {
        "at": json_value(report.at),
        "capital": json_value(report.capital),
        "by": report.by,
        "total": json_value(report.total),
        "groups": json_value(report.groups),
        "benchmark": None
        if benchmark is None
        else {
            "name": benchmark.name,
            "return_percent": json_value(benchmark.return_percent),
            "maximum_drawdown_percent": json_value(benchmark.drawdown.percent),
        },
        "trades": [trip_json(trip) for trip in report.matched.trips],
        "positions": [
            position_json(position, report.marks.get(position.instrument)) for position in report.matched.positions
        ],
    }


def trip_json(trip: RoundTrip) -> dict[str, Any]:
    """Return a closed trade as JSON values."""
    names = ("opened_at", "closed_at", "quantity", "entry_price", "exit_price", "fees", "profit", "return_percent")
    return {**_traded(trip), **{name: json_value(getattr(trip, name)) for name in names}}


def position_json(position: OpenPosition, mark: Decimal | None) -> dict[str, Any]:
    """Return an open position as JSON values, with what it earns at the present price."""
    names = ("opened_at", "quantity", "average_price", "cost", "realised")
    return {
        **_traded(position),
        **{name: json_value(getattr(position, name)) for name in names},
        "price": json_value(mark),
        "unrealised": None if mark is None else json_value(position.unrealised(mark)),
    }


def _traded(traded: RoundTrip | OpenPosition) -> dict[str, Any]:
    instrument = traded.instrument
    return {
        "announcer": traded.announcer,
        "instrument": str(instrument),
        "symbol": instrument.symbol,
        "asset": instrument.asset.value,
        "side": traded.side,
        "strategy": traded.strategy,
    }
