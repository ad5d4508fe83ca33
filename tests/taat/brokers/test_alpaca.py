"""Alpaca through the real alpaca-py, against a server that misbehaves."""

import logging
import traceback
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from tests.taat.alpaca_server import KEY, SECRET, AlpacaServer, alpaca_server

from longmind import InvalidSetting, NotFound
from taat.brokers import AlpacaBroker, open_broker
from taat.market import AnnouncedPrices, Keys, ServiceRefused, ServiceUnavailable
from taat.models import AssetClass, Instrument, Order

T = datetime(2026, 3, 2, 15, tzinfo=UTC)
AAPL = Instrument(symbol="AAPL")
BTC = Instrument(symbol="BTC", asset=AssetClass.CRYPTO)
CALL = Instrument(symbol="AAPL", asset=AssetClass.OPTION, expiry=date(2026, 3, 20), strike=Decimal(265), right="call")
PLACE = "POST /v2/orders"
LOOK_UP = "GET /v2/orders:by_client_order_id"


def order(client_id: str = "o1", side: str = "buy", quantity: str = "10", **fields: Any) -> Order:
    fields = {"instrument": AAPL, **fields}
    return Order(client_id=client_id, side=side, quantity=Decimal(quantity), **fields)  # type: ignore[arg-type]


@pytest.fixture
def alpaca() -> Iterator[AlpacaServer]:
    with alpaca_server() as server:
        yield server


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
async def broker(alpaca: AlpacaServer, waits: list[float]) -> AsyncIterator[AlpacaBroker]:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    broker = AlpacaBroker(keys=Keys(KEY, SECRET), url=alpaca.url, sleep=sleep)
    yield broker
    await broker.close()


async def test_an_order_has_our_client_id_and_exact_amounts(alpaca: AlpacaServer, broker: AlpacaBroker) -> None:
    report = await broker.place(
        order(quantity="10.000000001", kind="limit", limit_price=Decimal("264.1"), good_till="cancelled"), T
    )
    assert alpaca.bodies[0] == {
        "symbol": "AAPL",
        "qty": "10.000000001",
        "side": "buy",
        "type": "limit",
        "time_in_force": "gtc",
        "client_order_id": "o1",
        "limit_price": "264.1",
    }
    assert report.status == "accepted"
    assert report.order == order(
        quantity="10.000000001", kind="limit", limit_price=Decimal("264.1"), good_till="cancelled"
    )
    assert report.submitted_at == datetime(2026, 3, 2, 15, 0, 0, 123456, tzinfo=UTC)
    assert await broker.open_orders() == [report]
    assert await broker.order("o1") == report
    assert await broker.order("o2") is None


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        (order(instrument=CALL, good_till="cancelled"), {"symbol": "AAPL260320C00265000", "time_in_force": "day"}),
        (order(instrument=BTC), {"symbol": "BTC/USD", "time_in_force": "gtc"}),
        (
            order(instrument=BTC, side="sell", kind="stop", stop_price=Decimal(80_000)),
            {"type": "stop_limit", "stop_price": "80000", "limit_price": "76000.00"},
        ),
        (order(kind="stop", side="sell", stop_price=Decimal("260.123")), {"type": "stop", "stop_price": "260.13"}),
        (order(kind="limit", limit_price=Decimal("260.129")), {"limit_price": "260.12"}),
        (order(kind="limit", limit_price=Decimal("0.12345")), {"limit_price": "0.1234"}),
    ],
)
async def test_orders_as_alpaca_takes_them(
    alpaca: AlpacaServer, broker: AlpacaBroker, asked: Order, sent: dict[str, str]
) -> None:
    report = await broker.place(asked, T)
    assert alpaca.bodies[0].items() >= sent.items()
    assert report.order.instrument == asked.instrument
    assert report.order.kind == asked.kind


async def test_what_alpaca_does_not_trade_is_rejected_without_a_call(
    alpaca: AlpacaServer, broker: AlpacaBroker
) -> None:
    report = await broker.place(order(instrument=Instrument(symbol="SPX", asset=AssetClass.INDEX)), T)
    assert (report.status, report.reason) == ("rejected", "Alpaca does not trade index instruments")
    assert not alpaca.calls


async def test_a_refused_order_has_alpacas_reason(alpaca: AlpacaServer, broker: AlpacaBroker) -> None:
    alpaca.refusal = 403, {"code": 40310000, "message": "insufficient buying power"}
    report = await broker.place(order(), T)
    assert (report.status, report.reason) == ("rejected", "insufficient buying power")
    assert alpaca.calls == {PLACE: 1}


async def test_the_same_order_again_is_the_first_order(alpaca: AlpacaServer, broker: AlpacaBroker) -> None:
    first = await broker.place(order(), T)
    assert await broker.place(order(), T) == first
    assert alpaca.calls == {PLACE: 2, LOOK_UP: 1}
    assert len(alpaca.orders) == 1


