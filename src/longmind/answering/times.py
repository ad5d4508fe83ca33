"""Times in answers: what "two days ago" meant on the day it was said, in words that need no context."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from longmind.text.analysis import STOP_WORDS, stem, words
from longmind.text.dates import TIME_PHRASE, format_day, format_month, resolve_phrase
from longmind.text.vocabulary import NUMBER_WORDS, WEEKDAYS

_LAST_WEEK = re.compile(r"\b(?:last|the (?:past|previous)|this past) week\b|\ba week ago\b", re.IGNORECASE)
_NEXT_WEEK = re.compile(r"\b(?:next|the coming|this coming) week\b", re.IGNORECASE)
_WEEKENDS_AGO = re.compile(r"\b(two|three|2|3|a couple of) weekends? ago\b", re.IGNORECASE)
_FEW_AGO = re.compile(
    r"\b(?:a few|few|several|some|a couple of|couple of)\s+(day|week|month|year)s? (?:ago|back)\b", re.IGNORECASE
)
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})\b", re.IGNORECASE)
_AMOUNT = rf"\d+|a|an|{'|'.join(NUMBER_WORDS)}|few|several|couple of|a few|a couple of"
_SPAN_OF_TIME = re.compile(
    rf"\b(?:(?:about|around|almost|nearly|over|more than|roughly|just)\s+)?(?:{_AMOUNT})(?:\s+(?:and a half|or so))?"
    r"[ -]+(?:minute|hour|day|night|week|weekend|month|year|decade)s?\b",
    re.IGNORECASE,
)
_ORDINALS = {
    "first": "one", "second": "two", "third": "three", "fourth": "four", "fifth": "five", "sixth": "six",
    "seventh": "seven", "eighth": "eight", "ninth": "nine", "tenth": "ten",
}  # fmt: skip
_NUMBER = re.compile(
    rf"\b(?:\d[\d,.]*|{'|'.join(NUMBER_WORDS)}|once|twice|thrice|a dozen|{'|'.join(_ORDINALS)})\b", re.IGNORECASE
)
_COUNTED = re.compile(r"\bhow many (?P<what>[\w'’-]+(?:\s+[\w'’-]+)?)", re.IGNORECASE)
_BEFORE_NOUN = 2
"""How many words may stand between a number and what it counts: "three very old cats"."""
_ON_WEEKDAY = re.compile(rf"\bon (?P<day>{'|'.join(WEEKDAYS)})\b", re.IGNORECASE)
_TO_COME = re.compile(
    r"\b(?:will|won['’]t|shall|going to|gonna|tomorrow|plan|plans|planning|next)\b|['’]ll\b", re.IGNORECASE
)
_UNIT_ASKED = re.compile(r"\b(?:what|which)\s+(?:\w+\s+)?(?P<unit>month|year)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TimeInText:
    """A time that a text names: where, and in words that need no context."""

    start: int
    end: int
    text: str
    begin: datetime | None = None
    """When it began, as far as that is known."""

    def moved(self, by: int) -> TimeInText:
        """Return it with its place moved."""
        return replace(self, start=self.start + by, end=self.end + by)


def times_in(text: str, said_at: datetime) -> list[TimeInText]:
    """Return the times that a text names, in their order."""
    said = said_at.astimezone(UTC)
    day = format_day(said)
    week = timedelta(weeks=1)
    found = [TimeInText(*m.span(), f"the week before {day}", said - week) for m in _LAST_WEEK.finditer(text)]
    found += [TimeInText(*m.span(), f"the week after {day}", said + week) for m in _NEXT_WEEK.finditer(text)]
    for match in _WEEKENDS_AGO.finditer(text):
        back = {"three": 3, "3": 3}.get(match[1].lower(), 2)
        saturday = said - timedelta(days=(said.weekday() - 5) % 7 or 7, weeks=back - 1)
        found.append(TimeInText(*match.span(), f"the weekend of {format_day(saturday)}", saturday))
    for match in _ON_WEEKDAY.finditer(text):
        day_meant = _weekday_meant(match["day"], said, to_come=_TO_COME.search(text) is not None)
        found.append(TimeInText(*match.span(), f"{match['day'].capitalize()} {format_day(day_meant)}", day_meant))
    for match in TIME_PHRASE.finditer(text):
        if any(time.start < match.end() and time.end > match.start() for time in found):
            continue
        named = resolve_phrase(match, said)
        if named.text:
            spoken = _WEEKDAY.search(match.group())
            resolved = f"{spoken.group().capitalize()} {named.text}" if spoken else named.text
            found.append(TimeInText(*match.span(), resolved, named.start))
    return sorted(found, key=lambda time: time.start)


def _weekday_meant(name: str, said: datetime, *, to_come: bool) -> datetime:
    """Return the next day of that name after something was said, or the last one before it."""
    number = [day.lower() for day in WEEKDAYS].index(name.lower())
    if to_come:
        return said + timedelta(days=(number - said.weekday()) % 7 or 7)
    return said - timedelta(days=(said.weekday() - number) % 7 or 7)


def told_on(said_at: datetime) -> TimeInText:
    """Return the day on which something was told, which stands nowhere in its text."""
    said = said_at.astimezone(UTC)
    return TimeInText(0, 0, format_day(said), said)


def in_unit_asked(question: str, time: TimeInText) -> str:
    """Return a time as a month or year if a question asks for that, else in its own words."""
    unit = _UNIT_ASKED.search(question)
    if unit is None or time.begin is None:
        return time.text
    return format_month(time.begin) if unit["unit"].lower() == "month" else str(time.begin.year)


def vague_time(text: str, said_at: datetime) -> str | None:
    """Return when something was that a text dates vaguely, such as "a few years ago"."""
    match = _FEW_AGO.search(text)
    if match is None:
        return None
    return f"{match.group()}, before {format_month(said_at) if match[1].lower() != 'day' else format_day(said_at)}"


def duration_in(text: str) -> tuple[int, int] | None:
    """Return the place of the first length of time in a text."""
    match = _SPAN_OF_TIME.search(text)
    return None if match is None else match.span()


def number_in(text: str) -> tuple[int, int] | None:
    """Return the place of the first number in a text, in digits or as a word."""
    match = _NUMBER.search(text)
    return None if match is None else match.span()


def cardinal(number: str) -> str:
    """Return how many a number says: the fourth of something makes four of them."""
    return _ORDINALS.get(number.lower(), number)


@dataclass(frozen=True, slots=True)
class CountedThings:
    """How many of something a text says there are: "three cats", or "the fourth cat"."""

    start: int
    end: int
    text: str
    value: float
    ordinal: bool


def counted_in(question: str, text: str) -> CountedThings | None:
    """Return the number in a text that counts what a question asks for: "How many cats?" and "three old cats"."""
    asked = _COUNTED.search(question)
    if asked is None:
        return None
    nouns = {stem(word) for word in words(asked["what"]) if word not in STOP_WORDS}
    for match in _NUMBER.finditer(text):
        following = words(text[match.end() :])[: _BEFORE_NOUN + 1]
        partly = following[:1] == ["of"]  # "one of these cats" counts no cats
        if not partly and any(stem(word) in nouns for word in following):
            number = cardinal(match.group())
            return CountedThings(*match.span(), number, _value(number), match.group().lower() in _ORDINALS)
    return None


def _value(number: str) -> float:
    if number.lower() in NUMBER_WORDS:
        return float(NUMBER_WORDS[number.lower()])
    digits = number.replace(",", "").rstrip(".")
    return float(digits) if digits.replace(".", "", 1).isdigit() else 0.0
