"""Times in answers: what "two days ago" meant on the day it was said, in words that need no context."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from longmind.text.dates import TIME_PHRASE, format_day, format_month, resolve_phrase
from longmind.text.vocabulary import NUMBER_WORDS

_RELATIVE_WEEK = re.compile(r"\b(?:last|the (?:past|previous)|this past) week\b|\ba week ago\b", re.IGNORECASE)
_NEXT_WEEK = re.compile(r"\b(?:next|the coming|this coming) week\b", re.IGNORECASE)
_WEEKENDS_AGO = re.compile(r"\b(two|three|2|3|a couple of) weekends? ago\b", re.IGNORECASE)
_AMOUNT = rf"\d+|a|an|{'|'.join(NUMBER_WORDS)}|few|several|couple of|a few|a couple of"
_SPAN_OF_TIME = re.compile(
    rf"\b(?:(?:about|around|almost|nearly|over|more than|roughly|just)\s+)?(?:{_AMOUNT})(?:\s+(?:and a half|or so))?"
    r"[ -]+(?:minute|hour|day|night|week|weekend|month|year|decade)s?\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(rf"\b(?:\d[\d,.]*|{'|'.join(NUMBER_WORDS)}|once|twice|thrice|a dozen)\b", re.IGNORECASE)


def times_in(text: str, said_at: datetime) -> list[tuple[int, int, str]]:
    """Return the times that a text names, each with its place and in words that need no context."""
    day = format_day(said_at)
    found = [(*match.span(), f"the week before {day}") for match in _RELATIVE_WEEK.finditer(text)]
    found += [(*match.span(), f"the week after {day}") for match in _NEXT_WEEK.finditer(text)]
    for match in _WEEKENDS_AGO.finditer(text):
        back = {"three": 3, "3": 3}.get(match[1].lower(), 2)
        saturday = said_at.astimezone(UTC) - timedelta(days=(said_at.weekday() - 5) % 7 or 7, weeks=back - 1)
        found.append((*match.span(), f"the weekend of {format_day(saturday)}"))
    for match in TIME_PHRASE.finditer(text):
        if any(start < match.end() and end > match.start() for start, end, _ in found):
            continue
        named = resolve_phrase(match, said_at)
        if named.text:
            found.append((*match.span(), named.text))
    return sorted(found)


def vague_time(text: str, said_at: datetime) -> str | None:
    """Return when something was that a text dates vaguely, such as "recently" or "a few years ago"."""
    match = re.search(
        r"\b(?:a few|few|several|some|a couple of|couple of)\s+(day|week|month|year)s? (?:ago|back)\b", text, re.I
    )
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
