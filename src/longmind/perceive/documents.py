"""Split a document into passages that can be found and quoted.

Headings (Markdown or underlined) open a section. A section is split at paragraphs, a long paragraph at sentences, and a
long sentence at words. Every passage has its character span in the document and the headings above it. Together the
spans cover every character that is not white space.
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


def split_passages(text: str, size: int) -> Iterator[Passage]:
    """Yield the passages of a document, each at most about ``size`` characters."""
    for start, end, headings in _sections(text):
        for first, last in _packed(text, start, end, size):
            passage_text = text[first:last]
            left = len(passage_text) - len(passage_text.lstrip())
            passage_text = passage_text.strip()
            if passage_text:
                yield Passage(passage_text, first + left, first + left + len(passage_text), headings)


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
    """Yield spans of whole pieces, each with as many pieces as fit the size."""
    first = last = start
    for piece_end in _pieces(text, start, end, size):
        if piece_end - first > size and last > first:
            yield first, last
            first = last
        last = piece_end
    if last > first:
        yield first, last


def _pieces(text: str, start: int, end: int, size: int) -> Iterator[int]:
    """Yield where a section can be cut: after paragraphs, in long ones after sentences, in long sentences at words."""
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
