"""The paper broker: executions, fees, stops, expiry, buying power and days."""

import sqlite3
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from longmind import ForeignStore, InvalidInput, NotFound
from taat.brokers import PaperBroker, PaperSettings, open_broker
from taat.market import AnnouncedPrices, ReplayMarket, hours
from taat.models import AssetClass, Instrument, Order, OrderReport

T = datetime(2026, 3, 2, 15, tzinfo=UTC)  # 10:00 in New York
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
AAPL = Instrument(symbol="AAPL")
NVDA = Instrument(symbol="NVDA")
BTC = Instrument(symbol="BTC", asset=AssetClass.CRYPTO)
CALL = Instrument(symbol="AAPL", asset=AssetClass.OPTION, expiry=date(2026, 3, 20), strike=Decimal(265), right="call")


def D(text: object) -> Decimal:
    return Decimal(str(text))


def order(client_id: str, side: str, quantity: object, instrument: Instrument = AAPL, **fields: Any) -> Order:
    prices = {name: D(value) for name, value in fields.items() if name.endswith("_price")}
    fields = {"quantity": D(quantity), **fields, **prices}
    return Order(client_id=client_id, instrument=instrument, side=side, **fields)  # type: ignore[arg-type]


class Desk:
    """A broker whose prices the test tells."""

    def __init__(self, path: Path | None = None, **settings: Any) -> None:
        self.market = AnnouncedPrices()
        terms = PaperSettings(**{name: D(v) if not isinstance(v, bool) else v for name, v in settings.items()})
        self.broker = PaperBroker(self.market, path, terms)

    async def price(self, instrument: Instrument, price: object, at: datetime) -> list[OrderReport]:
        self.market.tell(instrument, D(price), at)
        return list(await self.broker.advance(at))

    async def held(self) -> dict[str, Decimal]:
        return {str(position.instrument): position.quantity for position in await self.broker.positions()}


async def test_a_market_order_is_executed_at_the_price() -> None:
    desk = Desk()
    desk.market.tell(AAPL, D(264), T)
    report = await desk.broker.place(order("a", "buy", 10), T)
    assert (report.status, report.filled, report.average_price) == ("filled", 10, 264)
    assert report.fills[0].id == "a/1"
    account = await desk.broker.account()
    assert (account.cash, account.equity, account.day_start_equity) == (97_360, 100_000, 100_000)
    await desk.price(AAPL, "266.50", T + MINUTE)
    assert (await desk.broker.account()).equity == D("100025.00")
    (position,) = await desk.broker.positions()
    assert (position.quantity, position.average_price) == (10, 264)


