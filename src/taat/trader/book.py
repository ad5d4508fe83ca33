"""What is open: trades, and how executions change them. No I/O."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import groupby

from taat.memory import Execution, Trade, WorkingOrder
from taat.models import Fill, Instrument, Order, OrderReport, Side


@dataclass
class Book:
    """The open trades, by id. Those that changed since they were stored are in ``changed``."""

    trades: dict[str, Trade] = field(default_factory=dict)
    changed: dict[str, Trade] = field(default_factory=dict)
    """Those to store, also the ones that were closed meanwhile."""
    closed: list[Trade] = field(default_factory=list)
    """Those that were closed and not yet learnt from."""

    def of(self, announcer: str) -> list[Trade]:
        """Return the open trades of an announcer."""
        return [trade for trade in self.trades.values() if trade.announcer == announcer]

    def opposed(self, instrument: Instrument, side: Side) -> str | None:
        """Return on whose word the other side of an instrument is held or ordered."""
        for trade in self.trades.values():
            if trade.instrument == instrument and trade.side != side:
                return trade.announcer
        return None

    def put(self, trade: Trade) -> None:
        """Keep a trade as it is now."""
        self.changed[trade.id] = trade
        if trade.closed:
            self.trades.pop(trade.id, None)
            self.closed.append(trade)
        else:
            self.trades[trade.id] = trade

    def owner(self, client_id: str) -> tuple[Trade, WorkingOrder] | None:
        """Return the trade that an order belongs to."""
        for trade in self.trades.values():
            for order in trade.working:
                if order.client_id == client_id:
                    return trade, order
        return None

    # -- executions ------------------------------------------------------------------------------------------------

    def take(self, fills: Sequence[Fill]) -> list[Execution]:
        """Take executions, in their order, into the trades that they belong to."""
        executions: list[Execution] = []
        for client_id, group in groupby(fills, key=lambda fill: fill.client_id):
            of_order = list(group)
            owner = self.owner(client_id)
            if owner is None:
                executions += self._foreign(of_order)
                continue
            trade, order = owner
            executions.append(self._taken(trade, order, of_order))
        return executions

    def _taken(self, trade: Trade, order: WorkingOrder, fills: Sequence[Fill]) -> Execution:
        for fill in fills:
            trade = with_fill(trade, order.client_id, fill)
        last = fills[-1].filled_at
        self.put(ended(trade, last))
        complete = not any(each.client_id == order.client_id for each in trade.working)
        return Execution(
            id=fills[0].id,
            signal=order.signal,
            trade=trade.id,
            announcer=trade.announcer,
            instrument=trade.instrument,
            strategy=trade.strategy,
            purpose=order.purpose,
            order=Order(
                client_id=order.client_id,
                instrument=trade.instrument,
                side=fills[0].side,
                quantity=order.quantity,
                kind=order.kind,
            ),
            status="filled" if complete else "partly_filled",
            fills=tuple(fills),
            announced_price=order.announced_price,
            announced_at=order.announced_at,
            at=last,
        )

    def _foreign(self, fills: Sequence[Fill]) -> list[Execution]:
        """Take executions of orders that are not ours, such as an option that expired: they leave what is held."""
        executions = []
        for fill in fills:
            rest = fill.quantity
            side = "long" if fill.side == "sell" else "short"
            held = [trade for trade in self.trades.values() if trade.instrument == fill.instrument]
            for trade in sorted(held, key=lambda trade: (trade.decided_at, trade.id)):
                part = min(rest, trade.quantity)
                if trade.side != side or part <= 0:
                    continue
                order = WorkingOrder(
                    client_id=fill.client_id,
                    purpose="exit",
                    signal=trade.id,
                    quantity=part,
                    announced_at=fill.filled_at,
                )
                own = fill.model_copy(
                    update={
                        "id": f"{fill.id}/{trade.id}",
                        "quantity": part,
                        "fee": (fill.fee * part / fill.quantity).quantize(Decimal("0.01")),
                    }
                )
                leaving = trade.model_copy(update={"working": (*trade.working, order)})
                executions.append(self._taken(leaving, order, [own]))
                rest -= part
        return executions

    # -- what became of orders -------------------------------------------------------------------------------------

    def placed(self, trade_id: str, reports: Iterable[OrderReport], skipped: Iterable[str]) -> None:
        """Take over how large orders were when they were placed; those that were not placed are forgotten."""
        trade = self.trades.get(trade_id)
        if trade is None:
            return
        sizes = {report.order.client_id: report.order.quantity for report in reports}
        left_out = set(skipped)
        working = tuple(
            order.model_copy(update={"quantity": sizes.get(order.client_id, order.quantity)})
            for order in trade.working
            if order.client_id not in left_out
        )
        if working != trade.working:
            self.put(ended(trade.model_copy(update={"working": working}), trade.decided_at))

    def over(self, report: OrderReport, at: datetime) -> Trade | None:
        """Take over that an order is over; return the trade when that changed it.

        What was executed of it must have been taken before.
        """
        owner = self.owner(report.order.client_id)
        if owner is None or not report.final:
            return None
        trade, order = owner
        if order.filled < report.filled:
            return None
        changes: dict[str, object] = {
            "working": tuple(each for each in trade.working if each.client_id != order.client_id)
        }
        if order.purpose == "stop" and report.status == "rejected":
            changes["stop_refused_at"] = at
        trade = ended(trade.model_copy(update=changes), at)
        self.put(trade)
        return trade


def with_fill(trade: Trade, client_id: str, fill: Fill) -> Trade:
    """Return a trade after an execution of one of its orders."""
    order = next(order for order in trade.working if order.client_id == client_id)
    filled = order.model_copy(update={"filled": order.filled + fill.quantity})
    kept = () if filled.filled >= filled.quantity else (filled,)
    working = tuple(each for other in trade.working for each in (kept if other is order else (other,)))
    value = fill.quantity * fill.price
    changes: dict[str, object] = {"working": working, "fees": trade.fees + fill.fee}
    if order.purpose == "entry":
        changes |= {"entered": trade.entered + fill.quantity, "entry_value": trade.entry_value + value}
        if trade.opened_at is None:
            delay = (fill.filled_at - order.announced_at).total_seconds()
            changes |= {"opened_at": fill.filled_at, "delay_seconds": delay}
    else:
        changes |= {"left": trade.left + fill.quantity, "exit_value": trade.exit_value + value}
    return trade.model_copy(update=changes)


def ended(trade: Trade, at: datetime) -> Trade:
    """Return a trade, closed if nothing of it is open and nothing more can be entered."""
    if trade.closed or trade.quantity > 0 or trade.orders("entry"):
        return trade
    return trade.model_copy(update={"closed_at": max(at, trade.opened_at or trade.decided_at, trade.decided_at)})
