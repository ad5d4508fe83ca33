"""How long something lasts that a statement says holds for a time: "for two weeks", "until Friday", "this month"."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from longmind.text.dates import TIME_PHRASE, resolve_phrase
from longmind.text.vocabulary import MONTHS, NUMBER_WORDS, WEEKDAYS

_ROUGHLY = {"a": 1, "an": 1, "a couple of": 2, "couple of": 2, "a few": 3, "few": 3, "several": 4}
_COUNTS = {**NUMBER_WORDS, **_ROUGHLY}
_COUNT = r"\d{1,3}|" + "|".join(sorted(_COUNTS, key=len, reverse=True))
_DAYS = {"hour": 1 / 24, "day": 1, "night": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}
_DURATION = re.compile(
    rf"\b(?:for |another |next |the next |only )+(?:about |around |just |like )?(?:(?P<n>{_COUNT})(?: more)? )?"
    r"(?P<unit>hour|day|night|week|fortnight|month|year)s?\b",
    re.IGNORECASE,
)
_SPAN = re.compile(r"\b(?:this|the) (?P<unit>week|weekend|month|year)\b", re.IGNORECASE)
_UNTIL = re.compile(r"\b(?:un)?til+\b|\bthrough\b|\bup to\b", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)}|mon|tues?|wed|thurs?|fri|sat|sun)\b", re.IGNORECASE)
_MONTH = re.compile(rf"\b({'|'.join(MONTHS)})\b", re.IGNORECASE)
_DAY_OF_MONTH = re.compile(r"\b(?:the )?(\d{1,2})(?:st|nd|rd|th)\b", re.IGNORECASE)
_END_OF = re.compile(r"\bend of (?:the |this )?(week|month|year)\b", re.IGNORECASE)


def resolve_duration(words: str) -> timedelta | None:
    """Return the length of time that words name; None if they name none."""
    match = _DURATION.search(words)
    if match is None:
        return None
    count = match["n"]
    number = 1 if count is None else int(count) if count.isdigit() else _COUNTS[count.lower()]
    return timedelta(days=number * _DAYS[match["unit"].lower()])


def resolve_end(words: str, said_at: datetime) -> datetime | None:
    """Return until when something holds, given when it was said; None if the words name no date."""
    if (length := resolve_duration(words)) is not None:
        return said_at + length
    today = said_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        end = _day_named(words, today, said_at)
    except ValueError:  # a day that the month does not have
        return None
    return end if end is not None and end > said_at else None


def _day_named(words: str, today: datetime, said_at: datetime) -> datetime | None:
    """Return the midnight after the last day that is meant."""
    if match := _END_OF.search(words) or _SPAN.search(words):
        return _after(match[1].lower(), today)
    if match := TIME_PHRASE.search(words):
        named = resolve_phrase(match, said_at).start
        if named is not None:
            return named + timedelta(days=1) if named >= today else None
    if re.search(r"\b(?:tomorrow|tmrw|tmr)\b", words, re.IGNORECASE):
        return today + timedelta(days=2)
    if match := _WEEKDAY.search(words):
        number = next(n for n, day in enumerate(WEEKDAYS) if day.startswith(match[1].lower()[:3]))
        return today + timedelta(days=(number - today.weekday()) % 7 or 7) + timedelta(days=1)
    if match := _DAY_OF_MONTH.search(words):
        day = int(match[1])
        month = today if day >= today.day else _next_month(today)
        return month.replace(day=day) + timedelta(days=1)
    if (match := _MONTH.search(words)) and _UNTIL.search(words):
        number = MONTHS.index(match[1].lower()) + 1
        return today.replace(year=today.year + (number <= today.month), month=number, day=1)
    return None


def _after(unit: str, today: datetime) -> datetime:
    if unit in ("week", "weekend"):
        return today + timedelta(days=7 - today.weekday())
    return _next_month(today) if unit == "month" else today.replace(year=today.year + 1, month=1, day=1)


def _next_month(today: datetime) -> datetime:
    year, month = divmod(today.year * 12 + today.month, 12)
    return today.replace(year=year, month=month + 1, day=1)
