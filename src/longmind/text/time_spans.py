"""The time a question asks about: "last May", "three weeks ago", "the last week of October 2023", "before 2022".

Each names a span, a stretch of time in which memories are looked for. A search has to be generous about "three weeks
ago"; what a statement says of a date is read more exactly (``dates``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from longmind.text.calendar import add_months, midnight, start_of, subtract
from longmind.text.periods import ANY_MONTH, DAY_IN_DIGITS, PART_OF_PERIOD, SEASON, month_number, read_day, read_part
from longmind.text.vocabulary import NUMBER_WORDS, SEASON_STARTS, WEEKDAYS

MAX_QUESTION = 2_000
"""Characters of a question that is searched for a time; a longer text names many."""

_ROUGH_COUNTS = {**NUMBER_WORDS, "a": 1, "an": 1, "couple of": 2, "a couple of": 2, "few": 3, "a few": 3, "several": 4}
_ROUGH_COUNT = r"\d{1,4}|" + "|".join(sorted(_ROUGH_COUNTS, key=len, reverse=True))
_ANY_WEEKDAY = "|".join(WEEKDAYS)
_MAY_NAME_A_TIME = re.compile(
    rf"\d|\b(?:last|this|ago|back|yesterday|today|tonight|past|previous|year|month|week|{SEASON}|{_ANY_WEEKDAY}"
    rf"|{ANY_MONTH})\b",
    re.IGNORECASE,
)
"""A cheap pattern that every text with a time matches; only then are dates read."""
_PART = re.compile(rf"\b{PART_OF_PERIOD}", re.IGNORECASE | re.VERBOSE)
_DAY_IN_DIGITS = re.compile(DAY_IN_DIGITS, re.VERBOSE)
_RANGE = re.compile(
    r"\b(?:between|from) (?:the )?(?P<begin>[^,;?!]{3,40}?) (?:and|to|until|till|through) (?:the )?"
    r"(?P<end>[^,;?!]{3,40})",
    re.IGNORECASE,
)
_DAY_DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{ANY_MONTH})\b\.?(?:,? \d{{4}})?"
    rf"|(?:{ANY_MONTH})\b\.? \d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,? \d{{4}})?)",
    re.IGNORECASE,
)
_MONTH_DATE = re.compile(
    rf"\b(?:(?P<when>last|this) )?(?:(?P<season>{SEASON})|(?P<month>{ANY_MONTH}))\b"
    rf"(?:(?: of|,)? (?P<year>(?:19|20)\d{{2}}))?",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_YEAR_LEADS = re.compile(r"\b(?:in|during|since|before|after|until|of|by|year)\s+$", re.IGNORECASE)
_AGO = re.compile(rf"\b({_ROUGH_COUNT}) (day|week|fortnight|month|year|decade)s? (?:ago|back)\b", re.IGNORECASE)
_LONGER_UNITS = {"fortnight": ("week", 2), "decade": ("year", 10)}
"""Units of time as a number of others."""
_BEFORE_LAST = re.compile(r"\b(?:day before yesterday|(?P<unit>week|month|year) before last)\b", re.IGNORECASE)
_WITHIN = re.compile(
    rf"\b(?:last|past|previous) (?:({_ROUGH_COUNT}) )?(day|week|weekend|month|year)(s?)\b", re.IGNORECASE
)
_THIS = re.compile(r"\bthis (week|weekend|month|year)\b|\b(today|tonight|yesterday)\b", re.IGNORECASE)
_WEEKDAY = re.compile(rf"\b(?:last|on|this past) ({_ANY_WEEKDAY})\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(before|until|prior to|earlier than|by)\s+(?:the\s+)?$", re.IGNORECASE)
_AFTER = re.compile(r"\b(after|since|later than|from)\s+(?:the\s+)?$", re.IGNORECASE)
_LEADS = re.compile(r"\b(?:in|during|since|before|after|until|by)$")
_SEASON_LEADS = re.compile(r"\b(?:in|during) the$")


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
    if (span := _range(question, now)) is not None:
        return span
    reading = _read(question, now)
    return None if reading is None else _with_direction(question, *reading)


def _read(question: str, now: datetime) -> _Reading:
    for read in _READERS:
        try:
            reading = read(question, now)
        except (ValueError, OverflowError):  # a date that does not exist, such as 31 June
            continue
        except (KeyError, StopIteration):  # a letter that only a pattern without case takes for another: the long s
            continue
        if reading is not None:
            return reading
    return None


def _range(question: str, now: datetime) -> TimeSpan | None:
    """Read two times and the time between them, such as "between March and May 2023"."""
    match = _RANGE.search(question)
    end = None if match is None else _read(f"in {match['end']}", now)
    if match is None or end is None or end[0].start() > 3:
        return None
    begin_text, year = match["begin"], _YEAR.search(end[0].group())
    if year is not None and not _YEAR.search(begin_text):
        begin_text += f" {year.group()}"
    begin = _read(f"in {begin_text}", now)
    if begin is None or begin[0].start() > 3 or begin[1] >= end[2]:
        return None
    return TimeSpan(begin[1], end[2], f"{match['begin']} to {end[0].group().removeprefix('in ')}")


def _with_direction(question: str, match: re.Match[str], since: datetime, until: datetime) -> TimeSpan:
    """Open the span at one end if "before" or "after" stands before the date."""
    lead, date_text = question[: match.start()], match.group().strip()
    if _BEFORE.search(lead):
        return TimeSpan(None, since, f"before {date_text}")
    if _AFTER.search(lead):
        return TimeSpan(since, None, f"after {date_text}")
    return TimeSpan(since, until, date_text)


def _part(question: str, now: datetime) -> _Reading:
    match = _PART.search(question)
    if match is None:
        return None
    period = read_part(match.groupdict(), now)
    return match, period.since, period.until


def _day_in_digits(question: str, now: datetime) -> _Reading:
    match = _DAY_IN_DIGITS.search(question)
    if match is None:
        return None
    day = read_day(match.groupdict())
    return match, day, day + timedelta(days=1)


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
        leads = _LEADS.search(lead) or (match.group("season") and _SEASON_LEADS.search(lead))
        if not year and ((not when and not leads) or question[match.end() :].startswith(" of ")):
            continue
        months = 1 if name else 3
        number = month_number(name) if name else SEASON_STARTS[match.group("season").lower()]
        begin = datetime(int(year) if year else now.year, number, 1, tzinfo=UTC)
        if not year and (begin > now or (when == "last" and add_months(begin, months) > now)):
            begin = begin.replace(year=begin.year - 1)
        return match, begin, add_months(begin, months)
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
    unit, times = _LONGER_UNITS.get(match.group(2).lower(), (match.group(2).lower(), 1))
    middle = subtract(now, times * _rough_count(match.group(1)), unit)
    if unit == "day":
        return match, midnight(middle), midnight(middle) + timedelta(days=1)
    slack = {"week": timedelta(days=4), "month": timedelta(days=16), "year": timedelta(days=183)}[unit]
    return match, middle - slack, middle + slack


def _before_last(question: str, now: datetime) -> _Reading:
    match = _BEFORE_LAST.search(question)
    if match is None:
        return None
    unit = (match.group("unit") or "day").lower()
    return match, start_of(subtract(now, 2, unit), unit), start_of(subtract(now, 1, unit), unit)


def _within(question: str, now: datetime) -> _Reading:
    match = _WITHIN.search(question)
    if match is None:
        return None
    count, unit = _rough_count(match.group(1) or "one"), match.group(2).lower()
    if unit == "weekend":
        saturday = midnight(now) - timedelta(days=(now.weekday() - 5) % 7 + (7 if now.weekday() >= 5 else 0))
        return match, saturday, saturday + timedelta(days=2)
    if match.group(1) or match.group(3):
        return match, subtract(now, count, unit), now
    begin = start_of(subtract(now, 1, unit), unit)
    return match, begin, start_of(now, unit)


def _this(question: str, now: datetime) -> _Reading:
    match = _THIS.search(question)
    if match is None:
        return None
    if match.group(2):
        day = midnight(now) - timedelta(days=1 if match.group(2).lower() == "yesterday" else 0)
        return match, day, day + timedelta(days=1)
    unit = match.group(1).lower()
    if unit == "weekend":
        saturday = midnight(now) - timedelta(days=(now.weekday() - 5) % 7)
        return match, saturday, saturday + timedelta(days=2)
    return match, start_of(now, unit), now + timedelta(days=1)


def _weekday(question: str, now: datetime) -> _Reading:
    match = _WEEKDAY.search(question)
    if match is None:
        return None
    back = (now.weekday() - WEEKDAYS.index(match.group(1).lower())) % 7 or 7
    day = midnight(now) - timedelta(days=back)
    return match, day, day + timedelta(days=1)


def _rough_count(word: str) -> int:
    return int(word) if word.isdigit() else _ROUGH_COUNTS[word.lower()]


_READERS = (
    _part,
    _day_in_digits,
    _absolute_day,
    _ago,
    _before_last,
    _within,
    _this,
    _weekday,
    _month_or_season,
    _year,
)
"""In this order: "the last week of May 2023" is neither last week nor all of May."""
