"""Cutting a document into passages that can be found and quoted, each with its place kept.

Headings (Markdown or underlined) open a section; a section is cut at paragraphs, a long paragraph at sentences, a long
sentence at words. Every passage knows its character span in the document and the headings it stands under, and the
spans together hold every character that is not white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$|^(\S[^\n]*)\n(=+|-+)[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"\n[ \t]*\n+")
_SENTENCE = re.compile(r"(?<=[.!?。！？])[\s]+|(?<=[。！？])")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document: its text, where it begins and ends, and the headings above it."""

    text: str
    start: int
    end: int
    headings: tuple[str, ...]


def passages(text: str, size: int) -> Iterator[Passage]:
    """The passages of a document, each at most about ``size`` characters."""
    for start, end, headings in _sections(text):
        for first, last in _packed(text, start, end, size):
            said = text[first:last]
            left = len(said) - len(said.lstrip())
            said = said.strip()
            if said:
                yield Passage(said, first + left, first + left + len(said), headings)


def _sections(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    code = [fence.span() for fence in _FENCE.finditer(text)]
    open_headings: list[tuple[int, str]] = []
    at = 0
    for heading in _HEADING.finditer(text):
        if any(a <= heading.start() < b for a, b in code):
            continue
        if heading.start() > at:
            yield at, heading.start(), tuple(title for _, title in open_headings)
        level = len(heading[1]) if heading[1] else (1 if heading[4].startswith("=") else 2)
        open_headings = [(depth, title) for depth, title in open_headings if depth < level]
        open_headings.append((level, (heading[2] or heading[3]).strip()))
        at = heading.start()
    yield at, len(text), tuple(title for _, title in open_headings)


def _packed(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Spans of whole pieces, as many together as fit the size."""
    first = last = start
    for piece_end in _pieces(text, start, end, size):
        if piece_end - first > size and last > first:
            yield first, last
            first = last
        last = piece_end
    if last > first:
        yield first, last


def _pieces(text: str, start: int, end: int, size: int) -> Iterator[int]:
    """Where a section may be cut: after paragraphs, in a long one after sentences, in a long sentence between words."""
    for paragraph_start, paragraph_end in _cut(_PARAGRAPH, text, start, end):
        if paragraph_end - paragraph_start <= size:
            yield paragraph_end
            continue
        for sentence_start, sentence_end in _cut(_SENTENCE, text, paragraph_start, paragraph_end):
            at = sentence_start
            while sentence_end - at > size:
                space = max((m.end() for m in _SPACE.finditer(text, at + size // 2, at + size)), default=at + size)
                yield space
                at = space
            yield sentence_end


def _cut(mark: re.Pattern[str], text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for match in mark.finditer(text, start, end):
        if match.end() > at:
            yield at, match.end()
            at = match.end()
    if at < end:
        yield at, end
