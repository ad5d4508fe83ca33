"""A signal as JSON, as ``taat signals --json`` prints it."""

from decimal import Decimal
from typing import Any

from taat.models import Price, Signal


def _number(value: Decimal | None) -> int | float | None:
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else float(value)


def _price(price: Price | None) -> int | float | None:
    return _number(price.middle) if price is not None else None


def signal_json(signal: Signal, text: str) -> dict[str, Any]:
    """Return a signal as JSON values; ``text`` is the post's, from which the span is quoted."""
    price, instrument = signal.price, signal.instrument
    return {
        "symbol": instrument.symbol,
        "action": signal.action,
        "side": signal.side,
        "price": _price(price),
        "price_range": [_number(price.low), _number(price.high)] if price and price.low != price.high else None,
        "entry_price": _price(signal.entry_price),
        "exit_price": _price(signal.exit_price),
        "quantity": _number(signal.quantity.value) if signal.quantity else None,
        "quantity_unit": signal.quantity.unit if signal.quantity else None,
        "stop": _number(signal.stop.value) if signal.stop else None,
        "stop_unit": signal.stop.unit if signal.stop else None,
        "targets": [_number(target.value) for target in signal.targets],
        "target_units": [target.unit for target in signal.targets],
        "time_frame": signal.time_frame,
        "asset": instrument.asset.value,
        "expiry": instrument.expiry.isoformat() if instrument.expiry else None,
        "strike": _number(instrument.strike),
        "right": instrument.right,
        "confidence": signal.confidence,
        "span": text[signal.span.start : signal.span.end],
    }
