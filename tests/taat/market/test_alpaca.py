"""Prices of Alpaca through the real alpaca-py, against a server that misbehaves."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from tests.taat.alpaca_server import KEY, SECRET, AlpacaServer, alpaca_server

from longmind import InvalidSetting
from taat.market import AlpacaMarket, Keys, ServiceRefused, ServiceUnavailable, open_market
from taat.models import AssetClass, Instrument

T = datetime(2026, 3, 2, 15, tzinfo=UTC)
AAPL = Instrument(symbol="AAPL")
BTC = Instrument(symbol="BTC", asset=AssetClass.CRYPTO)
CALL = Instrument(symbol="AAPL", asset=AssetClass.OPTION, expiry=date(2026, 3, 20), strike=Decimal(265), right="call")
QUOTE = {"t": "2026-03-02T14:59:59.123456789Z", "bp": 264.05, "bs": 1, "ap": 264.12, "as": 2}


@pytest.fixture
def alpaca() -> Iterator[AlpacaServer]:
    with alpaca_server() as server:
        yield server


def market_of(alpaca: AlpacaServer, waits: list[float], secret: str = SECRET) -> AlpacaMarket:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return AlpacaMarket(keys=Keys(KEY, secret), url=alpaca.url, sleep=sleep)


@pytest.mark.parametrize(
    ("instrument", "symbol", "call"),
    [
        (AAPL, "AAPL", "GET /v2/stocks/quotes/latest"),
        (CALL, "AAPL260320C00265000", "GET /v1beta1/options/quotes/latest"),
        (BTC, "BTC/USD", "GET /v1beta3/crypto/us/latest/quotes"),
    ],
)
async def test_the_latest_quote(alpaca: AlpacaServer, instrument: Instrument, symbol: str, call: str) -> None:
    alpaca.quotes[symbol] = QUOTE
    waits: list[float] = []
    market = market_of(alpaca, waits)
    alpaca.faults[call] = ["429", "500", "cut", "502"]
    alpaca.retry_after = "3"
    quote = await market.quote(instrument, T)
    assert quote is not None
    assert (quote.bid, quote.ask) == (Decimal("264.05"), Decimal("264.12"))
    assert quote.at == datetime(2026, 3, 2, 14, 59, 59, 123456, tzinfo=UTC)
    assert waits == [3.0, 2.0, 4.0, 8.0]
    assert alpaca.calls == {call: 5}
    await market.close()


async def test_the_latest_trade_when_a_side_is_not_quoted(alpaca: AlpacaServer) -> None:
    alpaca.quotes["AAPL"] = {**QUOTE, "ap": 0}
    alpaca.trades["AAPL"] = {"t": "2026-03-02T14:59:00Z", "p": 264.1}
    market = market_of(alpaca, [])
    quote = await market.quote(AAPL, T)
    assert quote is not None
    assert (quote.bid, quote.ask, quote.at.minute) == (Decimal("264.1"), Decimal("264.1"), 59)
    await market.close()


async def test_what_alpaca_does_not_know_has_no_price(alpaca: AlpacaServer) -> None:
    market = market_of(alpaca, [])
    unknown = [Instrument(symbol="NOSUCH"), AAPL, CALL.model_copy(update={"expiry": None})]
    unknown += [Instrument(symbol="SPX", asset=AssetClass.INDEX), Instrument(symbol="ES", asset=AssetClass.FUTURE)]
    assert [await market.quote(instrument, T) for instrument in unknown] == [None] * 5
    await market.close()


async def test_errors(alpaca: AlpacaServer) -> None:
    stranger = market_of(alpaca, [], secret="wr0ng-wr0ng")
    with pytest.raises(ServiceRefused) as refused:
        await stranger.quote(AAPL, T)
    assert KEY not in str(refused.value)
    assert "wr0ng" not in str(refused.value)
    await stranger.close()
    waits: list[float] = []
    market = market_of(alpaca, waits)
    alpaca.quotes["AAPL"] = {"t": "yesterday", "bp": 1, "ap": 1}
    with pytest.raises(ServiceUnavailable, match="cannot be read"):
        await market.quote(AAPL, T)
    alpaca.faults["GET /v2/stocks/quotes/latest"] = ["503"] * 9
    with pytest.raises(ServiceUnavailable, match="does not answer"):
        await market.quote(AAPL, T)
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0]
    await market.close()


async def test_keys_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("APCA_API_SECRET_KEY", raising=False)
    with pytest.raises(InvalidSetting, match="APCA_API_SECRET_KEY"):
        open_market("alpaca")
    monkeypatch.setenv("APCA_API_KEY_ID", KEY)
    monkeypatch.setenv("APCA_API_SECRET_KEY", SECRET)
    market = open_market("alpaca")
    assert isinstance(market, AlpacaMarket)
    await market.close()
