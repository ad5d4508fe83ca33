"""The reader of answers: where in a passage the words stand that answer a question, or that none of them does.

``SpanReader`` is what the rest of Longmind uses. ``SmallSpanReader`` is the one of our own: it has two numbers for each
word piece, that an answer begins there and that it ends there. The first piece stands for "no answer here".
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from longmind.models.small_models import CLS, SEP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from longmind.models.small_models import Pieces

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


class EncodingModel(Protocol):
    """What a span reader needs of a small model; see ``small_models.SmallModel``."""

    ends: Mapping[str, NDArray[Any]]

    def pieces(self, texts: Sequence[str]) -> list[Pieces]: ...

    def encode(self, ids: Sequence[int], head: int) -> NDArray[Any]: ...


class SpanReader(Protocol):
    """Finds answers in passages. A passage is a few texts in their order, each with its speaker in front of it."""

    async def read(self, question: str, passages: Sequence[Sequence[str]]) -> list[Reading]: ...


class SmallSpanReader:
    """The span reader of ``longmind-models``. It runs in a thread, one passage after another."""

    def __init__(self, model: EncodingModel) -> None:
        self._model = model

    async def read(self, question: str, passages: Sequence[Sequence[str]]) -> list[Reading]:
        """Return what was read in each passage."""
        pieces = (await asyncio.to_thread(self._model.pieces, [question]))[0]
        head = [CLS, *pieces.ids[:QUESTION], SEP]
        return [await asyncio.to_thread(self._read, head, passage) for passage in passages]

    def _read(self, head: list[int], passage: Sequence[str]) -> Reading:
        ids = list(head)
        places: list[tuple[int, int, int] | None] = [None] * len(head)
        for number, pieces in enumerate(self._model.pieces(passage)):
            room = max(0, WINDOW - len(ids) - 1)
            ids += [*pieces.ids[:room], SEP]
            places += [*((number, start, end) for start, end in pieces.offsets[:room]), None]
            if len(ids) >= WINDOW:
                break
        ends = self._model.ends
        numbers = self._model.encode(ids, len(head)) @ ends["span.weight"].T + ends["span.bias"]
        return _best_spans(numbers, places)


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
