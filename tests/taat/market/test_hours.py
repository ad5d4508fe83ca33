"""Sessions, holidays and half days."""

import sys
from datetime import UTC, date, datetime, timedelta

import pytest

from longmind import InvalidInput
from taat.market import hours
from taat.models import AssetClass, Instrument

STOCK = Instrument(symbol="AAPL")
OPTION = Instrument(symbol="AAPL", asset=AssetClass.OPTION)
INDEX = Instrument(symbol="SPX", asset=AssetClass.INDEX)
FUTURE = Instrument(symbol="ES", asset=AssetClass.FUTURE)
CRYPTO = Instrument(symbol="BTC", asset=AssetClass.CRYPTO)
FOREX = Instrument(symbol="EURUSD", asset=AssetClass.FOREX)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type]


@pytest.mark.parametrize("instrument", [STOCK, OPTION, INDEX])
@pytest.mark.parametrize(
    ("at", "is_open", "opens"),
    [
        (utc(2026, 3, 2, 14, 29, 59), False, utc(2026, 3, 2, 14, 30)),
        (utc(2026, 3, 2, 14, 30), True, utc(2026, 3, 2, 14, 30)),
        (utc(2026, 3, 2, 20, 59, 59), True, utc(2026, 3, 2, 20, 59, 59)),
        (utc(2026, 3, 2, 21), False, utc(2026, 3, 3, 14, 30)),
        (utc(2026, 3, 9, 13, 30), True, utc(2026, 3, 9, 13, 30)),  # summer time began the day before
        (utc(2026, 3, 6, 21), False, utc(2026, 3, 9, 13, 30)),  # over a weekend
        (utc(2026, 4, 3, 15), False, utc(2026, 4, 6, 13, 30)),  # Good Friday
        (utc(2026, 11, 27, 17, 59), True, utc(2026, 11, 27, 17, 59)),
        (utc(2026, 11, 27, 18), False, utc(2026, 11, 30, 14, 30)),  # a half day after Thanksgiving
        (utc(2026, 12, 31, 22), False, utc(2027, 1, 4, 14, 30)),  # over the turn of the year
    ],
)
def test_stocks_options_and_indices(instrument: Instrument, at: datetime, is_open: bool, opens: datetime) -> None:
    assert hours.is_open(instrument, at) is is_open
    assert hours.next_open(instrument, at) == opens


def test_a_session_closes_early_on_a_half_day() -> None:
    assert hours.session_close(STOCK, utc(2026, 11, 27, 15)) == utc(2026, 11, 27, 18)
    assert hours.session_close(STOCK, utc(2026, 11, 27, 19)) == utc(2026, 11, 30, 21)


def test_crypto_is_always_open() -> None:
    at = utc(2026, 12, 25, 3)
    assert hours.is_open(CRYPTO, at)
    assert hours.next_open(CRYPTO, at) == at
    assert hours.session_close(CRYPTO, at) == utc(2026, 12, 26)


def test_currencies_are_open_from_sunday_to_friday_evening() -> None:
    assert hours.is_open(FOREX, utc(2026, 3, 6, 21, 59))
    assert not hours.is_open(FOREX, utc(2026, 3, 6, 22))
    assert not hours.is_open(FOREX, utc(2026, 3, 8, 20, 59))
    assert hours.next_open(FOREX, utc(2026, 3, 7, 12)) == utc(2026, 3, 8, 21)
    assert hours.is_open(FOREX, utc(2026, 3, 8, 21))
    assert hours.session_close(FOREX, utc(2026, 3, 4, 12)) == utc(2026, 3, 4, 22)


def test_futures_open_on_the_evening_before() -> None:
    assert hours.is_open(FUTURE, utc(2026, 3, 3, 3))
    assert not hours.is_open(FUTURE, utc(2026, 3, 7, 12))
    assert hours.next_open(FUTURE, utc(2026, 3, 7, 12)) == utc(2026, 3, 8, 22)


def test_every_moment_of_a_fortnight_is_in_the_session_it_is_given() -> None:
    at = utc(2026, 3, 1)
    for _ in range(14 * 24):
        for instrument in (STOCK, FUTURE, CRYPTO, FOREX):
            period = hours.session(instrument, at)
            assert period.opens < period.closes
            assert at < period.closes
        at += timedelta(hours=1)


def test_days_and_expiries_are_those_of_new_york() -> None:
    assert hours.trading_day(utc(2026, 3, 3, 4, 59)) == date(2026, 3, 2)
    assert hours.day_start(date(2026, 3, 3)) == utc(2026, 3, 3, 5)
    assert hours.option_expiry(date(2026, 3, 20)) == utc(2026, 3, 20, 20)


def test_without_the_calendars_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "exchange_calendars", None)
    with pytest.raises(InvalidInput) as caught:
        hours.is_open(STOCK, utc(1999, 3, 2))
    assert caught.value.hint == "pip install longmind[taat]"


def test_a_moment_has_a_zone() -> None:
    with pytest.raises(InvalidInput, match="no time zone"):
        hours.is_open(STOCK, datetime(2026, 3, 2))  # noqa: DTZ001
