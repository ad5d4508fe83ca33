"""The forms of announcements with spacing, case, order, separators and numbers varied."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from taat.models import AssetClass, Level, Post, Price
from taat.signals import read_post

POSTED = datetime(2023, 6, 14, 15, tzinfo=UTC)
SYMBOLS = st.sampled_from(["AAPL", "TSLA", "SPY", "QQQ", "NVDA", "BABA", "COIN", "MSFT", "SPX", "F", "XYZQ", "ZVRA"])
INDICES = st.sampled_from(["$SPX", "$NDX", "$ES", "/ES", "$NQ_F", "NQ", "SPX", "$RTY", "DAX"])
SPACES = st.sampled_from([" ", "  "])
PRICES = st.decimals("0.05", "99", places=2)
STRIKES = st.decimals("1", "5000", places=1).map(lambda value: value.normalize())
DAYS = st.integers(0, 300).map(lambda days: date(2023, 6, 14) + timedelta(days=days))
LEVELS = st.integers(3000, 16000)
ALERTS = st.sampled_from(["", "ALERT: ", "🚨 ", "Alert - ", "UPDATE: ", "📢 "])


def read(text: str) -> list[object]:
    return list(read_post(Post(id="1", author="a", text=text, created_at=POSTED)))


def cased(text: str, how: str) -> str:
    return {"same": text, "upper": text.upper(), "lower": text.lower()}[how]


CASES = st.sampled_from(["same", "upper", "lower"])


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_brokerage_codes(data: st.DataObject) -> None:
    symbol, strike, day, price = (data.draw(part) for part in (SYMBOLS, STRIKES, DAYS, PRICES))
    right = data.draw(st.sampled_from(["C", "P", "c", "p", " call", " put", " Calls", " PUTS"]))
    code, action, side = data.draw(
        st.sampled_from(
            [("BTO", "open", "long"), ("STC", "close", "long"), ("STO", "open", "short"), ("BTC", "close", "short")]
        )
    )
    count = data.draw(st.one_of(st.none(), st.integers(1, 500)))
    gap, sign = data.draw(SPACES), data.draw(st.sampled_from(["$", ""]))
    written = data.draw(st.sampled_from(["{0.month}/{0.day}", "{0:%m/%d}", "{0:%m/%d/%y}", "{0:%b} {0.day}"])).format(
        day
    )
    option = data.draw(st.sampled_from(["{s} {k}{r} {d}", "{s} {d} {k}{r}"]))
    named = option.format(s=sign + symbol, k=f"{strike:f}", r=right, d=written)
    at = data.draw(st.sampled_from(["@ ", "@", "at ", "@ $", "for "]))
    stop, target = data.draw(st.integers(5, 95)), data.draw(st.integers(5, 400))
    levels = data.draw(st.permutations([f"PT: {target}%", f"SL: {stop}%"]))
    ending = gap.join(levels) if code == "BTO" else ""
    parts = [code, *([str(count)] if count else []), named, f"{at}{price:f}", ending]
    text = gap.join(part for part in parts if part)
    if sign:
        text = cased(text, data.draw(CASES))
    (signal,) = read(text)
    assert (signal.action, signal.side) == (action, side), text
    assert (signal.instrument.symbol, signal.instrument.strike) == (symbol, strike), text
    assert signal.instrument.right == ("put" if right.strip()[0] in "pP" else "call"), text
    assert signal.instrument.expiry == day, text
    assert signal.price == Price(low=price, high=price), text
    assert (signal.quantity.value if signal.quantity else None) == count, text
    if code == "BTO":
        assert signal.stop == Level(value=Decimal(stop), unit="percent"), text
        assert signal.targets == (Level(value=Decimal(target), unit="percent"),), text
    assert text[signal.span.start : signal.span.end].strip() == text[signal.span.start : signal.span.end]


@settings(max_examples=200, deadline=None)
@given(ALERTS, INDICES, st.sampled_from(["short", "long"]), LEVELS, st.integers(2, 60), st.data())
def test_index_alerts(alert: str, symbol: str, side: str, level: int, points: int, data: st.DataObject) -> None:
    entry = data.draw(
        st.sampled_from(["IN {}", "in {}", "@ {}", "{}", "at {}", "IN @ {}", "in at {:,}", "{:,}", "{}s"])
    ).format(level)
    joint = data.draw(st.sampled_from([" - ", ", ", " with a ", " w/ ", " "]))
    stop = data.draw(
        st.sampled_from(["{} pt stop", "{}pt stop", "{} point stop", "{} handle stop", "{}pts stop", "stop {} pts"])
    ).format(points)
    text = alert + data.draw(st.sampled_from([f"{side} {symbol} {entry}", f"{symbol} {side} {entry}"])) + joint + stop
    (signal,) = read(text)
    assert (signal.action, signal.side) == ("open", side), text
    assert signal.instrument.symbol == symbol.strip("$/").removesuffix("_F"), text
    assert signal.price == Price(low=Decimal(level), high=Decimal(level)), text
    assert signal.stop == Level(value=Decimal(points), unit="points"), text


@settings(max_examples=150, deadline=None)
@given(ALERTS, INDICES, st.sampled_from(["short", "long"]), LEVELS, st.integers(2, 60), CASES)
def test_stopped_and_entered_again(alert: str, symbol: str, side: str, level: int, points: int, case: str) -> None:
    text = cased(f"{alert}flat stopped {symbol}, re-entry {side} IN {level} - {points} pt stop", case)
    stopped, opened = read(text)
    assert (stopped.action, stopped.side) == ("stopped_out", side), text
    assert (opened.action, opened.side) == ("open", side), text
    assert opened.price == Price(low=Decimal(level), high=Decimal(level)), text
    assert opened.stop == Level(value=Decimal(points), unit="points"), text
    assert opened.instrument == stopped.instrument


@settings(max_examples=150, deadline=None)
@given(INDICES, LEVELS, st.integers(5, 900), st.booleans(), st.data())
def test_scales_with_entry_and_exit(symbol: str, entry: int, gain: int, rises: bool, data: st.DataObject) -> None:
    scale = data.draw(st.sampled_from(["1st", "2nd", "3rd", "first", "second", "another"]))
    left = entry + gain if rises else entry - gain
    ending = data.draw(
        st.sampled_from(["IN {} OUT {}", "in {} out {}", "IN @ {}, OUT @ {}", "in {:,} / out {:,}", "from {} to {}"])
    )
    text = f"Closed {scale} scale {symbol} " + ending.format(entry, left)
    (signal,) = read(text)
    assert (signal.action, signal.side) == ("reduce", "long" if rises else "short"), text
    assert signal.entry_price == Price(low=Decimal(entry), high=Decimal(entry)), text
    assert signal.price == signal.exit_price == Price(low=Decimal(left), high=Decimal(left)), text


@settings(max_examples=150, deadline=None)
@given(SYMBOLS, PRICES, st.data())
def test_prose(symbol: str, price: Decimal, data: st.DataObject) -> None:
    verb = data.draw(
        st.sampled_from(["took {} off my", "sold {} of my", "Just took {} off", "Trimmed {} of my", "I sold {} of"])
    )
    part, share = data.draw(
        st.sampled_from([("half", "0.5"), ("1/2", "0.5"), ("50%", "0.5"), ("a third", "0.3333"), ("1/4", "0.25")])
    )
    where = data.draw(st.sampled_from(["here at {}", "at {}", "@ {}", "at ${}", "here @ {}"])).format(f"{price:f}")
    ending = data.draw(st.sampled_from(["", ".", "!", " 🚀", " Letting the rest run."]))
    text = f"{verb.format(part)} ${symbol} {where}{ending}"
    (signal,) = read(text)
    assert (signal.action, signal.instrument.symbol) == ("reduce", symbol), text
    assert signal.instrument.asset in (AssetClass.STOCK, AssetClass.INDEX)
    assert signal.quantity.value == Decimal(share), text
    assert signal.price == Price(low=price, high=price), text


WORDS = st.sampled_from(
    "bto sold half $AAPL 190c 7/21 @ 3.10 stop sl tp 10 pt % 1/2 out in flat long short scale"
    " 4313 - , . ? ! \n the rest of my to be"
    " 4,313.50 .85 25k $ES /NQ BTCUSDT eur/usd avg from & + trimmed added calls puts 0dte x10"
    " 100 shares @joe http://t.co/x RT".split(" ")
)


@settings(max_examples=400, deadline=None)
@given(st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=280))
def test_any_text_is_read_without_error_and_spans_lie_in_it(text: str) -> None:
    for signal in read(text):
        assert 0 <= signal.span.start < signal.span.end <= len(text)
        assert 0.4 <= signal.confidence <= 0.99
