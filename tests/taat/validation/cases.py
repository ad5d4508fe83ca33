"""A signal and a situation in which everything is fine, to be changed one thing at a time."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from taat.models import Account, AssetClass, Instrument, Position, Price, Quote, Signal, Span
from taat.validation import Rules, Situation

AT = datetime(2026, 3, 2, 15, 10, tzinfo=UTC)
NVDA = Instrument(symbol="NVDA")
CALL = Instrument(symbol="AAPL", asset=AssetClass.OPTION, expiry=AT.date(), strike=Decimal(265), right="call")
BTC = Instrument(symbol="BTC", asset=AssetClass.CRYPTO)
SPX = Instrument(symbol="SPX", asset=AssetClass.INDEX)


def price(low: object, high: object = None) -> Price:
    return Price(low=Decimal(str(low)), high=Decimal(str(high if high is not None else low)))


def signal(**changes: Any) -> Signal:
    values: dict[str, Any] = {
        "instrument": NVDA,
        "action": "open",
        "side": "long",
        "price": price(100),
        "confidence": 0.9,
        "span": Span(start=0, end=1),
    }
    return Signal(**{**values, **changes})


def quote(instrument: Instrument = NVDA, bid: object = "99.9", ask: object = "100.1") -> Quote:
    return Quote(instrument=instrument, bid=Decimal(str(bid)), ask=Decimal(str(ask)), at=AT)


def account(equity: object = 100_000, cash: object = None, start: object = None) -> Account:
    worth = Decimal(str(equity))
    return Account(
        equity=worth,
        cash=Decimal(str(cash)) if cash is not None else worth,
        day_start_equity=Decimal(str(start)) if start is not None else worth,
    )


def holding(quantity: object, instrument: Instrument = NVDA, average: object = 100) -> Position:
    return Position(instrument=instrument, quantity=Decimal(str(quantity)), average_price=Decimal(str(average)))


def situation(rules: dict[str, Any] | None = None, **changes: Any) -> Situation:
    values: dict[str, Any] = {
        "at": AT,
        "posted_at": AT - timedelta(seconds=20),
        "announcer": "pat",
        "account": account(),
        "quote": quote(),
        "rules": Rules(**(rules or {})),
    }
    return Situation(**{**values, **changes})
