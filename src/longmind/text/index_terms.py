"""The terms that are stored with a memory: those of its words, and marks.

They are stored so that a scope is loaded without analysing its texts again. A mark is a feature of a text that recall
needs, such as who said it, whether it names a time, and whether it says something that matters in every context. It
begins with a control character, so that it never equals a word.
"""

from __future__ import annotations

import re
import struct
from datetime import date
from functools import lru_cache
from heapq import nlargest

from longmind.text.analysis import STOP_WORDS, AnalysedText, analyse, fold, has_digit, stem, term_hash, terms
from longmind.text.dates import TIME_PHRASE, format_day, resolve_phrase
from longmind.text.standing import standing_marks
from longmind.types import Memory

ANALYSIS_VERSION = 5
HEADER = struct.Struct("<BI")
MAX_TERMS = 20_000
"""The most distinct terms kept for one memory, whose content has at most a million characters."""


_MARKED = 20_000
"""Characters of a text that are searched for marks."""
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this (?:week|month|year|weekend|morning|summer|spring|fall|"
    r"autumn|winter)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|weeks?|weekend|months?|years?|days?|recently|just|since|\d{4}|"
    r"\d+(?:st|nd|rd|th))\b"
)
_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|dozen|couple|twice|once|several|many|few)\b"
)

_TIME_WORDS = frozenset(
    """yesterday today tonight tomorrow ago last next this monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december week weeks weekend month
    months year years day days recently just since""".split()
)
_NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten dozen couple twice once several many few".split()
)
"""Without one of these words or a digit the two patterns above cannot match; a set lookup is cheaper."""
_RELATIVE = frozenset("yesterday tomorrow ago last next past coming".split())
"""Without one of these words a message names no day relative to that on which it was said."""
_DATES_READ = 2_000
"""Characters of a message that are read for such days."""
_ALONE = _TIME_WORDS - {"this"}
"""Each of these words matches alone; "this" only with the word after it."""
_TELLING = _TIME_WORDS | _NUMBER_WORDS

_STOPPED = -1
_LONGEST_CACHED = 64
"""Words of this many characters or more are not cached."""
_MOST_WORDS = 131_072


class _Hashes(dict[str, int]):
    """A cache from folded words to the hashes of their stems, ``_STOPPED`` for a stop word.

    A plain dictionary, because every word of every text is looked up here, and an LRU cache would write to memory on
    each lookup. It is cleared when it is full. Very long words are not kept.
    """

    def __missing__(self, word: str) -> int:
        hashed = _STOPPED if word in STOP_WORDS else term_hash(stem(word))
        if len(word) < _LONGEST_CACHED:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = hashed
        return hashed


_hash_of = _Hashes().__getitem__


@lru_cache(maxsize=8_192)
def _hashes_of(text: str) -> frozenset[int]:
    """Return the term hashes of a short text that recurs: a name, a day."""
    return frozenset(map(term_hash, terms(text)))


ASKS, DATED, COUNTED = "asks", "dated", "counted"
"""Marks: the text ends in a question, names a time, names a number."""


@lru_cache(maxsize=8_192)
def mark_hash(mark: str) -> int:
    """Return the hash of a mark among the terms."""
    return term_hash("\x01" + mark)


def speaker_mark(word: str) -> str:
    """Return the mark for a speaker, by a word of the speaker's name (a stem)."""
    return "by " + word


@lru_cache(maxsize=4_096)
def _speaker_marks(name: str) -> frozenset[str]:
    return frozenset(map(speaker_mark, terms(name)))


def marks(memory: Memory, content: AnalysedText) -> list[str]:
    """Return the marks of a memory; ``content`` is its analysed content."""
    present = ["role " + memory.source.role, *standing_marks(memory)]
    if memory.source.name:
        present.extend(_speaker_marks(memory.source.name))
    text = memory.content[:_MARKED]
    if text.rstrip().endswith(("?", "？")):
        present.append(ASKS)
    if len(text) < len(memory.content):
        content = content._replace(folded=fold(text), pieces=[])
    digits = has_digit(text)
    if not digits and _TELLING.isdisjoint(content.words):
        return present
    if _names(content, digits, _TIME_WORDS, _ALONE, _TIME):
        present.append(DATED)
    if _names(content, digits, _NUMBER_WORDS, _NUMBER_WORDS, _NUMBER):
        present.append(COUNTED)
    return present


def _names(
    content: AnalysedText, digits: bool, needed: frozenset[str], enough: frozenset[str], pattern: re.Pattern[str]
) -> bool:
    """Return whether a text matches a pattern that needs a digit or one of the words ``needed``.

    Each of the words ``enough`` matches alone if no letter, digit or underscore touches it. So the pattern itself,
    which is the expensive part, is rarely needed.
    """
    if not enough.isdisjoint(content.pieces) and "_" not in content.folded:
        return True
    return (digits or not needed.isdisjoint(content.words)) and pattern.search(content.folded) is not None


@lru_cache(maxsize=4_096)
def _day(day: date) -> str:
    return format_day(day)


def context_texts(memory: Memory, content: AnalysedText) -> list[str]:
    """Return what is indexed besides the content: days, speaker, tags, and the headings above a passage.

    The days are that of the memory, and what "two days ago" or "last month" in a message meant on it.
    """
    texts = [_day(memory.occurred_at.date()), *memory.tags]
    if memory.kind == "message" and not _RELATIVE.isdisjoint(content.words):
        texts.extend(_dates_meant(memory))
    if memory.source.name:
        texts.append(memory.source.name)
    headings = memory.body.get("headings")
    if isinstance(headings, list):
        texts.extend(h for h in headings if isinstance(h, str))
    return texts


def _dates_meant(memory: Memory) -> list[str]:
    """Return the dates that a message names relative to the day on which it was said."""
    named = (resolve_phrase(match, memory.occurred_at) for match in TIME_PHRASE.finditer(memory.content[:_DATES_READ]))
    return [time.text for time in named if time.text]


def index_terms(memory: Memory) -> bytes:
    """Return the terms of a memory and their counts, packed as they are stored."""
    content = analyse(memory.content)
    hashes = [h for h in map(_hash_of, content.words) if h != _STOPPED]
    counts = dict.fromkeys(hashes, 0)
    for h in hashes:
        counts[h] += 1
    for text in context_texts(memory, content):
        for h in _hashes_of(text):
            counts.setdefault(h, 1)
    for mark in marks(memory, content):
        counts[mark_hash(mark)] = 1
    return HEADER.pack(ANALYSIS_VERSION, len(hashes)) + _packed(counts)


def _packed(counts: dict[int, int]) -> bytes:
    kept = sorted(counts if len(counts) <= MAX_TERMS else nlargest(MAX_TERMS, counts, key=counts.__getitem__))
    times = [counts[h] for h in kept]
    if kept and max(times) > 255:
        times = [min(n, 255) for n in times]
    return struct.pack(f"<{len(kept)}I", *kept) + bytes(times)
