"""Prices of a file: JSON lines, or CSV with the same columns.

    {"symbol": "AAPL", "at": "2026-03-02T14:33:00Z", "price": "264.10"}
    {"symbol": "AAPL", "at": "2026-03-02T14:34:00Z", "bid": "264.05", "ask": "264.12"}
    {"symbol": "AAPL", "expiry": "2026-03-20", "strike": "265", "right": "call", "at": "...", "price": "3.10"}

A line has ``price``, or ``bid`` and ``ask``. ``asset`` may say what it is (``stock``, ``index``, ``crypto`` and so on);
a line that does not say counts for every class but options. An option may also be named by its OCC symbol. A moment
without a zone is UTC. Other columns are ignored.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from itertools import chain
from pathlib import Path
from typing import IO, Any

from longmind import InvalidInput, NotFound
from taat.market.series import PricePoint
from taat.market.symbols import instrument_key, option_of
from taat.models import AssetClass, Instrument

_FORM = "A line has symbol, at, and price or bid and ask; for options also expiry, strike and right."


def price_key(instrument: Instrument) -> str:
    """Return what the prices of an instrument are kept under."""
    return instrument_key(instrument)


def any_class_key(symbol: str) -> str:
    """Return what the prices of a symbol are kept under when its class is not said."""
    return f"any:{symbol}"


def read_prices(path: Path) -> Iterator[tuple[str, PricePoint]]:
    """Yield the prices of a file with the key of their instrument; what cannot be read raises with its line."""
    if not path.exists():
        raise NotFound(f"There is no file {path}.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            for number, fields in _rows(stream, path):
                yield _price(fields, number, path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text.") from error


def _problem(path: Path, number: int, what: str) -> InvalidInput:
    return InvalidInput(f"Line {number} of {path} {what}.", hint=_FORM, line=number)


def _rows(stream: IO[str], path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    lines = ((number, line) for number, line in enumerate(stream, start=1) if line.strip())
    first, head = next(lines, (0, ""))
    if not head.lstrip().startswith("{"):
        yield from _csv_rows(head, first, stream, path)
        return
    for number, line in chain([(first, head)], lines):
        try:
            # a number is kept as it is written: a float would not be exact
            fields = json.loads(line, parse_float=str, parse_int=str)
        except (ValueError, RecursionError) as error:
            raise _problem(path, number, "is not JSON") from error
        if not isinstance(fields, dict):
            raise _problem(path, number, "is not a JSON object")
        yield number, fields


def _csv_rows(head: str, number: int, stream: IO[str], path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if not head:
        return
    rows = csv.reader(chain([head], stream), strict=True)
    first = number
    try:
        columns = [name.strip().lower() for name in next(rows)]
        if "symbol" not in columns or "at" not in columns:
            raise _problem(path, number, "is neither a JSON object nor the head of a CSV file")
        for row in rows:
            number = first + rows.line_num - 1
            if row and len(row) != len(columns):
                raise _problem(path, number, f"has {len(row)} columns instead of {len(columns)}")
            if row:
                yield number, dict(zip(columns, row, strict=True))
    except csv.Error as error:
        raise _problem(path, first + rows.line_num - 1, f"is not CSV ({error})") from error


def _price(fields: Mapping[str, Any], number: int, path: Path) -> tuple[str, PricePoint]:
    texts = {name: str(value).strip() for name, value in fields.items() if value is not None and str(value).strip()}
    if missing := [name for name in ("symbol", "at") if name not in texts]:
        raise _problem(path, number, f"has no {' and no '.join(missing)}")
    try:
        at = datetime.fromisoformat(texts["at"])
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise _problem(path, number, "has a wrong at") from error
    if "bid" in texts and "ask" in texts:
        bid, ask = (_amount(texts, name, number, path) for name in ("bid", "ask"))
    elif "price" in texts:
        bid = ask = _amount(texts, "price", number, path)
    else:
        raise _problem(path, number, "has neither price nor bid and ask")
    return _key(texts, number, path), PricePoint(at=at, bid=bid, ask=ask)


def _amount(texts: Mapping[str, str], name: str, number: int, path: Path) -> Decimal:
    try:
        amount = Decimal(texts[name])
    except InvalidOperation as error:
        raise _problem(path, number, f"has a wrong {name}") from error
    if not amount.is_finite():
        raise _problem(path, number, f"has a wrong {name}")
    return amount


def _key(texts: Mapping[str, str], number: int, path: Path) -> str:
    symbol = texts["symbol"].removeprefix("$").upper()
    if option := option_of(symbol):
        return price_key(option)
    if {"expiry", "strike", "right"} & texts.keys():
        return price_key(_option(symbol, texts, number, path))
    if "asset" not in texts:
        return any_class_key(symbol)
    try:
        return price_key(Instrument(symbol=symbol, asset=AssetClass(texts["asset"].lower())))
    except ValueError as error:
        raise _problem(path, number, f"has a wrong asset: one of {', '.join(AssetClass)}") from error


def _option(symbol: str, texts: Mapping[str, str], number: int, path: Path) -> Instrument:
    if not {"strike", "right"} <= texts.keys():
        raise _problem(path, number, "has only a part of expiry, strike and right")
    right = {"c": "call", "call": "call", "p": "put", "put": "put"}.get(texts["right"].lower())
    if right is None:
        raise _problem(path, number, "has a wrong right: call or put")
    try:
        # announcers often leave out the expiry
        expiry = date.fromisoformat(texts["expiry"]) if "expiry" in texts else None
    except ValueError as error:
        raise _problem(path, number, "has a wrong expiry") from error
    return Instrument(
        symbol=symbol,
        asset=AssetClass.OPTION,
        expiry=expiry,
        strike=_amount(texts, "strike", number, path),
        right="call" if right == "call" else "put",
    )