async def test_bid_and_ask_slippage_and_fees(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("symbol,at,bid,ask\nAAPL,2026-03-02T15:00:00Z,99.90,100.10\n")
    settings = PaperSettings(
        slippage_percent=D("0.1"), fee_per_unit=D("0.005"), fee_minimum=D(1), fee_percent=D("0.01")
    )
    broker = PaperBroker(ReplayMarket(tmp_path / "prices.csv"), settings=settings)
    bought = await broker.place(order("a", "buy", 300), T)
    assert (bought.fills[0].price, bought.fills[0].fee) == (D("100.2001"), D("4.51"))
    sold = await broker.place(order("b", "sell", 1), T)
    assert (sold.fills[0].price, sold.fills[0].fee) == (D("99.8001"), D("1.00"))
    assert (await broker.account()).cash == 100_000 - 300 * D("100.2001") - D("4.51") + D("99.8001") - 1


async def test_a_limit_order_waits_for_its_price() -> None:
    desk = Desk()
    desk.market.tell(AAPL, D(264), T)
    report = await desk.broker.place(order("a", "buy", 10, kind="limit", limit_price=262), T)
    assert (report.status, report.fills) == ("accepted", ())
    assert [found.order.client_id for found in await desk.broker.open_orders()] == ["a"]
    assert await desk.price(AAPL, "262.01", T + MINUTE) == [report]
    (filled,) = await desk.price(AAPL, "261.50", T + 2 * MINUTE)
    assert (filled.status, filled.average_price) == ("filled", D("261.50"))
    assert await desk.broker.open_orders() == []
    assert await desk.price(AAPL, "270", T + 3 * MINUTE) == []


@pytest.mark.parametrize(
    ("side", "stop", "before", "after"), [("sell", 260, "260.01", "259.5"), ("buy", 268, "267.99", "268.5")]
)
async def test_a_stop_order_becomes_a_market_order(side: str, stop: int, before: str, after: str) -> None:
    desk = Desk()
    desk.market.tell(AAPL, D(264), T)
    await desk.broker.place(order("entry", "buy" if side == "sell" else "sell", 10), T)
    await desk.broker.place(order("s", side, 10, kind="stop", stop_price=stop, good_till="cancelled"), T)
    await desk.price(AAPL, before, T + MINUTE)
    assert await desk.held() == {"AAPL": 10 if side == "sell" else -10}
    (filled,) = await desk.price(AAPL, after, T + 2 * MINUTE)
    assert (filled.status, filled.average_price) == ("filled", D(after))
    assert await desk.held() == {}


async def test_a_caller_is_told_before_the_account_changes_and_only_then() -> None:
    desk = Desk()
    desk.market.tell(AAPL, D(264), T)
    await desk.broker.place(order("entry", "buy", 10), T)
    await desk.broker.place(order("s", "sell", 10, kind="stop", stop_price=260, good_till="cancelled"), T)
    held: list[dict[str, Decimal]] = []

    async def before_change() -> None:
        held.append(await desk.held())

    desk.market.tell(AAPL, D(262), T + MINUTE)
    await desk.broker.advance(T + MINUTE, before_change=before_change)
    assert held == []
    desk.market.tell(AAPL, D(259), T + 2 * MINUTE)
    await desk.broker.advance(T + 2 * MINUTE, before_change=before_change)
    assert held == [{"AAPL": 10}]
    assert await desk.held() == {}


async def test_a_price_between_two_calls_is_not_missed() -> None:
    desk = Desk()
    desk.market.tell(AAPL, D(264), T)
    await desk.broker.place(order("entry", "buy", 10), T)
    await desk.broker.place(order("s", "sell", 10, kind="stop", stop_price=260, good_till="cancelled"), T)
    desk.market.tell(AAPL, D(259), T + MINUTE)
    desk.market.tell(AAPL, D(270), T + 2 * MINUTE)
    await desk.broker.advance(T + 3 * MINUTE)
    report = await desk.broker.order("s")
    assert report is not None
    assert (report.average_price, report.fills[0].filled_at) == (259, T + MINUTE)


async def test_a_price_told_at_the_moment_already_reached_counts() -> None:
    desk = Desk()
    desk.market.tell(AAPL, D(264), T)
    await desk.broker.place(order("entry", "buy", 10), T)
    await desk.broker.place(order("s", "sell", 10, kind="stop", stop_price=260, good_till="cancelled"), T)
    await desk.price(NVDA, 180, T + MINUTE)
    (report,) = await desk.price(AAPL, 259, T + MINUTE)
    assert report.status == "filled"


async def test_an_order_larger_than_the_liquidity_is_filled_in_parts() -> None:
    desk = Desk(liquidity=40)
    desk.market.tell(AAPL, D(100), T)
    report = await desk.broker.place(order("a", "buy", 100), T)
    assert (report.status, report.filled) == ("partly_filled", 40)
    await desk.broker.advance(T + MINUTE)  # the same quote gives no more
    later = await desk.broker.place(order("b", "buy", 10), T + MINUTE)
    assert later.filled == 0
    (part,) = [r for r in await desk.price(AAPL, 101, T + 2 * MINUTE) if r.order.client_id == "a"]
    assert (part.status, part.filled) == ("partly_filled", 80)
    await desk.price(AAPL, 102, T + 3 * MINUTE)
    whole = await desk.broker.order("a")
    assert whole is not None
    assert [(fill.id, fill.quantity, fill.price) for fill in whole.fills] == [
        ("a/1", 40, 100),
        ("a/2", 40, 101),
        ("a/3", 20, 102),
    ]
    assert whole.status == "filled"
    # the second order got what the first left of the last quote
    assert [fill.id for fill in await desk.broker.fills(after="a/2")] == ["a/3", "b/1"]


async def test_a_day_order_ends_with_its_session_and_another_does_not() -> None:
    desk = Desk()
    desk.market.tell(AAPL, D(264), T)
    await desk.broker.place(order("day", "buy", 10, kind="limit", limit_price=200), T)
    await desk.broker.place(order("gtc", "buy", 10, kind="limit", limit_price=200, good_till="cancelled"), T)
    close = T.replace(hour=21)
    assert {r.status for r in await desk.broker.advance(close - timedelta(seconds=1))} == {"accepted"}
    # a price at the close comes too late for a day order
    (ended, filled) = await desk.price(AAPL, 199, close)
    assert (ended.order.client_id, ended.status, ended.reason) == ("day", "expired", "the session closed")
    assert (filled.order.client_id, filled.status) == ("gtc", "filled")


async def test_short_selling_and_turning_a_position_around() -> None:
    desk = Desk()
    desk.market.tell(AAPL, D(100), T)
    await desk.broker.place(order("a", "sell", 10), T)
    (position,) = await desk.broker.positions()
    assert (position.quantity, position.average_price) == (-10, 100)
    await desk.price(AAPL, 90, T + MINUTE)
    assert (await desk.broker.account()).equity == 100_100
    await desk.broker.place(order("b", "buy", 25), T + MINUTE)
    (position,) = await desk.broker.positions()
    assert (position.quantity, position.average_price) == (15, 90)
    assert (await desk.broker.account()).cash == 100_000 + 1000 - 25 * 90


async def test_an_option_is_a_hundred_and_expires_at_its_worth() -> None:
    desk = Desk()
    desk.market.tell(CALL, D("3.10"), T)
    await desk.broker.place(order("a", "buy", 2, CALL), T)
    await desk.broker.place(order("t", "sell", 2, CALL, kind="limit", limit_price=9, good_till="cancelled"), T)
    assert (await desk.broker.account()).cash == 100_000 - 620
    desk.market.tell(AAPL, D("271.25"), datetime(2026, 3, 20, 19, 59, tzinfo=UTC))
    desk.market.tell(AAPL, D("100"), datetime(2026, 3, 20, 20, 1, tzinfo=UTC))
    changed = {r.order.client_id: r for r in await desk.broker.advance(datetime(2026, 3, 23, 15, tzinfo=UTC))}
    assert (changed["t"].status, changed["t"].reason) == ("expired", "the option expired")
    settled = changed["expiry/option:AAPL:2026-03-20:265:call"]
    assert (settled.average_price, settled.fills[0].filled_at) == (D("6.25"), datetime(2026, 3, 20, 20, tzinfo=UTC))
    account = await desk.broker.account()
    assert account.cash == account.equity == 100_000 - 620 + 1250
    late = await desk.broker.place(order("late", "buy", 1, CALL), datetime(2026, 3, 23, 15, tzinfo=UTC))
    assert (late.status, late.reason) == ("rejected", "the option has expired")


async def test_an_option_whose_underlying_nobody_knows_expires_to_the_accounts_loss() -> None:
    put = CALL.model_copy(update={"right": "put"})
    desk = Desk()
    for option in (CALL, put):
        desk.market.tell(option, D(3), T)
    await desk.broker.place(order("long", "buy", 1, CALL), T)
    await desk.broker.place(order("short", "sell", 1, put), T)
    await desk.broker.advance(datetime(2026, 3, 21, tzinfo=UTC))
    assert await desk.held() == {}
    assert (await desk.broker.account()).cash == 100_000 - 300


async def test_rejections_have_a_reason_and_stay() -> None:
    desk = Desk(starting_cash=1000)
    unknown = await desk.broker.place(order("a", "buy", 1), T)
    assert (unknown.status, unknown.reason) == ("rejected", "no price of AAPL is known")
    desk.market.tell(AAPL, D(100), T)
    assert await desk.broker.place(order("a", "buy", 1), T) == unknown
    large = await desk.broker.place(order("b", "buy", 11), T)
    assert (large.status, large.reason) == ("rejected", "not enough buying power: 1100.00 needed, 1000.00 left")
    assert (await desk.broker.place(order("c", "sell", 11), T)).status == "rejected"
    assert (
        await desk.broker.place(order("d", "buy", 1, kind="limit"), T)
    ).reason == "a limit order needs a limit price"
    assert (await desk.broker.place(order("e", "buy", 1, kind="stop"), T)).reason == "a stop order needs a stop price"
    assert await desk.broker.fills() == []
    assert (await desk.broker.account()).cash == 1000


async def test_waiting_orders_take_buying_power_and_exits_take_none() -> None:
    desk = Desk(starting_cash=1000)
    desk.market.tell(AAPL, D(100), T)
    waiting = order("a", "buy", 6, kind="limit", limit_price=90, good_till="cancelled")
    assert (await desk.broker.place(waiting, T)).status == "accepted"
    assert (await desk.broker.place(order("b", "buy", 5), T)).status == "rejected"
    assert (await desk.broker.cancel("a", T)).status == "cancelled"
    assert (await desk.broker.place(order("c", "buy", 10), T)).status == "filled"
    for client_id, fields in {"stop": {"kind": "stop", "stop_price": 90}, "all": {}}.items():
        exit_order = order(client_id, "sell", 10, good_till="cancelled", **fields)
        assert (await desk.broker.place(exit_order, T)).status in {"accepted", "filled"}
    assert (await Desk(starting_cash=1000, leverage=2).broker.account()).equity == 1000


async def test_leverage_and_the_strike_of_a_short_option() -> None:
    desk = Desk(starting_cash=20_000, leverage=2)
    desk.market.tell(CALL, D(3), T)
    assert (await desk.broker.place(order("a", "sell", 2, CALL), T)).status == "rejected"  # 53,000
    assert (await desk.broker.place(order("b", "sell", 1, CALL), T)).status == "filled"  # 26,500


async def test_cancelling() -> None:
    desk = Desk(liquidity=4)
    desk.market.tell(AAPL, D(100), T)
    await desk.broker.place(order("a", "buy", 10), T)
    cancelled = await desk.broker.cancel("a", T + MINUTE)
    assert (cancelled.status, cancelled.filled, cancelled.reason) == ("cancelled", 4, "cancelled on request")
    assert await desk.broker.cancel("a", T + MINUTE) == cancelled
    await desk.price(AAPL, 101, T + 2 * MINUTE)
    assert await desk.held() == {"AAPL": 4}
    with pytest.raises(NotFound, match="no order 'b'"):
        await desk.broker.cancel("b", T)
    assert await desk.broker.order("b") is None


async def test_a_day_begins_with_the_equity_of_midnight_in_new_york() -> None:
    desk = Desk()
    desk.market.tell(BTC, D(50_000), T)
    await desk.broker.place(order("a", "buy", 1, BTC), T)
    await desk.price(BTC, 51_000, T + MINUTE)
    assert (await desk.broker.account()).day_start_equity == 100_000
    desk.market.tell(BTC, D(52_000), datetime(2026, 3, 4, 4, 59, tzinfo=UTC))
    await desk.price(BTC, 40_000, datetime(2026, 3, 4, 5, 1, tzinfo=UTC))
    account = await desk.broker.account()
    assert (account.day_start_equity, account.equity) == (102_000, 90_000)


async def test_outside_the_session_orders_wait_when_that_is_set() -> None:
    desk = Desk(regular_hours=True)
    night = T.replace(hour=3)
    desk.market.tell(AAPL, D(100), night)
    report = await desk.broker.place(order("a", "buy", 1), night)
    assert report.status == "accepted"
    await desk.broker.advance(T)  # the market is open, but the price is of the night
    assert await desk.held() == {}
    await desk.price(AAPL, 101, T + MINUTE)
    assert await desk.held() == {"AAPL": 1}


async def test_changes_are_told_again_after_a_crash(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "paper.db")
    desk.market.tell(AAPL, D(100), T)
    await desk.broker.place(order("a", "buy", 1), T)
    assert [r.order.client_id for r in await desk.broker.advance(T)] == ["a"]
    again = PaperBroker(desk.market, tmp_path / "paper.db")  # the first one was not closed
    assert [r.order.client_id for r in await again.advance(T)] == ["a"]
    assert await again.advance(T) == []
    third = PaperBroker(desk.market, tmp_path / "paper.db")
    assert await third.advance(T) == []
    for broker in (again, third, desk.broker):
        await broker.close()


async def test_an_earlier_moment_does_not_turn_time_back() -> None:
    desk = Desk()
    desk.market.tell(AAPL, D(100), T)
    desk.market.tell(AAPL, D(110), T + MINUTE)
    await desk.broker.place(order("a", "buy", 1), T + MINUTE)
    report = await desk.broker.place(order("b", "buy", 1), T)
    assert (report.average_price, report.fills[0].filled_at) == (110, T + MINUTE)


async def test_the_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE notes (text)")
    other.close()
    with pytest.raises(ForeignStore, match="not the ledger"):
        PaperBroker(AnnouncedPrices(), tmp_path / "other.db")


async def test_addresses(tmp_path: Path) -> None:
    market = AnnouncedPrices()
    for address, file in {"paper": "paper.db", f"paper:{tmp_path}/mine.db": "mine.db"}.items():
        broker = open_broker(address, market, directory=tmp_path)
        assert (broker.name, broker.live) == ("paper", False)
        assert (tmp_path / file).exists()
        await broker.close()
    for address in ("", "paper:", "robinhood"):
        with pytest.raises(InvalidInput, match="There is no broker"):
            open_broker(address, market)
    with pytest.raises(InvalidInput, match="cannot be live"):
        open_broker("paper", market, live=True)
    naive = open_broker("paper", market)
    with pytest.raises(InvalidInput, match="no time zone"):
        await naive.place(order("a", "buy", 1), datetime(2026, 3, 2))  # noqa: DTZ001
    await naive.close()


def test_importing_brokers_does_not_import_what_is_slow() -> None:
    code = (
        "import sys, taat.brokers, taat.market; print([name for name in ('pandas', 'alpaca') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_asking_for_the_money_executes_nothing() -> None:
    desk = Desk()
    desk.market.tell(AAPL, D(264), T)
    await desk.broker.place(order("entry", "buy", 10), T)
    await desk.broker.place(order("s", "sell", 10, kind="stop", stop_price=260, good_till="cancelled"), T)
    desk.market.tell(AAPL, D(250), T)
    account = await desk.broker.account()
    assert (account.cash, account.equity) == (97_360, 99_860)
    assert await desk.held() == {"AAPL": 10}


async def test_an_account_changed_by_another_process_is_read_again(tmp_path: Path) -> None:
    market = AnnouncedPrices()
    market.tell(AAPL, D(100), T)
    first, second = (PaperBroker(market, tmp_path / "paper.db") for _ in range(2))
    await first.place(order("a", "buy", 1), T)
    await second.place(order("b", "buy", 2), T)
    await first.place(order("c", "sell", 3), T)
    for broker in (first, second):
        assert await broker.positions() == []
        assert (await broker.account()).cash == 100_000
        await broker.close()


async def test_a_transaction_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    desk.market.tell(AAPL, D(100), T)
    with monkeypatch.context() as patch:
        # the calendar cannot be had when a day order has to wait
        patch.setattr(hours, "session_close", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            await desk.broker.place(order("a", "buy", 1, kind="limit", limit_price=90), T)
    assert await desk.broker.order("a") is None
    assert await desk.broker.open_orders() == []
    await desk.price(AAPL, 80, T + MINUTE)
    assert await desk.held() == {}
