"""Split a text into sentences, each with its offset and whether it is a question."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_ENDS = re.compile(r"(?:[.!?…]+[\"”’')\]]*(?=\s|$)|\n+)")
_SHORT = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|vs|etc|No|Mt|Gen|Col|Sgt|Rev|Hon|approx|dept|est|fig|e\.g|i\.e)"
    r"|\b[A-Z](?:\.[A-Z])*)\.$"
)
_SHORT_CHARS = 8
"""More characters than the longest abbreviation has: one at the end of a sentence is looked for only there."""
_NUMBERED = re.compile(r"\s*(?:\d{1,6}[.)]|[-*•])\s+")
_ASIDE = re.compile(r"\[[^\[\]]*\]")
_MAX_CACHED = 2_000
"""Characters up to which the sentences of a text are cached."""
MAX_SENTENCE = 400
"""Characters of a sentence that are kept; a longer one is rarely one statement."""


class Sentence(NamedTuple):
    """A sentence and where it begins in its text."""

    text: str
    start: int
    asks: bool


def sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text, without list numbers and text in square brackets.

    Several stages of a run split the same texts, so the results for texts of usual length are cached.
    """
    return _cached(text) if len(text) <= _MAX_CACHED else _cut(text)


def sentence_at(text: str, place: int) -> Sentence | None:
    """Return the sentence in which a place of a text lies; None if it lies in none."""
    return next((s for s in sentences(text) if s.start <= place < s.start + len(s.text)), None)


def _cut(text: str) -> tuple[Sentence, ...]:
    plain = _ASIDE.sub(lambda m: "." + " " * (len(m.group()) - 1), text) if "[" in text else text
    start = 0
    collected: list[Sentence] = []
    for end in _ENDS.finditer(plain):
        mark, at = end.group(), end.end()
        if mark == "." and _is_short(plain, start, at) and plain[at : at + 2].strip() and not _opens(plain, at):
            continue
        _add(collected, plain, start, end.start(), mark)
        start = at
    _add(collected, plain, start, len(plain), "")
    return tuple(collected)


_cached = lru_cache(maxsize=4_096)(_cut)


def is_abbreviation(text: str, end: int) -> bool:
    """Return whether the dot before a place in a text is that of an abbreviation, such as "Dr."."""
    return _is_short(text, 0, end)


def _is_short(text: str, start: int, end: int) -> bool:
    """Return whether the dot at the end is that of an abbreviation."""
    return _SHORT.search(text, max(start, end - _SHORT_CHARS), end) is not None


def _opens(text: str, at: int) -> bool:
    """Return whether a new list item follows, so that even an abbreviation ends the sentence."""
    return bool(re.match(r"\s*\n|\s+\d{1,6}[.)]\s", text[at : at + 12]))


def _add(collected: list[Sentence], text: str, start: int, end: int, mark: str) -> None:
    """Add the text between two offsets, if it is a sentence."""
    if numbered := _NUMBERED.match(text, start, end):
        start = numbered.end()
    while start < end and text[start].isspace():
        start += 1
    if mark.startswith(".") and end < len(text) and _is_short(text, start, end + 1):
        end += 1  # the dot of "Inc." belongs to the name, even at the end of a sentence
    if end - start >= 2:
        collected.append(Sentence(text[start : min(end, start + MAX_SENTENCE)], start, "?" in mark))
