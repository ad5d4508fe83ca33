"""When something happened: the time that a phrase names, told as a day, a month or a year."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "a couple of": 2,
}  # fmt: skip
_COUNT = "|".join(sorted(_COUNTS, key=len, reverse=True)) + r"|\d{1,3}"
_MONTH = "|".join(_MONTHS)
_DAY = "|".join(_DAYS) + "|mon|tues?|wed|thurs?|fri|sat|sun"
_SHORT_DAYS = {short: day for day in _DAYS for short in (day, day[:3], day[:4], day[:5])}
_SEASON = "spring|summer|autumn|fall|winter"
PHRASE = re.compile(
    rf"""\b(?:
      (?P<fixed>yesterday|today|tonight|tomorrow|last\ night|this\ (?:morning|afternoon|evening))
    | (?P<ago>(?P<n>{_COUNT})\ (?P<unit>day|week|month|year)s?\ ago)
    | (?P<which>last|next|this|this\ past|this\ coming)\ (?P<what>week|month|year|weekend|{_SEASON}|{_DAY}|{_MONTH})
    | (?:on\ )?(?P<dmonth>{_MONTH})\ (?P<dday>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\ (?P<dyear>\d{{4}}))?\b
    | (?:on\ )?(?:the\ )?(?P<eday>\d{{1,2}})(?:st|nd|rd|th)?(?:\ of)?\ (?P<emonth>{_MONTH})(?:,?\ (?P<eyear>\d{{4}}))?
    | (?:back\ )?(?:in|since)\ (?P<month>{_MONTH})(?:,?\ (?P<myear>\d{{4}}))?
    | (?:back\ )?(?:in|since)\ (?P<year>(?:19|20)\d{{2}})
    | (?P<vague>recently|lately|the\ other\ day
        |(?:a\ )?(?:few|couple)\ (?:of\ )?(?:days|weeks|months|years)\ (?:ago|back)
        |(?:a|some)\ (?:while|time)\ (?:ago|back)|for\ (?:a\ while|ages|years)
        |for\ (?:(?:the|about|almost|over)\ )?(?:(?:past|last)\ )?(?:{_COUNT}|few|some)\ (?:day|week|month|year)s?
        |(?:over|during|at)\ the\ weekend|on\ (?:{_DAY})s?|these\ days|right\ now|at\ the\ moment|soon
        |(?:every|each)\ (?:day|week|month|year|morning|evening|night|weekend|{_DAY}|{_SEASON}))
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class When:
    """A time that was named: its beginning, and how it is told; both None if it is too vague to be a date."""

    start: datetime | None = None
    told: str | None = None


def when(match: re.Match[str], said_at: datetime) -> When:
    """The time that a phrase names, given when it was said."""
    day = said_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        return _when({k: v.lower() for k, v in match.groupdict().items() if v}, day)
    except (ValueError, OverflowError):  # 31 June, or before the year 1: a slip of the tongue names no time
        return When()


def _when(found: dict[str, str], day: datetime) -> When:
    if fixed := found.get("fixed"):
        return _day(day + timedelta(days={"yesterday": -1, "last night": -1, "tomorrow": 1}.get(fixed, 0)))
    if "ago" in found:
        number = _COUNTS.get(found["n"]) or int(found["n"])
        return _back(day, number, found["unit"])
    if "which" in found:
        return _relative(day, found["which"], found["what"])
    for month, date, year in (("dmonth", "dday", "dyear"), ("emonth", "eday", "eyear")):
        if month in found:
            stated = datetime(
                int(found.get(year, day.year)), _MONTHS.index(found[month]) + 1, int(found[date]), tzinfo=UTC
            )
            return _day(stated)
    if "month" in found:
        number = _MONTHS.index(found["month"]) + 1
        year_ = int(found["myear"]) if "myear" in found else day.year - (number > day.month)
        return _month(datetime(year_, number, 1, tzinfo=UTC))
    if "year" in found:
        return _year(int(found["year"]))
    return When()


def _back(day: datetime, number: int, unit: str) -> When:
    if unit == "day":
        return _day(day - timedelta(days=number))
    if unit == "week":
        return _month(day - timedelta(weeks=number)) if number > 2 else _day_about(day - timedelta(weeks=number))
    if unit == "month":
        months = day.year * 12 + day.month - 1 - number
        return _month(datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC))
    return _year(day.year - number)


def _relative(day: datetime, which: str, what: str) -> When:
    step = {"last": -1, "next": 1, "this coming": 1}.get(which, 0)
    if day_name := _SHORT_DAYS.get(what):
        ahead = (_DAYS.index(day_name) - day.weekday()) % 7
        if step < 0 or which == "this past":
            return _day(day + timedelta(days=ahead - 7 if ahead else -7))
        return _day(day + timedelta(days=ahead or 7 * step))
    if what == "week":
        return _day_about(day + timedelta(weeks=step) - timedelta(days=day.weekday()))
    if what == "weekend":
        weeks = -1 if which == "this past" else step
        saturday = day + timedelta(days=5 - day.weekday(), weeks=weeks)
        return When(saturday, f"the weekend of {saturday:%-d %B %Y}")
    if what == "month":
        months = day.year * 12 + day.month - 1 + step
        return _month(datetime(months // 12, months % 12 + 1, 1, tzinfo=UTC))
    if what in _MONTHS:
        number = _MONTHS.index(what) + 1
        year = day.year + (step if step and (number - day.month) * step <= 0 else 0)
        return _month(datetime(year, number, 1, tzinfo=UTC))
    if what == "year":
        return _year(day.year + step)
    return When(None, f"{what} {day.year + step}")


def _day(day: datetime) -> When:
    return When(day, f"{day:%-d %B %Y}")


def _day_about(day: datetime) -> When:
    return When(day, f"the week of {day:%-d %B %Y}")


def _month(day: datetime) -> When:
    return When(day.replace(day=1), f"{day:%B %Y}")


def _year(year: int) -> When:
    return When(datetime(year, 1, 1, tzinfo=UTC), str(year))
