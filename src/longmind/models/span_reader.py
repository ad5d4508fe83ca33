"""The reader of answers: where in a passage the words stand that answer a question, or that none of them does.

``SpanReader`` is what the rest of Longmind uses. ``SmallSpanReader`` is the one of our own: MiniLM with two numbers for
each word piece, that an answer begins there and that it ends there. The first piece stands for "no answer here".
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLS, SEP = 101, 102
WINDOW = 250
"""The most word pieces of a question and a passage that are read."""
QUESTION = 40
"""The most word pieces of a question that are read."""
LONGEST = 30
"""The most word pieces of an answer."""
BEGINNINGS = 12
"""How many places are tried as the beginning of an answer."""
KEPT = 12
"""How many spans of a passage are returned."""


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A possible answer: characters ``start`` to ``end`` of a text of the passage."""

    text: int
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read in one passage: possible answers, the best first, and the score of there being none."""

    spans: tuple[ReadSpan, ...]
    none: float


class SpanReader(Protocol):
    """Finds answers in passages. A passage is a few texts in their order, each with its speaker in front of it."""

    async def read(self, question: str, passages: Sequence[Sequence[str]]) -> list[Reading]: ...


class SmallSpanReader:
    """A span reader in ONNX, with MiniLM's tokenizer. It runs in a thread, one passage after another."""

    def __init__(self, session: Any, tokenizer: Any) -> None:
        self._session = session
        self._tokenizer = tokenizer

    async def read(self, question: str, passages: Sequence[Sequence[str]]) -> list[Reading]:
        """Return what was read in each passage."""
        pieces = await asyncio.to_thread(self._pieces, question[:2_000])
        head = [CLS, *(piece for piece, _ in pieces[:QUESTION]), SEP]
        return [await asyncio.to_thread(self._read, head, passage) for passage in passages]

    def _pieces(self, text: str) -> list[tuple[int, tuple[int, int]]]:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return list(zip(encoding.ids, encoding.offsets, strict=True))

    def _read(self, head: list[int], passage: Sequence[str]) -> Reading:
        import numpy as np

        ids = list(head)
        places: list[tuple[int, int, int] | None] = [None] * len(head)
        for number, text in enumerate(passage):
            for id, (start, end) in self._pieces(text[:4_000])[: max(0, WINDOW - len(ids) - 1)]:
                ids.append(id)
                places.append((number, start, end))
            ids.append(SEP)
            places.append(None)
            if len(ids) >= WINDOW:
                break
        tokens = np.array([ids], dtype=np.int64)
        inputs = {
            "ids": tokens,
            "segments": np.array([[0] * len(head) + [1] * (len(ids) - len(head))], dtype=np.int64),
            "mask": np.ones(tokens.shape, dtype=np.int32),
        }
        return _best_spans(self._session.run(None, inputs)[0][0], places)


def _best_spans(numbers: NDArray[Any], places: Sequence[tuple[int, int, int] | None]) -> Reading:
    """Return the spans with the highest sums; of spans that overlap, the best one only."""
    import numpy as np

    begins, ends = numbers[:, 0].copy(), numbers[:, 1]
    begins[[place is None for place in places]] = -np.inf
    candidates = []
    for first in np.argsort(-begins)[:BEGINNINGS]:
        if places[first] is None:
            break
        for last in range(first, min(first + LONGEST, len(places))):
            if places[last] is None:
                break
            candidates.append((float(begins[first] + ends[last]), int(first), int(last)))
    spans: list[ReadSpan] = []
    taken: list[tuple[int, int]] = []
    for score, first, last in sorted(candidates, reverse=True):
        if all(last < start or first > end for start, end in taken):
            begin, end = places[first], places[last]
            if begin is not None and end is not None:
                spans.append(ReadSpan(begin[0], begin[1], end[2], score))
            taken.append((first, last))
            if len(spans) == KEPT:
                break
    return Reading(tuple(spans), float(numbers[0].sum()))
