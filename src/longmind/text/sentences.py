"""Cutting a text into sentences, each with its place in the text, and telling which of them state something."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_ENDS = re.compile(r"(?:[.!?…]+[\"”’')\]]*(?=\s|$)|\n+)")
_SHORT = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|vs|etc|No|Mt|Gen|Col|Sgt|Rev|Hon|approx|dept|est|fig|e\.g|i\.e)"
    r"|\b[A-Z](?:\.[A-Z])*)\.$"
)
_NUMBERED = re.compile(r"\s*(?:\d{1,6}[.)]|[-*•])\s+")
_ASIDE = re.compile(r"\[[^\[\]]*\]")
_KEPT = 2_000
"""Characters of a text whose sentences are kept in mind."""
MAX_SENTENCE = 400
"""Characters of a sentence that are read; what is longer is rarely one statement."""


class Sentence(NamedTuple):
    """A sentence and where it begins in its text."""

    text: str
    start: int
    asks: bool


def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text. Numbers of list items are left out; so is what stands in square brackets.

    Several stages of a run ask for the same texts, so those of usual length are kept in mind.
    """
    return _known(text) if len(text) <= _KEPT else _cut(text)


def _cut(text: str) -> tuple[Sentence, ...]:
    plain = _ASIDE.sub(lambda m: "." + " " * (len(m.group()) - 1), text) if "[" in text else text
    start = 0
    found: list[Sentence] = []
    for end in _ENDS.finditer(plain):
        mark, at = end.group(), end.end()
        if mark == "." and _SHORT.search(plain, start, at) and plain[at : at + 2].strip() and not _opens(plain, at):
            continue
        _add(found, plain, start, end.start(), mark)
        start = at
    _add(found, plain, start, len(plain), "")
    return tuple(found)


_known = lru_cache(maxsize=4_096)(_cut)


def _opens(text: str, at: int) -> bool:
    """Whether what follows begins a new item of a list, so that even a shortened word ends the sentence."""
    return bool(re.match(r"\s*\n|\s+\d{1,6}[.)]\s", text[at : at + 12]))


def _add(found: list[Sentence], text: str, start: int, end: int, mark: str) -> None:
    """Add what stands between two places, if it is a sentence."""
    if numbered := _NUMBERED.match(text, start, end):
        start = numbered.end()
    while start < end and text[start].isspace():
        start += 1
    if mark.startswith(".") and end < len(text) and _SHORT.search(text, start, end + 1):
        end += 1  # the dot of "Inc." belongs to the name, also where it ends the sentence
    if end - start >= 2:
        found.append(Sentence(text[start : min(end, start + MAX_SENTENCE)], start, "?" in mark))
