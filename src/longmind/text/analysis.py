"""From text to terms: one analyser for memories and questions, on every backend.

Text is folded (compatibility forms, case, accents), split into words, freed of stop words and stemmed. Scripts without
spaces between words are split into overlapping pairs of characters. A term is kept as a 32-bit hash of its stem, so
that processes need no common dictionary: among a million distinct stems about one in nine thousand shares its hash with
another, which has no measurable effect on ranking.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import Stemmer

from longmind.text.word_forms import base_form

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
_DIGIT = re.compile(r"\d")
_DIGITS = b"0123456789"
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
    return str(stemmer.stemWord(base_form(word))) if word.isascii() else word


def terms(text: str) -> list[str]:
    """Return the stems of a text in order, without stop words."""
    return [stem(w) for w in words(text) if w not in STOP_WORDS]


def term_hash(term: str) -> int:
    return crc32(term.encode("utf-8", "surrogatepass"))
