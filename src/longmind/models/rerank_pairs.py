"""What the reranker reads: a question beside a text and the ends of its neighbours, as word-piece numbers.

    [CLS] question [SEP] text [SEP] end of the text before [SEP] beginning of the text after [SEP]

Of a long text it reads the passage that shares most with the question. Training uses this very module, so it imports
nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

CLS, SEP = 101, 102


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
"""A pair costs as much as it is long, so the model that is shipped reads less than its teachers."""
COMMON = 3_000
"""The vocabulary is ordered by frequency: pieces before this one are marks and common words, and count little."""


def pair(
    question: Sequence[int],
    text: Sequence[int],
    before: Sequence[int] = (),
    after: Sequence[int] = (),
    sizes: Sizes = SHIPPED,
) -> tuple[list[int], int]:
    """Return the pieces of a pair, and how many of them belong to the question with its marks."""
    head = [CLS, *question[: sizes.question], SEP]
    body = [*passage(question, text, sizes.text), SEP]
    if before:
        body += [*before[-sizes.before :], SEP]
    if after:
        body += [*after[: sizes.after], SEP]
    return head + body, len(head)


def passage(question: Sequence[int], text: Sequence[int], size: int) -> Sequence[int]:
    """Return the passage of a text that shares most different pieces with a question; the first of equals."""
    if len(text) <= size:
        return text
    wanted = set(question)

    def shared(start: int) -> tuple[float, int]:
        common = wanted.intersection(text[start : start + size])
        return sum(1.0 if piece >= COMMON else 0.1 for piece in common), -start

    step = size // 2
    best = max(range(0, len(text) - size + step, step), key=shared)
    return text[best : best + size]
