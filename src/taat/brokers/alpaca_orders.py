"""Orders as Alpaca writes them, and back. Amounts are texts: no float touches them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from taat.market.alpaca_api import amount, moment
from taat.market.symbols import coin_of, occ_symbol, option_of, pair
from taat.models import AssetClass, Fill, Instrument, Order, OrderReport, OrderStatus, Position

TRADED = frozenset({AssetClass.STOCK, AssetClass.OPTION, AssetClass.CRYPTO})
CRYPTO_STOP_ROOM = Decimal("0.05")
"""Alpaca has no plain stop for coins; its stop with a limit gets one so much worse than the stop."""

_STATUS: dict[str, OrderStatus] = {
    "filled": "filled",
    "partially_filled": "partly_filled",
    "canceled": "cancelled",
    "replaced": "cancelled",
    "rejected": "rejected",
    "expired": "expired",
}
"""All other states of Alpaca mean that the order can still be executed."""


def symbol_of(instrument: Instrument) -> str:
    """Return the symbol of an instrument at Alpaca."""
    if instrument.asset is AssetClass.OPTION:
        return occ_symbol(instrument)
    return pair(instrument) if instrument.asset is AssetClass.CRYPTO else instrument.symbol


def instrument_named(symbol: str, asset_class: str) -> Instrument:
    """Return the instrument of a symbol at Alpaca."""
    if asset_class == "us_option" and (option := option_of(symbol)):
        return option
    return coin_of(symbol) if asset_class == "crypto" else Instrument(symbol=symbol)


def order_fields(order: Order) -> dict[str, str]:
    """Return an order as Alpaca takes it. Options are good for the day and coins until cancelled, as Alpaca has it."""
    asset = order.instrument.asset
    good_till = "day" if order.good_till == "day" else "gtc"
    if asset is AssetClass.OPTION:
        good_till = "day"
    elif asset is AssetClass.CRYPTO:
        good_till = "gtc"
    fields = {
        "symbol": symbol_of(order.instrument),
        "qty": f"{order.quantity:f}",
        "side": order.side,
        "type": order.kind,
        "time_in_force": good_till,
        "client_order_id": order.client_id,
    }
    if order.kind == "limit" and order.limit_price is not None:
        fields["limit_price"] = _price(order, order.limit_price)
    if order.kind == "stop" and order.stop_price is not None:
        fields["stop_price"] = _price(order, order.stop_price)
        if asset is AssetClass.CRYPTO:
            worse = 1 + CRYPTO_STOP_ROOM if order.side == "buy" else 1 - CRYPTO_STOP_ROOM
            fields |= {"type": "stop_limit", "limit_price": _price(order, order.stop_price * worse)}
    return fields


def _price(order: Order, price: Decimal) -> str:
    """Return a price in the steps that Alpaca takes, never worse than it was."""
    if order.instrument.asset is AssetClass.CRYPTO:
        step = Decimal("0.000000001")
    elif order.instrument.asset is AssetClass.STOCK and price < 1:
        step = Decimal("0.0001")
    else:
        step = Decimal("0.01")
    if price == price.quantize(step):
        return f"{price:f}"
    return f"{price.quantize(step, ROUND_FLOOR if order.side == 'buy' else ROUND_CEILING):f}"


def order_of(fields: Mapping[str, Any]) -> Order:
    """Return the order that an answer of Alpaca is about."""
    kind = fields.get("type") or fields.get("order_type")
    return Order(
        client_id=fields["client_order_id"],
        instrument=instrument_named(fields["symbol"], fields.get("asset_class") or ""),
        side="buy" if fields["side"] == "buy" else "sell",
        quantity=amount(fields.get("qty") or fields["filled_qty"]),
        kind="limit" if kind == "limit" else "stop" if kind in ("stop", "stop_limit") else "market",
        limit_price=amount(fields["limit_price"]) if kind == "limit" else None,
        stop_price=amount(fields["stop_price"]) if kind in ("stop", "stop_limit") else None,
        good_till="day" if fields["time_in_force"] == "day" else "cancelled",
    )


def report_of(fields: Mapping[str, Any], fills: Sequence[Fill]) -> OrderReport:
    """Return what Alpaca says of an order, with the executions that are known of it.

    Executions are listed a little after the order says that it is filled. Until they all are, the order does not
    count as ended.
    """
    status = _STATUS.get(str(fields["status"]), "accepted")
    listed = sum((fill.quantity for fill in fills), Decimal(0))
    if listed < filled_quantity(fields) or (listed and status == "accepted"):
        status = "partly_filled"
    ended = status in ("cancelled", "rejected", "expired")
    return OrderReport(
        order=order_of(fields),
        status=status,
        submitted_at=submitted(fields),
        fills=tuple(fills),
        reason=f"Alpaca says {fields['status']}" if ended else None,
    )


def filled_quantity(fields: Mapping[str, Any]) -> Decimal:
    """Return how much of an order Alpaca has executed."""
    return amount(fields.get("filled_qty") or "0")


def submitted(fields: Mapping[str, Any]) -> datetime:
    """Return when Alpaca got an order."""
    return moment(fields.get("submitted_at") or fields["created_at"])


def fill_of(activity: Mapping[str, Any], order: Order) -> Fill:
    """Return the execution that an activity of the account is."""
    return Fill(
        id=activity["id"],
        client_id=order.client_id,
        instrument=order.instrument,
        side=order.side,
        quantity=amount(activity["qty"]),
        price=amount(activity["price"]),
        filled_at=moment(activity["transaction_time"]),
    )


def position_of(fields: Mapping[str, Any]) -> Position:
    """Return a position; Alpaca writes a short one with a minus, or with its side."""
    quantity = abs(amount(fields["qty"]))
    return Position(
        instrument=instrument_named(fields["symbol"], fields.get("asset_class") or ""),
        quantity=-quantity if fields.get("side") == "short" else quantity,
        average_price=amount(fields["avg_entry_price"]),
    )
