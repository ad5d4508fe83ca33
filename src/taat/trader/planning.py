"""From a signal that is followed to orders: what is cancelled, placed and protected by a stop. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from taat.memory import PlannedOrder, Purpose, SignalRecord, Trade, WorkingOrder, client_id
from taat.models import AssetClass, Instrument, Level, Order, OrderSide, Side

_FINE = {AssetClass.CRYPTO: Decimal("0.00000001"), AssetClass.FOREX: Decimal("0.00001")}
_CENT = Decimal("0.01")
_STOP_AGAIN = timedelta(minutes=15)
"""How long after a broker refused a stop it is asked again."""
_HUNDRED = Decimal(100)


@dataclass(frozen=True)
class Plan:
    """The trade as it will be, and what the broker is asked for."""

    trade: Trade
    cancels: tuple[str, ...] = ()
    orders: tuple[PlannedOrder, ...] = ()


def find_trade(trades: Sequence[Trade], instrument: Instrument, side: Side | None) -> Trade | None:
    """Return the latest trade that an instrument and a side mean; an option may be named incompletely."""
    exact = [trade for trade in trades if trade.instrument == instrument]
    fitting = [trade for trade in exact or _like(trades, instrument) if side is None or trade.side == side]
    return max(fitting, key=lambda trade: (trade.decided_at, trade.id), default=None)


def _like(trades: Sequence[Trade], instrument: Instrument) -> list[Trade]:
    return [trade for trade in trades if _may_mean(instrument, trade.instrument)]


def _may_mean(named: Instrument, held: Instrument) -> bool:
    if named.symbol != held.symbol or (named.asset is AssetClass.OPTION) != (held.asset is AssetClass.OPTION):
        return False
    pairs = ((named.expiry, held.expiry), (named.strike, held.strike), (named.right, held.right))
    return all(said is None or said == known for said, known in pairs)


def stop_price(level: Level | None, entry: Decimal | None, side: Side, instrument: Instrument) -> Decimal | None:
    """Return the price of a stop; ``None`` when there is none, or nothing to measure it from."""
    if level is None:
        return None
    price: Decimal | None = level.value if level.unit == "price" else None
    if price is None and entry is not None:
        distance = level.value if level.unit == "points" else entry * level.value / _HUNDRED
        price = entry - distance if side == "long" else entry + distance
    if price is None or price <= 0:
        return None
    return price.quantize(_FINE.get(instrument.asset, _CENT), ROUND_HALF_UP)


def plan_entry(record: SignalRecord, held: Trade | None, size: Decimal, price: Decimal | None, at: datetime) -> Plan:
    """Plan to open a position, or to add to one."""
    signal = record.signal
    trade = held or Trade(
        id=record.id,
        announcer=record.announcer,
        instrument=signal.instrument,
        side=signal.side or "long",
        strategy=record.strategy,
        decided_at=at,
    )
    limit = signal.price.middle if signal.action == "limit" and signal.price else None
    entry = Order(
        client_id=client_id(record.id, "entry"),
        instrument=trade.instrument,
        side=_entering(trade.side),
        quantity=size,
        kind="market" if limit is None else "limit",
        limit_price=limit,
        good_till="day" if limit is None else "cancelled",
    )
    stop = stop_price(signal.stop, record.announced_price or price, trade.side, trade.instrument) or trade.stop
    trade = trade.model_copy(update={"stop": stop})
    orders = [PlannedOrder(order=entry, purpose="entry")]
    if stop is None:
        return _planned(record, trade, (), orders)
    stops = {order.client_id: order.filled for order in trade.orders("stop")}
    orders.append(_stop(record, trade, trade.quantity + size, added_by=(entry.client_id,), reduced_by=stops))
    return _planned(record, trade, tuple(stops), orders)


def plan_exit(record: SignalRecord, trade: Trade, size: Decimal) -> Plan:
    """Plan to leave a position, or a part of it. Its stop is cancelled first, and placed again for what stays."""
    leaves_all = size >= trade.quantity
    ending = trade.orders("stop", "entry") if leaves_all else trade.orders("stop")
    cancelled = {order.client_id: order.filled for order in ending}
    stops = {order.client_id: order.filled for order in trade.orders("stop")}
    leaving = Order(
        client_id=client_id(record.id, "exit"),
        instrument=trade.instrument,
        side=_leaving(trade.side),
        quantity=min(size, trade.quantity),
    )
    orders = [PlannedOrder(order=leaving, purpose="exit", held=trade.quantity, reduced_by=stops)]
    rest = trade.quantity - size
    if rest > 0 and trade.stop is not None:
        orders.append(_stop(record, trade, rest, reduced_by={**stops, leaving.client_id: Decimal(0)}))
    return _planned(record, trade, tuple(cancelled), orders)


def plan_cancel(record: SignalRecord, trade: Trade) -> Plan:
    """Plan to give up a position that is not entered yet."""
    return _planned(record, trade, tuple(order.client_id for order in trade.working), [])


def plan_stop(record: SignalRecord, trade: Trade, price: Decimal) -> Plan:
    """Plan to move the stop of a position."""
    moved = trade.model_copy(update={"stop": price})
    stops = {order.client_id: order.filled for order in trade.orders("stop")}
    if trade.quantity <= 0:
        return _planned(record, moved, tuple(stops), [])
    return _planned(record, moved, tuple(stops), [_stop(record, moved, trade.quantity, reduced_by=stops)])


def plan_protection(trade: Trade, at: datetime) -> Plan | None:
    """Plan the stop that a trade should have and has not; ``None`` when all is as it should be."""
    stops = trade.orders("stop")
    resting = sum((order.quantity - order.filled for order in stops), Decimal(0))
    wanted = trade.quantity if trade.stop is not None and not trade.closed else Decimal(0)
    if resting == wanted or (wanted > 0 and trade.orders("exit")):
        return None
    if trade.stop_refused_at is not None and at - trade.stop_refused_at < _STOP_AGAIN:
        return None
    number = trade.stops_placed + 1
    trade = trade.model_copy(update={"stops_placed": number})
    cancels = tuple(order.client_id for order in stops)
    if wanted <= 0 or trade.stop is None:
        return Plan(trade, cancels)
    order = Order(
        client_id=client_id(trade.id, f"stop-{number}"),
        instrument=trade.instrument,
        side=_leaving(trade.side),
        quantity=wanted,
        kind="stop",
        stop_price=trade.stop,
        good_till="cancelled",
    )
    known = {order.client_id: order.filled for order in stops}
    planned = PlannedOrder(order=order, purpose="stop", held=trade.quantity, reduced_by=known)
    working = WorkingOrder(
        client_id=order.client_id,
        purpose="stop",
        signal=trade.id,
        quantity=wanted,
        kind=order.kind,
        announced_at=at,
    )
    return Plan(trade.model_copy(update={"working": (*trade.working, working)}), cancels, (planned,))


def _stop(
    record: SignalRecord,
    trade: Trade,
    quantity: Decimal,
    *,
    added_by: tuple[str, ...] = (),
    reduced_by: dict[str, Decimal],
) -> PlannedOrder:
    order = Order(
        client_id=client_id(record.id, "stop"),
        instrument=trade.instrument,
        side=_leaving(trade.side),
        quantity=quantity,
        kind="stop",
        stop_price=trade.stop,
        good_till="cancelled",
    )
    return PlannedOrder(order=order, purpose="stop", held=trade.quantity, added_by=added_by, reduced_by=reduced_by)


def _planned(record: SignalRecord, trade: Trade, cancels: tuple[str, ...], orders: Sequence[PlannedOrder]) -> Plan:
    """Return the plan, with its orders among those of the trade, so that their executions are known as its own."""
    working = [_working(record, planned.order, planned.purpose) for planned in orders]
    signals = trade.signals if record.id in trade.signals else (*trade.signals, record.id)
    trade = trade.model_copy(update={"working": (*trade.working, *working), "signals": signals})
    return Plan(trade, cancels, tuple(orders))


def _working(record: SignalRecord, order: Order, purpose: Purpose) -> WorkingOrder:
    return WorkingOrder(
        client_id=order.client_id,
        purpose=purpose,
        signal=record.id,
        quantity=order.quantity,
        kind=order.kind,
        announced_price=record.announced_price if purpose != "stop" else None,
        announced_at=record.post.created_at,
    )


def _entering(side: Side) -> OrderSide:
    return "buy" if side == "long" else "sell"


def _leaving(side: Side) -> OrderSide:
    return "sell" if side == "long" else "buy"
