"""What a reranker reads, as word-piece numbers. Training uses this very module, so it imports nothing.

The reranker that is shipped reads a question and a text apart from each other:

    [CLS] [question] question [SEP]
    [CLS] [text] text [SEP] end of the text before [SEP] beginning of the text after [SEP]

Its teachers read them side by side: ``[CLS] question [SEP] text [SEP] ... [SEP]``. Of a long text both read the passage
that shares most with the question.
"""

from collections.abc import Sequence
from typing import NamedTuple

CLS, SEP = 101, 102
QUESTION, TEXT = 1, 2
"""Pieces of the vocabulary that no text has: they say what follows."""


class Sizes(NamedTuple):
    """The most pieces of each part that are read."""

    question: int
    text: int
    before: int
    after: int

    @property
    def total(self) -> int:
        return sum(self) + 5


TEACHER = Sizes(40, 120, 28, 20)
SHIPPED = Sizes(32, 84, 18, 10)
"""A text costs as much as it is long, so the model that is shipped reads less than its teachers."""
COMMON = 3_000
"""The vocabulary is ordered by frequency: pieces before this one are marks and common words, and count little."""


def pair(
    question: Sequence[int],
    text: Sequence[int],
    before: Sequence[int] = (),
    after: Sequence[int] = (),
    sizes: Sizes = TEACHER,
) -> tuple[list[int], int]:
    """Return the pieces of a pair, and how many of them belong to the question with its marks."""
    head = [CLS, *question[: sizes.question], SEP]
    body = [*passage(question, text, sizes.text), SEP]
    return head + body + _around(before, after, sizes), len(head)


def asked_alone(question: Sequence[int], sizes: Sizes = SHIPPED) -> list[int]:
    """Return the pieces of a question that is read by itself."""
    return [CLS, QUESTION, *question[: sizes.question], SEP]


def text_alone(
    question: Sequence[int],
    text: Sequence[int],
    before: Sequence[int] = (),
    after: Sequence[int] = (),
    sizes: Sizes = SHIPPED,
) -> tuple[list[int], int]:
    """Return the pieces of a text that is read by itself, and how many of them are the text with its marks.

    The question only chooses the passage of a long text.
    """
    return _alone(passage(question, text, sizes.text), before, after, sizes)


def passages_alone(
    text: Sequence[int], before: Sequence[int] = (), after: Sequence[int] = (), sizes: Sizes = SHIPPED
) -> list[tuple[list[int], int]]:
    """Return all that ``text_alone`` can return for a text, whatever the question is."""
    starts = passage_starts(len(text), sizes.text)
    return [_alone(text[start : start + sizes.text], before, after, sizes) for start in starts]


def _alone(part: Sequence[int], before: Sequence[int], after: Sequence[int], sizes: Sizes) -> tuple[list[int], int]:
    head = [CLS, TEXT, *part, SEP]
    return head + _around(before, after, sizes), len(head)


def _around(before: Sequence[int], after: Sequence[int], sizes: Sizes) -> list[int]:
    """Return the end of the text before and the beginning of the text after, each with its mark."""
    around = [*before[-sizes.before :], SEP] if before else []
    return [*around, *after[: sizes.after], SEP] if after else around


def passage(question: Sequence[int], text: Sequence[int], size: int) -> Sequence[int]:
    """Return the passage of a text that shares most different pieces with a question; the first of equals."""
    if len(text) <= size:
        return text
    wanted = set(question)

    def shared(start: int) -> tuple[float, int]:
        common = wanted.intersection(text[start : start + size])
        return sum(1.0 if piece >= COMMON else 0.1 for piece in common), -start

    best = max(passage_starts(len(text), size), key=shared)
    return text[best : best + size]


def passage_starts(length: int, size: int) -> range:
    """Return where the passages of a text begin; each overlaps the next by half."""
    step = size // 2
    return range(0, length - size + step, step) if length > size else range(1)
