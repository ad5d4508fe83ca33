"""Dates in texts: the time a question asks about, the time a statement names, and days written as words.

A question is answered with a span: "last May", "three weeks ago", "on 27 June, 2023" and "before 2022" each name a
stretch of time in which memories are looked for. A statement is read for a date to keep: "last Friday", said on a
Wednesday, is "5 May 2023". The two share the calendar and differ on purpose in how exact they are: a search has to be
generous about "three weeks ago", and a fact must not claim a day that nobody named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from longmind.text.vocabulary import MONTH_NAMES, MONTHS, NUMBER_WORDS, SEASON_STARTS, WEEKDAYS

MAX_QUESTION = 2_000
"""Characters of a question that is searched for a time; a longer text names many."""


def format_day(day: date) -> str:
    """Write a day in English on every system, such as "3 May 2024"."""
    return f"{day.day} {format_month(day)}"


def format_month(day: date) -> str:
    """Write a month in English on every system, such as "May 2024"."""
    return f"{MONTH_NAMES[day.month - 1]} {day.year}"


# -- the time a question asks about ----------------------------------------------------------------------------------

_ANY_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    "nov(?:ember)?|dec(?:ember)?"
)
_SHORT_MONTHS = tuple(month[:3] for month in MONTHS)
_ROUGH_COUNTS = {**NUMBER_WORDS, "a": 1, "an": 1, "couple of": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 4}
_ROUGH_COUNT = r"\d{1,4}|" + "|".join(sorted(_ROUGH_COUNTS, key=len, reverse=True))
_ANY_WEEKDAY = "|".join(WEEKDAYS)
_MAY_NAME_A_TIME = re.compile(
    rf"\d|\b(?:last|this|ago|yesterday|today|tonight|past|previous|{_ANY_WEEKDAY}|{_ANY_MONTH})\b", re.IGNORECASE
)
"""A cheap pattern that every text with a time matches; only then are dates read."""
_DAY_DATE = re.compile(
    rf"\b(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_ANY_MONTH})\b\.?(?:,? \d{{4}})?"
    rf"|(?:{_ANY_MONTH})\b\.? \d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,? \d{{4}})?)",
    re.IGNORECASE,
)
_MONTH_DATE = re.compile(
    rf"\b(?:(?P<when>last|this) )?(?:(?P<season>spring|summer|fall|autumn|winter)|(?P<month>{_ANY_MONTH}))\b"
    rf"(?:(?: of|,)? (?P<year>(?:19|20)\d{{2}}))?",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_YEAR_LEADS = re.compile(r"\b(?:in|during|since|before|after|until|of|by|year)\s+$", re.IGNORECASE)
_AGO = re.compile(rf"\b({_ROUGH_COUNT}) (day|week|month|year)s? ago\b", re.IGNORECASE)
_WITHIN = re.compile(
    rf"\b(?:last|past|previous) (?:({_ROUGH_COUNT}) )?(day|week|weekend|month|year)(s?)\b", re.IGNORECASE
)
_THIS = re.compile(r"\bthis (week|weekend|month|year)\b|\b(today|tonight|yesterday)\b", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b(?:last|on|this past) ({_ANY_WEEKDAY})\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(before|until|prior to|earlier than|by)\s+(?:the\s+)?$", re.IGNORECASE)
_AFTER = re.compile(r"\b(after|since|later than|from)\s+(?:the\s+)?$", re.IGNORECASE)
_LEADS = re.compile(r"\b(?:in|during|since|before|after|until|by)$")


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A span of time that a question asks about; open at one end for "before" and "after"."""

    since: datetime | None
    until: datetime | None
    text: str
    """The words that named it."""
    confidence: float = 1.0
    """How surely this is the time asked about; less than 1 for a date that was looked up in memory."""

    def holds(self, moment: datetime) -> bool:
        """Return whether a moment lies in the span."""
        return (self.since is None or self.since <= moment) and (self.until is None or moment < self.until)


_Reading = tuple[re.Match[str], datetime, datetime] | None


