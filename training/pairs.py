"""What the reranker reads: a question beside a text and the ends of its neighbours, as word-piece numbers.

    [CLS] question [SEP] text [SEP] end of the text before [SEP] beginning of the text after [SEP]

Of a long text it reads the passage that shares most with the question. Training uses this very module, so it imports
nothing.
"""

from collections.abc import Sequence

CLS, SEP = 101, 102
QUESTION, TEXT, BEFORE, AFTER = 40, 120, 28, 20
"""The most pieces of each part that are read."""
STEP = 60
"""How far apart the passages of a long text begin."""
COMMON = 3_000
"""The vocabulary is ordered by frequency: pieces before this one are marks and common words, and count little."""


def pair(
    question: Sequence[int], text: Sequence[int], before: Sequence[int] = (), after: Sequence[int] = ()
) -> tuple[list[int], int]:
    """Return the pieces of a pair, and how many of them belong to the question with its marks."""
    head = [CLS, *question[:QUESTION], SEP]
    body = [*passage(question, text), SEP]
    if before:
        body += [*before[-BEFORE:], SEP]
    if after:
        body += [*after[:AFTER], SEP]
    return head + body, len(head)


def passage(question: Sequence[int], text: Sequence[int], size: int = TEXT) -> Sequence[int]:
    """Return the passage of a text that shares most different pieces with a question; the first of equals."""
    if len(text) <= size:
        return text
    wanted = set(question)

    def shared(start: int) -> tuple[float, int]:
        common = wanted.intersection(text[start : start + size])
        return sum(1.0 if piece >= COMMON else 0.1 for piece in common), -start

    best = max(range(0, len(text) - size + STEP, STEP), key=shared)
    return text[best : best + size]
