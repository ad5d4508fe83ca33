"""Cutting a text into sentences, each with its place in the text, and telling which of them state something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ENDS = re.compile(r"(?:[.!?…]+[\"”’')\]]*(?=\s|$)|\n+)")
_SHORT = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|vs|etc|No|Mt|Gen|Col|Sgt|Rev|Hon|approx|dept|est|fig|e\.g|i\.e)"
    r"|\b[A-Z](?:\.[A-Z])*)\.$"
)
_NUMBERED = re.compile(r"\s*(?:\d{1,6}[.)]|[-*•])\s+")
_ASIDE = re.compile(r"\[[^\[\]]*\]")
MAX_SENTENCE = 400
"""Characters of a sentence that are read; what is longer is rarely one statement."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and where it begins in its text."""

    text: str
    start: int
    asks: bool


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text. Numbers of list items are left out; so is what stands in square brackets."""
    plain = _ASIDE.sub(lambda m: "." + " " * (len(m.group()) - 1), text) if "[" in text else text
    start = 0
    for end in _ENDS.finditer(plain):
        after = plain[end.end() : end.end() + 2].lstrip()
        if end.group() == "." and (_SHORT.search(plain, start, end.end()) and after and not _opens(plain, end.end())):
            continue
        yield from _sentence(plain, start, end.start(), end.group())
        start = end.end()
    yield from _sentence(plain, start, len(plain), "")


def _opens(text: str, at: int) -> bool:
    """Whether what follows begins a new item of a list, so that even a shortened word ends the sentence."""
    return bool(re.match(r"\s*\n|\s+\d{1,6}[.)]\s", text[at : at + 12]))


def _sentence(text: str, start: int, end: int, mark: str) -> Iterator[Sentence]:
    if numbered := _NUMBERED.match(text, start, end):
        start = numbered.end()
    while start < end and text[start].isspace():
        start += 1
    if mark.startswith(".") and end < len(text) and _SHORT.search(text, start, end + 1):
        end += 1  # the dot of "Inc." belongs to the name, also where it ends the sentence
    if end - start >= 2:
        yield Sentence(text[start : min(end, start + MAX_SENTENCE)], start, "?" in mark)
