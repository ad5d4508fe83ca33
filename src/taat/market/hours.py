"""When markets are open: sessions with half days and holidays.

Stocks, options and indices follow the New York Stock Exchange, futures those of Chicago (CME Globex). Currencies are
traded from Sunday 17:00 to Friday 17:00 in New York, crypto always.
"""

import threading
import warnings
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from longmind import InvalidInput
from taat.models import AssetClass, Instrument

NEW_YORK = ZoneInfo("America/New_York")
_CALENDARS = {
    AssetClass.STOCK: "XNYS",
    AssetClass.OPTION: "XNYS",
    AssetClass.INDEX: "XNYS",
    AssetClass.FUTURE: "CMES",
}
_CURRENCIES_CHANGE_DAY = time(17)
_FRIDAY = 4
_building = threading.Lock()


@dataclass(frozen=True, slots=True)
class Session:
    """The time from an opening to a closing; the moment of the closing is no part of it."""

    opens: datetime
    closes: datetime


def session(instrument: Instrument, at: datetime) -> Session:
    """Return the session that a moment is in, or the next one when the market is closed."""
    if at.tzinfo is None:
        raise InvalidInput("The moment has no time zone.")
    if instrument.asset is AssetClass.CRYPTO:
        midnight = datetime.combine(at.astimezone(UTC).date(), time(), UTC)
        return Session(midnight, midnight + timedelta(days=1))
    if instrument.asset is AssetClass.FOREX:
        return _currency_session(at)
    calendar = _CALENDARS[instrument.asset]
    year = at.astimezone(UTC).year
    # the first session of a year may open on the last evening of the year before
    for asked in (year, year + 1):
        sessions = _sessions(calendar, asked)
        place = bisect_right(sessions, at, key=lambda period: period.closes)
        if place < len(sessions):
            break
    return sessions[place]


def is_open(instrument: Instrument, at: datetime) -> bool:
    """Return whether the market of an instrument is open at a moment."""
    return session(instrument, at).opens <= at


def next_open(instrument: Instrument, at: datetime) -> datetime:
    """Return the moment itself when the market is open, otherwise when it opens next."""
    return max(at, session(instrument, at).opens)


def session_close(instrument: Instrument, at: datetime) -> datetime:
    """Return when the present session closes, or the next one when the market is closed."""
    return session(instrument, at).closes


def trading_day(at: datetime) -> date:
    """Return the day in New York, which is the day that a day's loss is counted by."""
    return at.astimezone(NEW_YORK).date()


def day_start(day: date) -> datetime:
    """Return the moment a day in New York begins."""
    return datetime.combine(day, time(), NEW_YORK).astimezone(UTC)


def option_expiry(expiry: date) -> datetime:
    """Return the moment an option expires: 16:00 in New York."""
    return datetime.combine(expiry, time(16), NEW_YORK).astimezone(UTC)


def _currency_session(at: datetime) -> Session:
    local = at.astimezone(NEW_YORK)
    day = local.date() + timedelta(days=1 if local.time() >= _CURRENCIES_CHANGE_DAY else 0)
    while day.weekday() > _FRIDAY:
        day += timedelta(days=1)
    opens, closes = (datetime.combine(d, _CURRENCIES_CHANGE_DAY, NEW_YORK) for d in (day - timedelta(days=1), day))
    return Session(opens.astimezone(UTC), closes.astimezone(UTC))


def _sessions(calendar: str, year: int) -> tuple[Session, ...]:
    with _building:
        return _build(calendar, year)


@cache
def _build(calendar: str, year: int) -> tuple[Session, ...]:
    with warnings.catch_warnings():
        # exchange-calendars uses what the newest pandas warns of; it is not ours to mend
        warnings.simplefilter("ignore")
        try:
            # imported here because pandas takes most of a second
            import exchange_calendars
        except ImportError as error:
            raise InvalidInput(
                "Trading hours need the package exchange-calendars.", hint="pip install longmind[taat]"
            ) from error
        try:
            made = exchange_calendars.get_calendar(calendar, start=f"{year}-01-01", end=f"{year}-12-31")
        except (ValueError, OverflowError) as error:
            raise InvalidInput(f"There are no trading hours of the year {year}.") from error
        return tuple(
            Session(opens.to_pydatetime().astimezone(UTC), closes.to_pydatetime().astimezone(UTC))
            for opens, closes in zip(made.opens, made.closes, strict=True)
        )
