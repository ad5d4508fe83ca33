"""The time that a statement names, and days written as words.

A statement is read for a date to keep: "last Friday", said on a Wednesday, is "5 May 2023". A fact must not claim a day
that nobody named: "three weeks ago" is a month. The time that a question asks about is read more generously
(``time_spans``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from longmind.text.calendar import add_months, midnight
from longmind.text.periods import DAY_IN_DIGITS, PART_OF_PERIOD, SEASON, read_day, read_part
from longmind.text.vocabulary import MONTH_NAMES, MONTHS, NUMBER_WORDS, WEEKDAYS


def format_day(day: date) -> str:
    """Write a day in English on every system, such as "3 May 2024"."""
    return f"{day.day} {format_month(day)}"


def format_month(day: date) -> str:
    """Write a month in English on every system, such as "May 2024"."""
    return f"{MONTH_NAMES[day.month - 1]} {day.year}"


_COUNTS = {"a": 1, "an": 1, "a couple of": 2} | {word: n for word, n in NUMBER_WORDS.items() if n <= 10}
_COUNT = "|".join(sorted(_COUNTS, key=len, reverse=True)) + r"|\d{1,3}"
_MONTH = "|".join(MONTHS)
_DAY = f"{'|'.join(WEEKDAYS)}|mon|tues?|wed|thurs?|fri|sat|sun"
_SHORT_DAYS = {short: day for day in WEEKDAYS for short in (day, day[:3], day[:4], day[:5])}
_DAYS_AWAY = {"day before yesterday": -2, "yesterday": -1, "last night": -1, "tomorrow": 1, "day after tomorrow": 2}
TIME_PHRASE = re.compile(
    rf"""\b(?:
      (?P<fixed>(?:the\ )?day\ before\ yesterday|(?:the\ )?day\ after\ tomorrow|yesterday|today|tonight|tomorrow
        |last\ night|this\ (?:morning|afternoon|evening))
    | (?:(?:in|at|by|since)\ )?(?P<part>{PART_OF_PERIOD})
    | (?:on\ )?(?P<digits>{DAY_IN_DIGITS})
    | (?P<ago>(?P<n>{_COUNT})\ (?P<unit>day|week|month|year)s?\ ago)
    | (?P<which>last|next|this|this\ past|this\ coming)\ (?P<what>week|month|year|weekend|{SEASON}|{_DAY}|{_MONTH})
    | (?:on\ )?(?P<dmonth>{_MONTH})\ (?P<dday>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\ (?P<dyear>\d{{4}}))?\b
    | (?:on\ )?(?:the\ )?(?P<eday>\d{{1,2}})(?:st|nd|rd|th)?(?:\ of)?\ (?P<emonth>{_MONTH})(?:,?\ (?P<eyear>\d{{4}}))?
    | (?:back\ )?(?:in|since)\ (?P<month>{_MONTH})(?:,?\ (?P<myear>\d{{4}}))?
    | (?:back\ )?(?:in|since)\ (?P<year>(?:19|20)\d{{2}})
    | (?P<vague>recently|lately|the\ other\ day
        |(?:a\ )?(?:few|couple)\ (?:of\ )?(?:days|weeks|months|years)\ (?:ago|back)
        |(?:a|some)\ (?:while|time)\ (?:ago|back)|for\ (?:a\ while|ages|years)
        |for\ (?:(?:the|about|almost|over)\ )?(?:(?:past|last)\ )?(?:{_COUNT}|few|some)\ (?:day|week|month|year)s?
        |(?:over|during|at)\ the\ weekend|on\ (?:{_DAY})s?|these\ days|right\ now|at\ the\ moment|soon
        |(?:every|each)\ (?:day|week|month|year|morning|evening|night|weekend|{_DAY}|{SEASON}))
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""A phrase that says when: exact, relative to the day it was said, or too vague to be a date."""


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time that a statement names; both fields are None if it is too vague to be a date."""

    start: datetime | None = None
    text: str | None = None
    """The time in words that need no context: a day, a week, a month, a season or a year."""


def resolve_phrase(match: re.Match[str], said_at: datetime, *, ahead: bool = False) -> NamedTime:
    """Return the time that a match of ``TIME_PHRASE`` names, given when it was said.

    With ``ahead`` a day or a month without a year is the next one: a plan for January is not for the last one.
    """
    today = midnight(said_at.astimezone(UTC))
    try:
        return _resolve({name: part.lower() for name, part in match.groupdict().items() if part}, today, ahead)
    except (ValueError, OverflowError, KeyError, StopIteration):  # 31 June, the year 0, or a letter taken for another
        return NamedTime()


def _resolve(parts: dict[str, str], today: datetime, ahead: bool) -> NamedTime:
    if fixed := parts.get("fixed"):
        return _named_day(today + timedelta(days=_DAYS_AWAY.get(fixed.removeprefix("the "), 0)))
    if "part" in parts:
        period = read_part(parts, today)
        return NamedTime(period.since, period.name)
    if "digits" in parts:
        return _named_day(read_day(parts))
    if "ago" in parts:
        return _named_ago(today, _COUNTS.get(parts["n"]) or int(parts["n"]), parts["unit"])
    if "which" in parts:
        return _named_relative(today, parts["which"], parts["what"])
    for month, day, year in (("dmonth", "dday", "dyear"), ("emonth", "eday", "eyear")):
        if month in parts:
            number, day_number = MONTHS.index(parts[month]) + 1, int(parts[day])
            over = ahead and (number, day_number) < (today.month, today.day)
            year_number = int(parts[year]) if year in parts else today.year + over
            return _named_day(datetime(year_number, number, day_number, tzinfo=UTC))
    if "month" in parts:
        number = MONTHS.index(parts["month"]) + 1
        step = number < today.month if ahead else -(number > today.month)
        year_number = int(parts["myear"]) if "myear" in parts else today.year + step
        return _named_month(datetime(year_number, number, 1, tzinfo=UTC))
    if "year" in parts:
        return _named_year(int(parts["year"]))
    return NamedTime()


def _named_ago(today: datetime, count: int, unit: str) -> NamedTime:
    if unit == "day":
        return _named_day(today - timedelta(days=count))
    if unit == "week":
        day = today - timedelta(weeks=count)
        return _named_month(day) if count > 2 else _named_week(day)
    if unit == "month":
        return _named_month(add_months(today.replace(day=1), -count))
    return _named_year(today.year - count)


def _named_relative(today: datetime, which: str, what: str) -> NamedTime:
    step = {"last": -1, "next": 1, "this coming": 1}.get(which, 0)
    if weekday := _SHORT_DAYS.get(what):
        ahead = (WEEKDAYS.index(weekday) - today.weekday()) % 7
        if step < 0 or which == "this past":
            return _named_day(today + timedelta(days=ahead - 7 if ahead else -7))
        return _named_day(today + timedelta(days=ahead or 7 * step))
    if what == "week":
        return _named_week(today + timedelta(weeks=step) - timedelta(days=today.weekday()))
    if what == "weekend":
        weeks = -1 if which == "this past" else step
        saturday = today + timedelta(days=5 - today.weekday(), weeks=weeks)
        return NamedTime(saturday, f"the weekend of {format_day(saturday)}")
    if what == "month":
        return _named_month(add_months(today.replace(day=1), step))
    if what in MONTHS:
        number = MONTHS.index(what) + 1
        year = today.year + (step if step and (number - today.month) * step <= 0 else 0)
        return _named_month(datetime(year, number, 1, tzinfo=UTC))
    if what == "year":
        return _named_year(today.year + step)
    return NamedTime(None, f"{what} {today.year + step}")


def _named_day(day: datetime) -> NamedTime:
    return NamedTime(day, format_day(day))


def _named_week(day: datetime) -> NamedTime:
    return NamedTime(day, f"the week of {format_day(day)}")


def _named_month(day: datetime) -> NamedTime:
    return NamedTime(day.replace(day=1), format_month(day))


def _named_year(year: int) -> NamedTime:
    return NamedTime(datetime(year, 1, 1, tzinfo=UTC), str(year))
