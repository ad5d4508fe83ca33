"""From text to terms: one analyser, used when a memory is written and when a question is asked, on every backend.

Text is folded (compatibility forms, case, accents), cut into words, freed of stop words and stemmed. Scripts that put
no spaces between words are cut into overlapping pairs of characters. A term is kept as a 32-bit hash of its stem, so
that no dictionary has to be shared between processes: among a million distinct stems about one in nine thousand
shares its hash with another, which moves no ranking that can be measured.

``index_terms`` is stored with each memory, so that a scope is loaded without reading its texts again. Besides the
words it holds a few marks: what recall wants to know of a text without reading it, such as who said it and whether it
names a time. A mark begins with a control character, so that no word of a text can be one.
"""

from __future__ import annotations

import re
import struct
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from heapq import nlargest
from typing import NamedTuple
from zlib import crc32

import Stemmer

from longmind.text.dates import format_day
from longmind.types import Memory

ANALYSIS_VERSION = 2
HEADER = struct.Struct("<BI")
MAX_TERMS = 20_000
"""Distinct terms kept of one memory; a memory's content is at most a million characters."""

STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being between both but by can could did do
    does doing don down during each few for from further had has have having he her here hers herself him himself his
    how i if in into is it its itself just me more most my myself no nor not now of off on once only or other our ours
    ourselves out over own s same she should so some such t than that the their theirs them themselves then there these
    they this those through to too under until up us very was we were what when where which while who whom why will with
    would you your yours yourself yourselves ll ve re d m""".split()
)

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_GAPS = bytes(ord(c.lower()) if c.isalnum() or c == "'" else ord(" ") for c in map(chr, range(128))).ljust(256)
"""A table that leaves of ASCII text, as bytes, only what the pattern above can match: many times faster than it."""
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]+"
)
_MARKED = 20_000
"""Characters of a text that are looked at for marks."""
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this (?:week|month|year|weekend|morning|summer|spring|fall|"
    r"autumn|winter)|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|weeks?|weekend|months?|years?|days?|recently|just|since|\d{4}|"
    r"\d+(?:st|nd|rd|th))\b"
)
_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|dozen|couple|twice|once|several|many|few)\b"
)
_DIGIT = re.compile(r"\d")
_TIME_WORDS = frozenset(
    """yesterday today tonight tomorrow ago last next this monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december week weeks weekend month
    months year years day days recently just since""".split()
)
_NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten dozen couple twice once several many few".split()
)
"""Words without which, and without a digit, the two patterns above cannot match; looking them up is cheaper."""
_ALONE = _TIME_WORDS - {"this"}
"""Of these each matches alone; "this" only with the word after it."""
_TELLING = _TIME_WORDS | _NUMBER_WORDS
_DIGITS = b"0123456789"
_STOPPED = -1
_LONGEST_STEMMED = 64
"""Characters from which on a word is only cut."""
_local = threading.local()


def fold(text: str) -> str:
    """Text without differences of case, accent and compatibility form."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", "".join(c for c in spread if not unicodedata.combining(c)))


class Reading(NamedTuple):
    """A text as it was read: folded, cut at what is no part of a word, and its words."""

    folded: str
    pieces: list[str]
    """What lies between; a piece that holds no apostrophe is a word as it stands in the folded text."""
    said: list[str]
    """The words without possessives and apostrophes, unspaced scripts as character pairs."""


def read(text: str) -> Reading:
    folded = fold(text)
    if not folded.isascii():
        found: list[str] = _WORD.findall(folded)
        return Reading(folded, found, list(_cut(found)))
    pieces = folded.encode().translate(_GAPS).decode().split()
    if "'" not in folded:
        return Reading(folded, pieces, pieces)
    said: list[str] = []
    for piece in pieces:
        if "'" in piece:
            said.extend(_joined(piece))
        else:
            said.append(piece)
    return Reading(folded, pieces, said)


@lru_cache(maxsize=16_384)
def _joined(piece: str) -> tuple[str, ...]:
    """The words of a piece with apostrophes."""
    return tuple(map(_without_possessive, _WORD.findall(piece)))


def has_digit(text: str) -> bool:
    """Whether there is a digit of any script in a text."""
    if not text.isascii():
        return _DIGIT.search(text) is not None
    raw = text.encode()
    return len(raw.translate(None, _DIGITS)) < len(raw)


def words(text: str) -> list[str]:
    """The folded words of a text in order, stop words included, not stemmed; unspaced scripts as character pairs."""
    return read(text).said


def _cut(found: Iterable[str]) -> Iterator[str]:
    for raw in found:
        word, at = raw.replace("’", "'"), 0
        for run in _UNSPACED.finditer(word):
            if run.start() > at:
                yield _without_possessive(word[at : run.start()])
            yield from _pairs(run.group())
            at = run.end()
        if at < len(word):
            yield _without_possessive(word[at:])


def _without_possessive(word: str) -> str:
    head, mark, tail = word.partition("'")
    return head if mark and tail in ("s", "") else word.replace("'", "")