def find_span(question: str, now: datetime) -> TimeSpan | None:
    """Return the first time a question names, as seen from now; None if it names none."""
    if len(question) > MAX_QUESTION or not _MAY_NAME_A_TIME.search(question):
        return None
    for read in (_absolute_day, _ago, _within, _this, _weekday, _month_or_season, _year):
        try:
            reading = read(question, now)
        except (ValueError, OverflowError):  # a date that does not exist, such as 31 June
            continue
        except KeyError:  # a letter that only a pattern without case takes for another, such as the long s
            continue
        if reading is not None:
            match, since, until = reading
            return _with_direction(question, match, since, until)
    return None


def _with_direction(question: str, match: re.Match[str], since: datetime, until: datetime) -> TimeSpan:
    """Open the span at one end if "before" or "after" stands before the date."""
    lead, date_text = question[: match.start()], match.group().strip()
    if _BEFORE.search(lead):
        return TimeSpan(None, since, f"before {date_text}")
    if _AFTER.search(lead):
        return TimeSpan(since, None, f"after {date_text}")
    return TimeSpan(since, until, date_text)


def _absolute_day(question: str, now: datetime) -> _Reading:
    match = _DAY_DATE.search(question)
    if match is None:
        return None
    from dateutil.parser import ParserError, parse

    try:
        day = parse(match.group(), default=datetime(now.year, 1, 1)).replace(tzinfo=UTC)  # noqa: DTZ001
    except ParserError:
        return None
    if not re.search(r"\d{4}", match.group()) and day > now:
        day = day.replace(year=day.year - 1)
    return match, day, day + timedelta(days=1)


def _month_or_season(question: str, now: datetime) -> _Reading:
    for match in _MONTH_DATE.finditer(question):
        when, year = (match.group("when") or "").lower(), match.group("year")
        name = (match.group("month") or "").lower()
        # "may" and "march" are words too, and so is "fall": alone they name no time
        lead = question[: match.start()].rstrip().lower()
        if not year and not when and not _LEADS.search(lead):
            continue
        months = 1 if name else 3
        number = _SHORT_MONTHS.index(name[:3]) + 1 if name else SEASON_STARTS[match.group("season").lower()]
        begin = datetime(int(year) if year else now.year, number, 1, tzinfo=UTC)
        if not year and (begin > now or (when == "last" and _add_months(begin, months) > now)):
            begin = begin.replace(year=begin.year - 1)
        return match, begin, _add_months(begin, months)
    return None


def _year(question: str, now: datetime) -> _Reading:
    for match in _YEAR.finditer(question):
        if _YEAR_LEADS.search(question[: match.start()]):
            begin = datetime(int(match.group()), 1, 1, tzinfo=UTC)
            return match, begin, begin.replace(year=begin.year + 1)
    return None


def _ago(question: str, now: datetime) -> _Reading:
    match = _AGO.search(question)
    if match is None:
        return None
    unit = match.group(2).lower()
    middle = _subtract(now, _rough_count(match.group(1)), unit)
    if unit == "day":
        return match, _midnight(middle), _midnight(middle) + timedelta(days=1)
    slack = {"week": timedelta(days=4), "month": timedelta(days=16), "year": timedelta(days=183)}[unit]
    return match, middle - slack, middle + slack


def _within(question: str, now: datetime) -> _Reading:
    match = _WITHIN.search(question)
    if match is None:
        return None
    count, unit = _rough_count(match.group(1) or "one"), match.group(2).lower()
    if unit == "weekend":
        saturday = _midnight(now) - timedelta(days=(now.weekday() - 5) % 7 + (7 if now.weekday() >= 5 else 0))
        return match, saturday, saturday + timedelta(days=2)
    if match.group(1) or match.group(3):
        return match, _subtract(now, count, unit), now
    begin = _start_of(_subtract(now, 1, unit), unit)
    return match, begin, _start_of(now, unit)


def _this(question: str, now: datetime) -> _Reading:
    match = _THIS.search(question)
    if match is None:
        return None
    if match.group(2):
        day = _midnight(now) - timedelta(days=1 if match.group(2).lower() == "yesterday" else 0)
        return match, day, day + timedelta(days=1)
    unit = match.group(1).lower()
    if unit == "weekend":
        saturday = _midnight(now) - timedelta(days=(now.weekday() - 5) % 7)
        return match, saturday, saturday + timedelta(days=2)
    return match, _start_of(now, unit), now + timedelta(days=1)


