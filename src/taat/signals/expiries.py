"""Expiry dates as announcers write them; what a date leaves out comes from the day of the post."""

import re
from datetime import UTC, date, datetime, timedelta

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
EXPIRY = (
    r"(?:\d{1,2}/\d{1,2}(?:/(?:20)?\d{2})?(?![\d/])|\d{1,2}-\d{1,2}-(?:20)?\d{2}(?!\d)|20\d\d-\d\d-\d\d"
    rf"|{_MONTH}\.?\s?\d{{1,2}}(?:st|nd|rd|th)?'?(?![\d.])(?:,?\s?(?:20\d\d|'\d\d))?"
    rf"|\d{{1,2}}\s?{_MONTH}\s?(?:'?\d\d|20\d\d)?(?![\d.])|{_MONTH}\.?\s?(?:20\d\d|'\d\d)|{_MONTH}\b"
    r"|\d{1,2}\s?dte|(?:this |next )?fri(?:day)?s?\b|next week\b|this week\b|weekl(?:y|ies)|eow|tomorrow|today)"
)
_NUMERIC = re.compile(r"(\d{1,2})[/-](\d{1,2})(?:[/-](?:20)?(\d{2}))?$")
_ISO = re.compile(r"(20\d\d)-(\d\d)-(\d\d)$")
_MONTH_DAY = re.compile(rf"({_MONTH})\.?\s?(\d{{1,2}})(?:st|nd|rd|th)?'?(?:,?\s?(?:20|')(\d\d))?$")
_DAY_MONTH = re.compile(rf"(\d{{1,2}})\s?({_MONTH})\s?(?:'|20)?(\d\d)?$")
_MONTH_YEAR = re.compile(rf"({_MONTH})\.?\s?(?:20|')?(\d\d)?$")
_DAYS = re.compile(r"(\d{1,2})\s?dte$")
LATE = timedelta(days=3)
"""How long after an expiry a post may still speak of it."""


def trading_day(moment: datetime) -> date:
    """Return the day of a post on the American exchanges: until 05:00 UTC it is the day before."""
    return ((moment.astimezone(UTC) if moment.tzinfo else moment) - timedelta(hours=5)).date()


def _third_friday(year: int, month: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=(4 - first.weekday()) % 7 + 14)


def _valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _coming(month: int, day: int, today: date) -> date | None:
    """Return the next such day, or the last one when it has only just passed."""
    this_year = _valid(today.year, month, day)
    if this_year is not None and this_year >= today - LATE:
        return this_year
    return _valid(today.year + 1, month, day)


def _month_day(month: int, day: int, year: str | None, today: date) -> date | None:
    return _valid(2000 + int(year), month, day) if year else _coming(month, day, today)


def expiry(text: str, today: date) -> date | None:
    """Return the date that an expiry means for a post of a day; ``None`` when there is no such date."""
    text = text.strip().lower()
    if match := _NUMERIC.match(text):
        return _month_day(int(match[1]), int(match[2]), match[3], today)
    if match := _ISO.match(text):
        return _valid(int(match[1]), int(match[2]), int(match[3]))
    if match := _DAYS.match(text):
        return _trading_days_later(today, int(match[1]))
    if match := _MONTH_DAY.match(text):
        return _month_day(_month(match[1]), int(match[2]), match[3], today)
    if match := _DAY_MONTH.match(text):
        return _month_day(_month(match[2]), int(match[1]), match[3], today)
    if match := _MONTH_YEAR.match(text):
        month = _month(match[1])
        if match[2]:
            return _third_friday(2000 + int(match[2]), month)
        coming = _third_friday(today.year, month)
        return coming if coming >= today - LATE else _third_friday(today.year + 1, month)
    return _by_name(text, today)


def _by_name(text: str, today: date) -> date | None:
    if text == "today":
        return today
    if text == "tomorrow":
        return _trading_days_later(today, 1)
    friday = today + timedelta(days=(4 - today.weekday()) % 7)
    return friday + timedelta(days=7) if text.startswith("next") else friday


def _trading_days_later(today: date, days: int) -> date:
    day = today + timedelta(days=days)
    return day + timedelta(days={5: 2, 6: 1}.get(day.weekday(), 0))


def _month(name: str) -> int:
    return _MONTHS.index(name[:3]) + 1
