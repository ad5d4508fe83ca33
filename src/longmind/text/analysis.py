"""From text to terms: one analyser for memories and questions, on every backend.

Text is folded (compatibility forms, case, accents), split into words, freed of stop words and stemmed. Scripts without
spaces between words are split into overlapping pairs of characters. A term is kept as a 32-bit hash of its stem, so
that processes need no common dictionary: among a million distinct stems about one in nine thousand shares its hash with
another, which has no measurable effect on ranking.

``index_terms`` is stored with each memory, so that a scope is loaded without analysing its texts again. Besides the
words it holds a few marks: features of a text that recall needs, such as who said it and whether it names a time. A
mark begins with a control character, so that it never equals a word.
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
"""The most distinct terms kept for one memory, whose content has at most a million characters."""

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
"""A translation table for ASCII bytes that keeps what the pattern above can match, and is many times faster."""
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]+"
)
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
_DIGIT = re.compile(r"\d")
_TIME_WORDS = frozenset(
    """yesterday today tonight tomorrow ago last next this monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december week weeks weekend month
    months year years day days recently just since""".split()
)
_NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten dozen couple twice once several many few".split()
)
"""Without one of these words or a digit the two patterns above cannot match; a set lookup is cheaper."""
_ALONE = _TIME_WORDS - {"this"}
"""Each of these words matches alone; "this" only with the word after it."""
_TELLING = _TIME_WORDS | _NUMBER_WORDS
_DIGITS = b"0123456789"
_STOPPED = -1
_LONGEST_STEMMED = 64
"""Words of this many characters or more are truncated instead of stemmed."""
_local = threading.local()


def fold(text: str) -> str:
    """Return the text without differences of case, accent and compatibility form."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", "".join(c for c in spread if not unicodedata.combining(c)))


class AnalysedText(NamedTuple):
    """An analysed text: folded, split into pieces, and its words."""

    folded: str
    pieces: list[str]
    """Runs of word characters and apostrophes. A piece without an apostrophe is a word of the folded text."""
    words: list[str]
    """The words without possessives and apostrophes, unspaced scripts as character pairs."""


def analyse(text: str) -> AnalysedText:
    folded = fold(text)
    if not folded.isascii():
        raw_words: list[str] = _WORD.findall(folded)
        return AnalysedText(folded, raw_words, list(_cut(raw_words)))
    pieces = folded.encode().translate(_GAPS).decode().split()
    if "'" not in folded:
        return AnalysedText(folded, pieces, pieces)
    words: list[str] = []
    for piece in pieces:
        if "'" in piece:
            words.extend(_joined(piece))
        else:
            words.append(piece)
    return AnalysedText(folded, pieces, words)


@lru_cache(maxsize=16_384)
def _joined(piece: str) -> tuple[str, ...]:
    """Return the words of a piece that contains apostrophes."""
    return tuple(map(_without_possessive, _WORD.findall(piece)))


def has_digit(text: str) -> bool:
    """Return whether a text contains a digit of any script."""
    if not text.isascii():
        return _DIGIT.search(text) is not None
    raw = text.encode()
    return len(raw.translate(None, _DIGITS)) < len(raw)


def words(text: str) -> list[str]:
    """Return the folded words of a text in order, with stop words, not stemmed; unspaced scripts as character pairs."""
    return analyse(text).words


def _cut(raw_words: Iterable[str]) -> Iterator[str]:
    for raw in raw_words:
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
    """Return the stems of a text in order, without stop words."""
    return [stem(w) for w in words(text) if w not in STOP_WORDS]


def term_hash(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass"))


class _Hashes(dict[str, int]):
    """A cache from folded words to the hashes of their stems, ``_STOPPED`` for a stop word.

    A plain dictionary, because every word of every text is looked up here, and an LRU cache would write to memory on
    each lookup. It is cleared when it is full. Very long words are not kept.
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
    present = ["role " + memory.source.role]
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


def context_texts(memory: Memory) -> list[str]:
    """Return what is indexed besides the content: day, speaker, tags, and the headings above a passage."""
    texts = [_day(memory.occurred_at.date()), *memory.tags]
    if memory.source.name:
        texts.append(memory.source.name)
    headings = memory.body.get("headings")
    if isinstance(headings, list):
        texts.extend(h for h in headings if isinstance(h, str))
    return texts


def index_terms(memory: Memory) -> bytes:
    """Return the terms of a memory and their counts, packed as they are stored."""
    content = analyse(memory.content)
    hashes = [h for h in map(_hash_of, content.words) if h != _STOPPED]
    counts = dict.fromkeys(hashes, 0)
    for h in hashes:
        counts[h] += 1
    for text in context_texts(memory):
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