def _weekday(question: str, now: datetime) -> _Reading:
    match = _WEEKDAY.search(question)
    if match is None:
        return None
    back = (now.weekday() - WEEKDAYS.index(match.group(1).lower())) % 7 or 7
    day = _midnight(now) - timedelta(days=back)
    return match, day, day + timedelta(days=1)


def _rough_count(word: str) -> int:
    return int(word) if word.isdigit() else _ROUGH_COUNTS[word.lower()]


# -- the time a statement names --------------------------------------------------------------------------------------

_COUNTS = {"a": 1, "an": 1, "a couple of": 2} | {word: n for word, n in NUMBER_WORDS.items() if n <= 10}
_COUNT = "|".join(sorted(_COUNTS, key=len, reverse=True)) + r"|\d{1,3}"
_MONTH = "|".join(MONTHS)
_DAY = f"{_ANY_WEEKDAY}|mon|tues?|wed|thurs?|fri|sat|sun"
_SHORT_DAYS = {short: day for day in WEEKDAYS for short in (day, day[:3], day[:4], day[:5])}
_SEASON = "spring|summer|autumn|fall|winter"
TIME_PHRASE = re.compile(
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
"""A phrase that says when: exact, relative to the day it was said, or too vague to be a date."""


@dataclass(frozen=True, slots=True)
class NamedTime:
    """A time that a statement names; both fields are None if it is too vague to be a date."""

    start: datetime | None = None
    text: str | None = None
    """The time in words that need no context: a day, a week, a month, a season or a year."""


def resolve_phrase(match: re.Match[str], said_at: datetime) -> NamedTime:
    """Return the time that a match of ``TIME_PHRASE`` names, given when it was said."""
    today = _midnight(said_at.astimezone(UTC))
    try:
        return _resolve({name: part.lower() for name, part in match.groupdict().items() if part}, today)
    except (ValueError, OverflowError):  # 31 June, or before the year 1: a slip of the tongue names no time
        return NamedTime()


def _resolve(parts: dict[str, str], today: datetime) -> NamedTime:
    if fixed := parts.get("fixed"):
        return _named_day(today + timedelta(days={"yesterday": -1, "last night": -1, "tomorrow": 1}.get(fixed, 0)))
    if "ago" in parts:
        return _named_ago(today, _COUNTS.get(parts["n"]) or int(parts["n"]), parts["unit"])
    if "which" in parts:
        return _named_relative(today, parts["which"], parts["what"])
    for month, day, year in (("dmonth", "dday", "dyear"), ("emonth", "eday", "eyear")):
        if month in parts:
            year_number = int(parts.get(year, today.year))
            return _named_day(datetime(year_number, MONTHS.index(parts[month]) + 1, int(parts[day]), tzinfo=UTC))
    if "month" in parts:
        number = MONTHS.index(parts["month"]) + 1
        year_number = int(parts["myear"]) if "myear" in parts else today.year - (number > today.month)
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
        return _named_month(_add_months(today.replace(day=1), -count))
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
        return _named_month(_add_months(today.replace(day=1), step))
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


# -- the calendar ----------------------------------------------------------------------------------------------------


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _start_of(moment: datetime, unit: str) -> datetime:
    """Return the beginning of the day, week, month or year that a moment lies in."""
    day = _midnight(moment)
    if unit == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if unit == "month" else day.replace(month=1, day=1) if unit == "year" else day


def _subtract(moment: datetime, count: int, unit: str) -> datetime:
    from dateutil.relativedelta import relativedelta

    steps = {"days": 0, "weeks": 0, "months": 0, "years": 0} | {unit + "s": count}
    return moment - relativedelta(
        days=steps["days"], weeks=steps["weeks"], months=steps["months"], years=steps["years"]
    )


def _add_months(day: datetime, months: int) -> datetime:
    """Move the first day of a month by some months, forward or back."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return day.replace(year=year, month=month + 1)
