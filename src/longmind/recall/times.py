"""Time expressions in a question: "last May", "three weeks ago", "on 27 June, 2023", "before 2022".

A cheap pattern decides whether a question names a time at all; only then are dates read (absolute ones by dateutil,
relative ones by counting back from now). The answer is a span of time: a day, a week, a month, a year, or what lies
before or after one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "couple of": 2, "a couple of": 2, "three": 3, "few": 3, "a few": 3,
    "several": 4, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12,
}  # fmt: skip
_COUNT = r"\d{1,4}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
_GATE = re.compile(
    r"\d|\b(?:last|this|ago|yesterday|today|tonight|past|previous|" + "|".join(_DAYS) + "|" + _MONTH + r")\b",
    re.IGNORECASE,
)
_DAY_DATE = re.compile(
    rf"\b(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})\b\.?(?:,? \d{{4}})?"
    rf"|(?:{_MONTH})\b\.? \d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,? \d{{4}})?)",
    re.IGNORECASE,
)
_MONTH_DATE = re.compile(
    rf"\b(?:(?P<when>last|this) )?(?:(?P<season>spring|summer|fall|autumn|winter)|(?P<month>{_MONTH}))\b"
    rf"(?:(?: of|,)? (?P<year>(?:19|20)\d{{2}}))?",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_YEAR_LEADS = re.compile(r"\b(?:in|during|since|before|after|until|of|by|year)\s+$", re.IGNORECASE)
_AGO = re.compile(rf"\b({_COUNT}) (day|week|month|year)s? ago\b", re.IGNORECASE)
_WITHIN = re.compile(rf"\b(?:last|past|previous) (?:({_COUNT}) )?(day|week|weekend|month|year)(s?)\b", re.IGNORECASE)
_THIS = re.compile(r"\bthis (week|weekend|month|year)\b|\b(today|tonight|yesterday)\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(?:last|on|this past) (" + "|".join(_DAYS) + r")\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(before|until|prior to|earlier than|by)\s+(?:the\s+)?$", re.IGNORECASE)
_AFTER = re.compile(r"\b(after|since|later than|from)\s+(?:the\s+)?$", re.IGNORECASE)
_LEADS = re.compile(r"\b(?:in|during|since|before|after|until|by)$")

Days = timedelta


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time a question asks about; open at one end for "before" and "after"."""

    since: datetime | None
    until: datetime | None
    said: str
    sure: float = 1.0
    """How sure it is that this is the time asked about: a date that had to be looked up is less so."""

    def holds(self, moment: datetime) -> bool:
        return (self.since is None or self.since <= moment) and (self.until is None or moment < self.until)


def span_in(text: str, now: datetime) -> Span | None:
    """The first time a question names, as seen from now; None when it names none."""
    if len(text) > 2_000 or not _GATE.search(text):
        return None
    for read in (_absolute_day, _ago, _within, _this, _weekday, _month_or_season, _year):
        try:
            found = read(text, now)
        except (ValueError, OverflowError):  # a date that does not exist, such as 31 June
            continue
        if found is not None:
            match, since, until = found
            return _directed(text, match, since, until)
    return None


Reading = tuple[re.Match[str], datetime, datetime] | None


def _directed(text: str, match: re.Match[str], since: datetime, until: datetime) -> Span:
    head, said = text[: match.start()], match.group().strip()
    if _BEFORE.search(head):
        return Span(None, since, f"before {said}")
    if _AFTER.search(head):
        return Span(since, None, f"after {said}")
    return Span(since, until, said)


def _absolute_day(text: str, now: datetime) -> Reading:
    match = _DAY_DATE.search(text)
    if match is None:
        return None
    from dateutil.parser import ParserError, parse

    try:
        day = parse(match.group(), default=datetime(now.year, 1, 1)).replace(tzinfo=UTC)  # noqa: DTZ001
    except ParserError:
        return None
    if not re.search(r"\d{4}", match.group()) and day > now:
        day = day.replace(year=day.year - 1)
    return match, day, day + Days(days=1)


