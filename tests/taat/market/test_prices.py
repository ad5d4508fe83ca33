"""Prices of files and of announcements."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from longmind import InvalidInput, NotFound
from taat.market import AnnouncedPrices, ReplayMarket, open_market
from taat.market.symbols import instrument_key, instrument_of, occ_symbol, option_of
from taat.models import AssetClass, Instrument

T = datetime(2026, 3, 2, 15, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
AAPL = Instrument(symbol="AAPL")
CALL = Instrument(symbol="AAPL", asset=AssetClass.OPTION, expiry=date(2026, 3, 20), strike=Decimal("265"), right="call")


def lines(*rows: dict[str, object]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


JSON = lines(
    {"symbol": "AAPL", "at": "2026-03-02T15:01:00Z", "price": 264.1},
    {"symbol": "$AAPL", "at": "2026-03-02T15:00:00", "bid": "263.9", "ask": "264.0"},
    {
        "symbol": "AAPL",
        "expiry": "2026-03-20",
        "strike": 265,
        "right": "call",
        "at": "2026-03-02T15:00:00Z",
        "price": 3,
    },
    {"symbol": "BTC", "asset": "crypto", "at": "2026-03-02T15:00:00Z", "price": "88400.5"},
)
CSV = """symbol,at,price,bid,ask,expiry,strike,right,asset
AAPL,2026-03-02T15:01:00Z,264.1,,,,,,
AAPL,2026-03-02T10:00:00-05:00,,263.9,264.0,,,,
AAPL260320C00265000,2026-03-02T15:00:00Z,3,,,,,,
BTC,2026-03-02T15:00:00Z,88400.5,,,,,,crypto
"""


@pytest.mark.parametrize("text", [JSON, CSV])
async def test_the_latest_price_at_or_before_a_moment(tmp_path: Path, text: str) -> None:
    (tmp_path / "prices").write_text(text)
    market = open_market(f"file:{tmp_path}/prices")
    assert await market.quote(AAPL, T - MINUTE) is None
    first = await market.quote(AAPL, T)
    assert first is not None
    assert (first.bid, first.ask, first.middle) == (Decimal("263.9"), Decimal("264.0"), Decimal("263.95"))
    later = await market.quote(AAPL, T + 5 * MINUTE)
    assert later is not None
    assert (later.bid, later.ask, later.at) == (Decimal("264.1"), Decimal("264.1"), T + MINUTE)
    option = await market.quote(CALL.model_copy(update={"strike": Decimal("265.00")}), T)
    assert option is not None
    assert option.ask == 3
    # a class that a line names is that of the line alone; one it does not name is any
    assert await market.quote(Instrument(symbol="BTC", asset=AssetClass.STOCK), T) is None
    assert await market.quote(Instrument(symbol="AAPL", asset=AssetClass.INDEX), T) is not None
    await market.close()


async def test_an_old_price_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "prices").write_text(JSON)
    market = ReplayMarket(tmp_path / "prices", max_age=timedelta(minutes=2))
    assert await market.quote(AAPL, T + 3 * MINUTE) is not None
    assert await market.quote(AAPL, T + 4 * MINUTE) is None


async def test_the_prices_between_two_moments(tmp_path: Path) -> None:
    (tmp_path / "prices").write_text(JSON)
    market = ReplayMarket(tmp_path / "prices")
    assert [quote.at for quote in await market.quotes(AAPL, T - MINUTE, T + MINUTE)] == [T, T + MINUTE]
    assert [quote.at for quote in await market.quotes(AAPL, T, T + 9 * MINUTE)] == [T + MINUTE]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Line 1 of .* is not JSON"),
        ("[1]", "Line 1 of .* is neither a JSON object nor the head"),
        (JSON + "3", "Line 5 of .* is not a JSON object"),
        ('{"symbol": "A"}', "has no at"),
        ('{"symbol": "A", "at": "x", "price": 1}', "has a wrong at"),
        ('{"symbol": "A", "at": "2026-01-02", "price": "x"}', "has a wrong price"),
        ('{"symbol": "A", "at": "2026-01-02", "price": NaN}', "has a wrong price"),
        ('{"symbol": "A", "at": "2026-01-02", "bid": 1}', "has neither price nor bid and ask"),
        ('{"symbol": "A", "at": "2026-01-02", "price": 1, "strike": 1}', "has only a part"),
        ('{"symbol": "A", "at": "2026-01-02", "price": 1, "asset": "bond"}', "has a wrong asset"),
        (CSV + "AAPL,2026-03-02\n", "Line 6 of .* has 2 columns instead of 9"),
    ],
)
async def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "prices").write_text(text)
    with pytest.raises(InvalidInput, match=words):
        await ReplayMarket(tmp_path / "prices").quote(AAPL, T)


async def test_addresses(tmp_path: Path) -> None:
    assert isinstance(open_market("announced"), AnnouncedPrices)
    for address in ("", "file:", "announced:", "nasdaq", "prices.csv"):
        with pytest.raises(InvalidInput, match="There is no market"):
            open_market(address)
    with pytest.raises(NotFound):
        await open_market(f"file:{tmp_path}/absent").quote(AAPL, T)


async def test_announced_prices_are_the_last_at_or_before_a_moment() -> None:
    market = AnnouncedPrices()
    market.tell(AAPL, Decimal("264"), T)
    market.tell(AAPL, Decimal("266"), T + 2 * MINUTE)
    market.tell(AAPL, Decimal("265"), T + MINUTE)  # a post that came late
    prices = [await market.quote(AAPL, T + n * MINUTE) for n in (-1, 0, 1, 2, 3)]
    assert [quote and quote.ask for quote in prices] == [None, 264, 265, 266, 266]
    assert len(await market.quotes(AAPL, T, T + 9 * MINUTE)) == 2
    assert await market.quote(CALL, T) is None
    with pytest.raises(InvalidInput):
        market.tell(AAPL, Decimal("NaN"), T)


async def test_announced_prices_of_a_file_are_known_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "new" / "told.jsonl"
    no_expiry = CALL.model_copy(update={"expiry": None})
    market = AnnouncedPrices(path)
    for _ in range(2):  # what is told again is not written again
        market.tell(AAPL, Decimal("264.10"), T)
        market.tell(CALL, Decimal("3.1"), T)
        market.tell(no_expiry, Decimal("2.5"), T)
    await market.close()
    assert len(path.read_text().splitlines()) == 3
    for again in (open_market(f"announced:{path}"), ReplayMarket(path)):
        quotes = [await again.quote(instrument, T) for instrument in (AAPL, CALL, no_expiry)]
        assert [quote and quote.bid for quote in quotes] == [Decimal("264.10"), Decimal("3.1"), Decimal("2.5")]
        await again.close()


async def test_a_line_that_was_cut_off_by_a_kill_is_told_again(tmp_path: Path) -> None:
    path = tmp_path / "told.jsonl"
    market = AnnouncedPrices(path)
    market.tell(AAPL, Decimal("264"), T)
    await market.close()
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:20])
    market = AnnouncedPrices(path)
    market.tell(AAPL, Decimal("265"), T + MINUTE)
    await market.close()
    assert [json.loads(line)["price"] for line in path.read_text().splitlines()] == ["264", "265"]


def test_a_told_price_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "told.jsonl"
    code = (
        "import os, signal, sys; from pathlib import Path; from decimal import Decimal; "
        "from datetime import datetime, UTC; from taat.market import AnnouncedPrices; "
        "from taat.models import Instrument; m = AnnouncedPrices(Path(sys.argv[1])); "
        "m.tell(Instrument(symbol='AAPL'), Decimal('264'), datetime(2026, 3, 2, 15, tzinfo=UTC)); "
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], env=dict(os.environ), check=False)
    assert done.returncode == -signal.SIGKILL
    quote = asyncio.run(ReplayMarket(path).quote(AAPL, T))
    assert quote is not None
    assert quote.ask == 264


def test_symbols_of_options() -> None:
    assert occ_symbol(CALL) == "AAPL260320C00265000"
    put = CALL.model_copy(update={"symbol": "F", "strike": Decimal("12.5"), "right": "put"})
    assert occ_symbol(put) == "F260320P00012500"
    assert option_of(occ_symbol(put)) == put
    assert option_of("AAPL") is option_of("AAPL261320C00265000") is None
    with pytest.raises(InvalidInput, match="no expiry"):
        occ_symbol(CALL.model_copy(update={"expiry": None}))
    with pytest.raises(InvalidInput, match="strike that no listed option has"):
        occ_symbol(CALL.model_copy(update={"strike": Decimal("0.0001")}))


@pytest.mark.parametrize("instrument", [AAPL, CALL, Instrument(symbol="BTC", asset=AssetClass.CRYPTO)])
def test_keys_of_instruments(instrument: Instrument) -> None:
    assert instrument_of(instrument_key(instrument)) == instrument