async def test_a_rate_limit_is_obeyed(alpaca: AlpacaServer, broker: AlpacaBroker, waits: list[float]) -> None:
    alpaca.faults[PLACE] = ["429", "429"]
    alpaca.retry_after = "7"
    assert (await broker.place(order(), T)).status == "accepted"
    assert waits == [7.0, 7.0]
    assert alpaca.calls == {PLACE: 3}


async def test_a_rate_limit_that_says_no_time_is_waited_for_longer_each_time(
    alpaca: AlpacaServer, broker: AlpacaBroker, waits: list[float]
) -> None:
    alpaca.faults["GET /v2/account"] = ["429", "500", "503", "cut"]
    account = await broker.account()
    assert (account.cash, account.equity, account.day_start_equity) == (
        Decimal("1000.10"),
        Decimal("1500.25"),
        Decimal(1400),
    )
    assert account.buying_power == Decimal("2200.50")
    assert waits == [1.0, 2.0, 4.0, 8.0]


async def test_an_endless_rate_limit_ends_with_an_error(
    alpaca: AlpacaServer, broker: AlpacaBroker, waits: list[float]
) -> None:
    alpaca.faults[PLACE] = ["429"] * 20
    alpaca.retry_after = "3600"
    with pytest.raises(ServiceUnavailable, match="too many requests"):
        await broker.place(order(), T)
    assert waits == [60.0] * 5
    assert alpaca.calls == {PLACE: 6}


@pytest.mark.parametrize("fault", ["500", "502", "504", "cut", "page"])
async def test_an_order_that_failed_is_looked_up_and_sent_again(
    alpaca: AlpacaServer, broker: AlpacaBroker, fault: str
) -> None:
    alpaca.faults[PLACE] = [fault]
    assert (await broker.place(order(), T)).status == "accepted"
    assert alpaca.calls == {PLACE: 2, LOOK_UP: 1}
    assert len(alpaca.orders) == 1


@pytest.mark.parametrize("fault", ["500", "504", "cut", "page"])
async def test_an_order_whose_answer_was_lost_is_not_sent_again(
    alpaca: AlpacaServer, broker: AlpacaBroker, fault: str
) -> None:
    alpaca.faults[PLACE] = [f"done then {fault}"]
    alpaca.faults[LOOK_UP] = ["500", "429", "cut"]
    report = await broker.place(order(), T)
    assert (report.status, report.order) == ("accepted", order())
    assert alpaca.calls == {PLACE: 1, LOOK_UP: 4}


@pytest.mark.parametrize("fault", ["slow", "done then slow"])
async def test_an_order_that_is_not_answered_in_time_is_placed_once(
    alpaca: AlpacaServer, waits: list[float], fault: str
) -> None:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    broker = AlpacaBroker(keys=Keys(KEY, SECRET), url=alpaca.url, timeout=1.0, sleep=sleep)
    alpaca.faults[PLACE] = [fault]
    assert (await broker.place(order(), T)).status == "accepted"
    assert alpaca.calls[LOOK_UP] >= 1
    assert alpaca.calls[PLACE] == 1 or fault == "slow"
    assert len(alpaca.orders) == 1
    await broker.close()


async def test_when_nothing_answers_the_caller_is_told_and_may_ask_again(
    alpaca: AlpacaServer, broker: AlpacaBroker
) -> None:
    alpaca.faults[PLACE] = ["done then cut"]
    alpaca.faults[LOOK_UP] = ["500"] * 6
    with pytest.raises(ServiceUnavailable):
        await broker.place(order(), T)
    assert (await broker.place(order(), T)).status == "accepted"
    assert len(alpaca.orders) == 1


async def test_executions_are_the_activities_with_their_ids(alpaca: AlpacaServer, broker: AlpacaBroker) -> None:
    for client_id in ("o1", "o2"):
        await broker.place(order(client_id), T)
    alpaca.fill("o1", "4", "264.10")
    alpaca.fill("o2", "10", "264.20")
    alpaca.fill("o1", "6", "264.30")
    report = await broker.order("o1")
    assert report is not None
    assert (report.status, report.filled, report.average_price) == ("filled", 10, Decimal("264.22"))
    fills = await broker.fills()
    assert [(fill.client_id, fill.quantity, fill.price) for fill in fills] == [
        ("o1", 4, Decimal("264.10")),
        ("o2", 10, Decimal("264.20")),
        ("o1", 6, Decimal("264.30")),
    ]
    assert report.fills == (fills[0], fills[2])
    assert fills[0].filled_at == datetime(2026, 3, 2, 15, 1, 2, 123456, tzinfo=UTC)
    assert await broker.fills(after=fills[0].id) == fills[1:]
    # a broker that did not place them finds their orders
    other = AlpacaBroker(keys=Keys(KEY, SECRET), url=alpaca.url)
    assert await other.fills(after=fills[1].id) == fills[2:]
    await other.close()