def _month_or_season(text: str, now: datetime) -> Reading:
    for match in _MONTH_DATE.finditer(text):
        when, year = (match.group("when") or "").lower(), match.group("year")
        name = (match.group("month") or "").lower()
        # "may" and "march" are words too, and so is "fall": alone they name no time
        lead = text[: match.start()].rstrip().lower()
        if not year and not when and not _LEADS.search(lead):
            continue
        months = 1 if name else 3
        number = _months().index(name[:3]) + 1 if name else _SEASONS[match.group("season").lower()]
        begin = datetime(int(year) if year else now.year, number, 1, tzinfo=UTC)
        if not year and (begin > now or (when == "last" and _later(begin, months) > now)):
            begin = begin.replace(year=begin.year - 1)
        return match, begin, _later(begin, months)
    return None


def _year(text: str, now: datetime) -> Reading:
    for match in _YEAR.finditer(text):
        if _YEAR_LEADS.search(text[: match.start()]):
            begin = datetime(int(match.group()), 1, 1, tzinfo=UTC)
            return match, begin, begin.replace(year=begin.year + 1)
    return None


def _ago(text: str, now: datetime) -> Reading:
    match = _AGO.search(text)
    if match is None:
        return None
    unit = match.group(2).lower()
    middle = _back(now, _number(match.group(1)), unit)
    if unit == "day":
        return match, _midnight(middle), _midnight(middle) + Days(days=1)
    slack = {"week": Days(days=4), "month": Days(days=16), "year": Days(days=183)}[unit]
    return match, middle - slack, middle + slack


def _within(text: str, now: datetime) -> Reading:
    match = _WITHIN.search(text)
    if match is None:
        return None
    count, unit = _number(match.group(1) or "one"), match.group(2).lower()
    if unit == "weekend":
        saturday = _midnight(now) - Days(days=(now.weekday() - 5) % 7 + (7 if now.weekday() >= 5 else 0))
        return match, saturday, saturday + Days(days=2)
    if match.group(1) or match.group(3):
        return match, _back(now, count, unit), now
    begin = _begin(_back(now, 1, unit), unit)
    return match, begin, _begin(now, unit)


def _this(text: str, now: datetime) -> Reading:
    match = _THIS.search(text)
    if match is None:
        return None
    if match.group(2):
        day = _midnight(now) - Days(days=1 if match.group(2).lower() == "yesterday" else 0)
        return match, day, day + Days(days=1)
    unit = match.group(1).lower()
    if unit == "weekend":
        saturday = _midnight(now) - Days(days=(now.weekday() - 5) % 7)
        return match, saturday, saturday + Days(days=2)
    return match, _begin(now, unit), now + Days(days=1)


def _weekday(text: str, now: datetime) -> Reading:
    match = _WEEKDAY.search(text)
    if match is None:
        return None
    back = (now.weekday() - _DAYS.index(match.group(1).lower())) % 7 or 7
    day = _midnight(now) - Days(days=back)
    return match, day, day + Days(days=1)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word.lower()]


def _months() -> tuple[str, ...]:
    return ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _begin(moment: datetime, unit: str) -> datetime:
    day = _midnight(moment)
    if unit == "week":
        return day - Days(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day.replace(month=1, day=1) if unit == "year" else day


def _back(moment: datetime, count: int, unit: str) -> datetime:
    from dateutil.relativedelta import relativedelta

    steps = {"days": 0, "weeks": 0, "months": 0, "years": 0} | {unit + "s": count}
    return moment - relativedelta(
        days=steps["days"], weeks=steps["weeks"], months=steps["months"], years=steps["years"]
    )


def _later(begin: datetime, months: int) -> datetime:
    month = begin.month - 1 + months
    return begin.replace(year=begin.year + month // 12, month=month % 12 + 1)