def _pairs(run: str) -> Iterable[str]:
    return (run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else (run,)


def stem(word: str) -> str:
    return _stem(word) if len(word) < _LONGEST_STEMMED else word[:_LONGEST_STEMMED]


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("english", 0)
    return str(stemmer.stemWord(word)) if word.isascii() else word


def terms(text: str) -> list[str]:
    """The stems of a text in order, without stop words."""
    return [stem(w) for w in words(text) if w not in STOP_WORDS]


def term_hash(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass"))


class _Hashes(dict[str, int]):
    """The hashes of the stems of folded words, ``_STOPPED`` for a stop word.

    A plain dictionary, because every word of every text is looked up here: a cache that keeps its entries in the order
    of their last use writes to several places of memory for each look-up. When it is full it begins anew, and what is
    too long for a word is not kept.
    """

    def __missing__(self, word: str) -> int:
        hashed = _STOPPED if word in STOP_WORDS else term_hash(stem(word))
        if len(word) < _LONGEST_STEMMED:
            if len(self) >= _MOST_WORDS:
                self.clear()
            self[word] = hashed
        return hashed


_MOST_WORDS = 131_072
_hash_of = _Hashes().__getitem__


@lru_cache(maxsize=8_192)
def _hashes_of(text: str) -> frozenset[int]:
    """The terms of a short text that comes again and again: a name, a day."""
    return frozenset(map(term_hash, terms(text)))


ASKS, DATED, COUNTED = "asks", "dated", "counted"
"""Marks: the text ends in a question, names a time, names a number."""


@lru_cache(maxsize=8_192)
def mark_hash(mark: str) -> int:
    """A mark as it stands among the terms."""
    return term_hash("\x01" + mark)


def by(word: str) -> str:
    """The mark of what a speaker said, by a word of the speaker's name (a stem)."""
    return "by " + word


@lru_cache(maxsize=4_096)
def _by_whom(name: str) -> frozenset[str]:
    return frozenset(map(by, terms(name)))


def marks(memory: Memory, content: Reading) -> list[str]:
    """What recall wants to know of a memory without reading it; ``content`` is its content as it was read."""
    found = ["role " + memory.source.role]
    if memory.source.name:
        found.extend(_by_whom(memory.source.name))
    text = memory.content[:_MARKED]
    if text.rstrip().endswith(("?", "？")):
        found.append(ASKS)
    if len(text) < len(memory.content):
        content = content._replace(folded=fold(text), pieces=[])
    digits = has_digit(text)
    if not digits and _TELLING.isdisjoint(content.said):
        return found
    if _names(content, digits, _TIME_WORDS, _ALONE, _TIME):
        found.append(DATED)
    if _names(content, digits, _NUMBER_WORDS, _NUMBER_WORDS, _NUMBER):
        found.append(COUNTED)
    return found


def _names(
    content: Reading, digits: bool, needed: frozenset[str], enough: frozenset[str], pattern: re.Pattern[str]
) -> bool:
    """Whether a text matches a pattern, which it cannot without a digit or one of the words ``needed``.

    Each of the words ``enough`` matches alone if no letter, digit or underscore touches it. So the pattern itself,
    which costs more than all the rest, is rarely tried.
    """
    if not enough.isdisjoint(content.pieces) and "_" not in content.folded:
        return True
    return (digits or not needed.isdisjoint(content.said)) and pattern.search(content.folded) is not None


@lru_cache(maxsize=4_096)
def _day(day: date) -> str:
    return format_day(day)


def context_texts(memory: Memory) -> list[str]:
    """What is searched besides the content: the day it happened, who said it, the tags and the place in a document."""
    texts = [_day(memory.occurred_at.date()), *memory.tags]
    if memory.source.name:
        texts.append(memory.source.name)
    headings = memory.body.get("headings")
    if isinstance(headings, list):
        texts.extend(h for h in headings if isinstance(h, str))
    return texts


def index_terms(memory: Memory) -> bytes:
    """The terms of a memory and how often each occurs, in the form in which they are stored."""
    content = read(memory.content)
    said = [h for h in map(_hash_of, content.said) if h != _STOPPED]
    counts = dict.fromkeys(said, 0)
    for h in said:
        counts[h] += 1
    for text in context_texts(memory):
        for h in _hashes_of(text):
            counts.setdefault(h, 1)
    for mark in marks(memory, content):
        counts[mark_hash(mark)] = 1
    return HEADER.pack(ANALYSIS_VERSION, len(said)) + _packed(counts)


def _packed(counts: dict[int, int]) -> bytes:
    kept = sorted(counts if len(counts) <= MAX_TERMS else nlargest(MAX_TERMS, counts, key=counts.__getitem__))
    times = [counts[h] for h in kept]
    if kept and max(times) > 255:
        times = [min(n, 255) for n in times]
    return struct.pack(f"<{len(kept)}I", *kept) + bytes(times)