async def test_more_executions_than_a_page(alpaca: AlpacaServer, broker: AlpacaBroker) -> None:
    await broker.place(order(quantity="250"), T)
    for _ in range(250):
        alpaca.fill("o1", "1", "100")
    report = await broker.order("o1")
    assert report is not None
    assert (report.status, report.filled) == ("filled", 250)
    assert len({fill.id for fill in await broker.fills()}) == 250


async def test_an_order_has_not_ended_before_its_executions_are_listed(
    alpaca: AlpacaServer, broker: AlpacaBroker
) -> None:
    await broker.place(order(), T)
    await broker.advance(T)
    alpaca.fill("o1", "10", "264", listed=False)
    (report,) = await broker.advance(T)
    assert (report.status, report.filled) == ("partly_filled", 0)
    alpaca.list_fill("o1", "10", "264")
    (report,) = await broker.advance(T)
    assert (report.status, report.filled) == ("filled", 10)
    assert await broker.advance(T) == []


async def test_changes_since_the_last_call(alpaca: AlpacaServer, broker: AlpacaBroker) -> None:
    await broker.place(order("old"), T)
    assert [report.order.client_id for report in await broker.advance(T)] == ["old"]
    assert await broker.advance(T) == []
    await broker.place(order("fast"), T)
    alpaca.fill("fast", "10", "264")
    alpaca.fill("old", "1", "264")
    changed = {report.order.client_id: report.status for report in await broker.advance(T)}
    assert changed == {"old": "partly_filled", "fast": "filled"}
    assert await broker.advance(T) == []


async def test_cancelling(alpaca: AlpacaServer, broker: AlpacaBroker) -> None:
    await broker.place(order("o1"), T)
    alpaca.fill("o1", "3", "264")
    report = await broker.cancel("o1", T)
    assert (report.status, report.filled, report.reason) == ("cancelled", 3, "Alpaca says canceled")
    assert await broker.cancel("o1", T) == report
    with pytest.raises(NotFound, match="no order 'o2'"):
        await broker.cancel("o2", T)


async def test_positions(alpaca: AlpacaServer, broker: AlpacaBroker) -> None:
    common = {"avg_entry_price": "3.10", "side": "long"}
    alpaca.positions = [
        {"symbol": "AAPL", "asset_class": "us_equity", "qty": "-10", **common, "side": "short"},
        {"symbol": "AAPL260320C00265000", "asset_class": "us_option", "qty": "2", **common},
        {"symbol": "BTCUSD", "asset_class": "crypto", "qty": "0.123456789", **common},
    ]
    positions = await broker.positions()
    assert [(position.instrument, position.quantity) for position in positions] == [
        (AAPL, -10),
        (CALL, 2),
        (BTC, Decimal("0.123456789")),
    ]
    assert positions[0].average_price == Decimal("3.10")


async def test_no_key_is_in_an_error_or_a_log(
    alpaca: AlpacaServer, broker: AlpacaBroker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = Keys("PKWRONGKEY", "wr0ng-wr0ng")
    stranger = AlpacaBroker(keys=wrong, url=alpaca.url)
    with pytest.raises(ServiceRefused, match="not authorized") as refused:
        await stranger.place(order(), T)
    await stranger.close()
    alpaca.faults[PLACE] = ["page"] * 9
    alpaca.faults[LOOK_UP] = ["page"] * 99
    with pytest.raises(ServiceUnavailable) as unavailable:
        await broker.place(order(), T)
    shown = "".join(
        [*traceback.format_exception(refused.value), *traceback.format_exception(unavailable.value), caplog.text]
    )
    shown += repr(refused.value.details) + repr(wrong)
    for secret in (KEY, SECRET, wrong.key, wrong.secret):
        assert secret not in shown


async def test_an_answer_that_is_no_order_is_an_error(alpaca: AlpacaServer, broker: AlpacaBroker) -> None:
    await broker.place(order(), T)
    alpaca.orders["o1"]["qty"] = "many"
    with pytest.raises(ServiceUnavailable, match="cannot be read"):
        await broker.order("o1")


async def test_paper_is_the_default_and_live_has_to_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("APCA_API_KEY_ID", raising=False)
    with pytest.raises(InvalidSetting) as caught:
        open_broker("alpaca", AnnouncedPrices())
    assert "APCA_API_KEY_ID" in caught.value.hint
    monkeypatch.setenv("APCA_API_KEY_ID", KEY)
    monkeypatch.setenv("APCA_API_SECRET_KEY", SECRET)
    for live, host in ((False, "https://paper-api.alpaca.markets"), (True, "https://api.alpaca.markets")):
        broker = open_broker("alpaca", AnnouncedPrices(), live=live)
        assert isinstance(broker, AlpacaBroker)
        assert (broker.name, broker.live) == ("alpaca", live)
        assert broker._client._base_url.value == host
        await broker.close()
