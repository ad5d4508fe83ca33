"""The functions that the steps of the procedures call. They do what can be done twice without a second effect."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from taat.brokers import Broker
from taat.memory import PlannedOrder
from taat.models import OrderReport


class OrderTools:
    """Cancelling and placing orders with one broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    async def place_orders(self, cancels: list[str], orders: list[dict[str, Any]], at: str) -> dict[str, Any]:
        """Cancel orders, then place others in their sequence. An order that the broker has is not placed again."""
        moment = datetime.fromisoformat(at)
        cancelled = [await self._cancel(client_id, moment) for client_id in cancels]
        reports: list[OrderReport] = []
        skipped: list[str] = []
        for fields in orders:
            planned = PlannedOrder.model_validate(fields)
            report = await self._place(planned, moment)
            if report is None:
                skipped.append(planned.order.client_id)
            else:
                reports.append(report)
        return {
            "cancelled": [_dump(report) for report in cancelled if report is not None],
            "placed": [_dump(report) for report in reports],
            "skipped": skipped,
        }

    async def _cancel(self, client_id: str, at: datetime) -> OrderReport | None:
        known = await self._broker.order(client_id)
        if known is None or known.final:
            return known
        return await self._broker.cancel(client_id, at)

    async def _place(self, planned: PlannedOrder, at: datetime) -> OrderReport | None:
        order = planned.order
        known = await self._broker.order(order.client_id)
        if known is not None:
            return known
        if planned.held is not None:
            quantity = min(order.quantity, await self._held(planned))
            if quantity <= 0:
                return None
            order = order.model_copy(update={"quantity": quantity})
        return await self._broker.place(order, at)

    async def _held(self, planned: PlannedOrder) -> Decimal:
        """Return what is held of the trade now, by what the broker says of its other orders."""
        held = planned.held or Decimal(0)
        for client_id in planned.added_by:
            held += await self._filled(client_id)
        for client_id, known in planned.reduced_by.items():
            held -= await self._filled(client_id) - known
        return held

    async def _filled(self, client_id: str) -> Decimal:
        report = await self._broker.order(client_id)
        return report.filled if report else Decimal(0)


def _dump(report: OrderReport) -> dict[str, Any]:
    return report.model_dump(mode="json", exclude_defaults=True)


def read_reports(dumped: Sequence[dict[str, Any]]) -> list[OrderReport]:
    """Return the reports of a step's result."""
    return [OrderReport.model_validate(fields) for fields in dumped]


Tool = Callable[..., Awaitable[Any]]
