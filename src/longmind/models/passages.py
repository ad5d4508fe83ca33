"""Texts in passages that a small model reads at once, and from word pieces back to characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from longmind.models.small_models import Pieces
from longmind.models.statements import Span
from longmind.text.sentences import is_abbreviation

PREVIOUS, TEXT = 60, 170
"""The most pieces of the turn before and of a passage that are read at once, as in training."""
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
"""What a model finds stands in one sentence."""


class Passage(NamedTuple):
    """Some word pieces of a turn that are read at once, where each stands in its text, and the pieces before them."""

    text: str
    ids: Sequence[int]
    offsets: Sequence[Span]
    before: Sequence[int]


def characters_of(passage: Passage, first: int, last: int) -> Span:
    """Return the characters of some pieces, from the beginning of the first word to the end of the last."""
    while first > 0 and _continues(passage, first):
        first -= 1
    while last + 1 < len(passage.offsets) and _continues(passage, last + 1):
        last += 1
    start, end = passage.offsets[first][0], passage.offsets[last][1]
    ends = _SENTENCE_END.finditer(passage.text, start, end)
    stop = next((each for each in ends if not is_abbreviation(passage.text, each.start() + 1)), None)
    if stop is not None and stop.start() > start:
        end = stop.start()
    return start, start + len(passage.text[start:end].rstrip())


def _continues(passage: Passage, number: int) -> bool:
    """Whether a piece goes on with the word of the piece before it."""
    start = passage.offsets[number][0]
    return (
        passage.offsets[number - 1][1] == start
        and passage.text[start - 1 : start].isalnum()
        and passage.text[start : start + 1].isalnum()
    )


def passages(text: str, own: Pieces, previous: Sequence[int]) -> Iterator[Passage]:
    """Yield the passages of a turn. Each but the first is read with the end of the passage before it."""
    start, before = 0, previous[-PREVIOUS:]
    while start < len(own.ids):
        end = _passage_end(text, own, start)
        yield Passage(text, own.ids[start:end], own.offsets[start:end], before)
        start, before = end, own.ids[max(start, end - PREVIOUS) : end]


def _passage_end(text: str, own: Pieces, start: int) -> int:
    """Return where a passage ends: with the text, or after the last full stop that fits, or else where it is full."""
    limit = start + TEXT
    if limit >= len(own.ids):
        return len(own.ids)
    ends = (n + 1 for n in range(limit - 1, start + TEXT // 2, -1) if text[own.offsets[n][1] - 1] in ".!?;")
    return next(ends, limit)
