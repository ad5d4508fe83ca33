"""Alpaca: an account at a broker, with paper money unless real money is asked for."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from longmind import NotFound
from taat.brokers.alpaca_orders import (
    TRADED,
    fill_of,
    filled_quantity,
    order_fields,
    order_of,
    position_of,
    report_of,
    submitted,
)
from taat.market.alpaca_api import (
    ATTEMPTS,
    TIMEOUT_SECONDS,
    Caller,
    Failure,
    Keys,
    Sleep,
    amount,
    import_alpaca,
    keys_from_environment,
    prepare,
    refused,
    unavailable,
    unreadable,
)
from taat.models import Account, Fill, Order, OrderReport, Position

ORDERS_PAGE = 500
FILLS_PAGE = 100
FIRST_LOOK_BACK = timedelta(days=7)
"""How far back the first call of ``advance`` looks for changes that were missed."""
_NOT_FOUND = 404
_NOT_ALLOWED = 401
_DUPLICATE = "client_order_id must be unique"
_Fields = Mapping[str, Any]


class AlpacaBroker:
    """An account with Alpaca.

    The client id of an order is Alpaca's ``client_order_id``, which it takes only once. After a call whose answer was
    lost, the order is looked up by that id before it is sent again. Executions are the account's activities, whose
    ids do not change; their fees are 0, because Alpaca books fees for a day and not for an order.
    """

    name = "alpaca"

    def __init__(
        self,
        *,
        live: bool = False,
        keys: Keys | None = None,
        url: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
        attempts: int = ATTEMPTS,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """The keys are those of the environment when none are passed; ``url`` is another server, for tests."""
        self._live = live
        keys = keys or keys_from_environment()
        import_alpaca()
        from alpaca.trading.client import TradingClient

        client = TradingClient(keys.key, keys.secret, paper=not live, raw_data=True, url_override=url)
        self._client = prepare(client, timeout)
        self._caller = Caller(keys, attempts=attempts, sleep=sleep)
        self._orders: dict[str, Order] = {}
        """By Alpaca's id, which is what activities name."""
        self._seen: dict[str, tuple[str, str]] | None = None
        """State and filled quantity of the orders that were open at the last call of ``advance``, by client id."""

    @property
    def live(self) -> bool:
        return self._live

    async def place(self, order: Order, at: datetime) -> OrderReport:
        """Place an order. One that Alpaca does not take is reported as rejected, with what Alpaca says."""
        if order.instrument.asset not in TRADED:
            return _rejected(order, at, f"Alpaca does not trade {order.instrument.asset} instruments")
        fields = order_fields(order)
        if self._seen is not None:
            # so that the next call of ``advance`` tells of it, even if it has ended by then
            self._seen[order.client_id] = ("placed", "")
        failure: Failure | None = None
        for number in range(self._caller.attempts):
            if failure is not None:
                await self._caller.pause(failure, number - 1)
                # after 429 nothing was placed; after a lost answer only Alpaca knows
                if failure.kind == "lost" and (report := await self.order(order.client_id)) is not None:
                    return report
            answer = await self._caller.once(self._client.post, "/orders", fields)
            if not isinstance(answer, Failure):
                return await self._report(answer)
            if answer.kind == "refused":
                return await self._refusal(order, at, answer)
            failure = answer
        if failure is not None and failure.kind == "lost" and (report := await self.order(order.client_id)) is not None:
            return report
        raise unavailable(failure, f" Whether the order {order.client_id} arrived is to be asked again.")

    async def _refusal(self, order: Order, at: datetime, failure: Failure) -> OrderReport:
        if _DUPLICATE in failure.reason:
            report = await self.order(order.client_id)
            if report is not None:
                return report
        if failure.status == _NOT_ALLOWED:
            raise refused(failure)
        return _rejected(order, at, failure.reason)

    async def order(self, client_id: str) -> OrderReport | None:
        """Return what became of an order, or ``None`` when Alpaca never got it."""
        fields = await self._fields(client_id)
        return None if fields is None else await self._report(fields)

    async def cancel(self, client_id: str, at: datetime) -> OrderReport:
        """Cancel what is still open of an order; one that has ended stays as it is."""
        fields = await self._fields(client_id)
        if fields is None:
            raise NotFound(f"There is no order {client_id!r}.")
        # 404 and 422 mean that it ended meanwhile, which the order itself then says
        answer = await self._caller.attempt(self._client.delete, f"/orders/{fields['id']}")
        if isinstance(answer, Failure) and answer.status not in (_NOT_FOUND, 422):
            raise refused(answer)
        report = await self.order(client_id)
        if report is None:
            raise NotFound(f"There is no order {client_id!r}.")
        return report

    async def advance(
        self, at: datetime, *, before_change: Callable[[], Awaitable[None]] | None = None
    ) -> Sequence[OrderReport]:
        """Return the orders that changed since the last call; the first call returns those of the last week.

        The account may change at any time, so ``before_change`` is always awaited.
        """
        if before_change is not None:
            await before_change()
        if self._seen is None:
            current = await self._listed("all", at - FIRST_LOOK_BACK)
            known: dict[str, tuple[str, str]] = {}
        else:
            current, known = await self._listed("open"), self._seen
            listed = {fields["client_order_id"] for fields in current}
            for client_id in known.keys() - listed:
                if (fields := await self._fields(client_id)) is not None:
                    current.append(fields)
        reports = []
        seen: dict[str, tuple[str, str]] = {}
        for fields in current:
            state = (str(fields["status"]), str(fields.get("filled_qty")))
            report = None
            if known.get(fields["client_order_id"]) != state:
                report = await self._report(fields)
                reports.append(report)
                if not report.final and filled_quantity(fields) > report.filled:
                    state = (state[0], "not all listed")  # asked again until the executions are there
            if report is None or not report.final:
                seen[fields["client_order_id"]] = state
        self._seen = seen
        return reports

    async def open_orders(self) -> Sequence[OrderReport]:
        """Return the orders that can still be executed."""
        return [await self._report(fields) for fields in await self._listed("open")]

    async def positions(self) -> Sequence[Position]:
        """Return what the account holds."""
        try:
            return [position_of(fields) for fields in await self._caller.repeat(self._client.get, "/positions")]
        except (KeyError, TypeError, ValueError):
            raise unreadable() from None

    async def fills(self, *, after: str | None = None) -> Sequence[Fill]:
        """Return the executions in their order, those after a fill's id when one is given."""
        return [await self._fill(activity) for activity in await self._activities(page_token=after)]

    async def account(self) -> Account:
        """Return the money of the account."""
        fields = await self._caller.repeat(self._client.get, "/account")
        try:
            return Account(
                cash=amount(fields["cash"]),
                equity=amount(fields["equity"]),
                day_start_equity=amount(fields["last_equity"]),
                buying_power=amount(fields["buying_power"]) if fields.get("buying_power") is not None else None,
            )
        except (KeyError, TypeError, ValueError):
            raise unreadable() from None

    async def close(self) -> None:
        """Close the connections."""
        self._client._session.close()

    # --- answers -----------------------------------------------------------------------------------------------------

    async def _fields(self, client_id: str) -> _Fields | None:
        params = {"client_order_id": client_id}
        answer = await self._caller.attempt(self._client.get, "/orders:by_client_order_id", params)
        if isinstance(answer, Failure):
            if answer.status == _NOT_FOUND:
                return None
            raise refused(answer)
        return _mapping(answer)

    async def _listed(self, status: str, after: datetime | None = None) -> list[_Fields]:
        """Return orders, oldest first, page by page."""
        params = {"status": status, "limit": ORDERS_PAGE, "direction": "asc"}
        found: dict[str, _Fields] = {}
        while True:
            if after is not None:
                params["after"] = after.isoformat()
            page = await self._caller.repeat(self._client.get, "/orders", params)
            try:
                found |= {fields["id"]: fields for fields in page}
                if len(page) < ORDERS_PAGE:
                    return list(found.values())
                after = submitted(page[-1])
            except (KeyError, TypeError, ValueError):
                raise unreadable() from None

    async def _report(self, fields: Any) -> OrderReport:
        fields = _mapping(fields)
        try:
            order = self._orders[fields["id"]] = order_of(fields)
            fills: list[Fill] = []
            if filled_quantity(fields):
                since = submitted(fields) - timedelta(seconds=1)
                activities = await self._activities(after=since.isoformat())
                fills = [fill_of(activity, order) for activity in activities if activity["order_id"] == fields["id"]]
            return report_of(fields, fills)
        except (KeyError, TypeError, ValueError):
            raise unreadable() from None

    async def _activities(self, **options: str | None) -> list[_Fields]:
        """Return the executions of the account, oldest first, page by page."""
        params: dict[str, Any] = {"direction": "asc", "page_size": FILLS_PAGE}
        params |= {name: value for name, value in options.items() if value is not None}
        activities: list[_Fields] = []
        while True:
            page = await self._caller.repeat(self._client.get, "/account/activities/FILL", params)
            activities += page
            if len(page) < FILLS_PAGE:
                return activities
            params["page_token"] = page[-1]["id"]

    async def _fill(self, activity: _Fields) -> Fill:
        try:
            order_id = activity["order_id"]
            if order_id not in self._orders:
                fields = await self._caller.repeat(self._client.get, f"/orders/{order_id}")
                self._orders[order_id] = order_of(fields)
            return fill_of(activity, self._orders[order_id])
        except (KeyError, TypeError, ValueError):
            raise unreadable() from None


def _mapping(answer: Any) -> _Fields:
    if not isinstance(answer, Mapping):
        raise unreadable()
    return answer


def _rejected(order: Order, at: datetime, reason: str) -> OrderReport:
    return OrderReport(order=order, status="rejected", submitted_at=at, reason=reason)
