"""The reranker of ``longmind-models``: reads a question beside each text and its neighbours, within a time budget.

It reads the best candidates first, as many as fit the budget on this machine. What a word piece costs is measured once,
when the model is loaded, so that a process that is asked one question at a time always reads the same candidates of it.
Questions that are asked at the same time share the budget: under load less is read, and nobody waits for the others.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from longmind.errors import ModelError
from longmind.models import small_models
from longmind.models.rerank_pairs import pair

if TYPE_CHECKING:
    from longmind.models.small_models import Pieces, SmallModel

MOST = 60
"""The most candidates that are read, however large the budget is."""
SHORT = 40
"""The word pieces of a short pair: so many candidates are fetched that the budget is used up by short ones too."""
MEASURED = 64
READ_CHARACTERS = 6_000

log = logging.getLogger(__name__)


class TextInContext(NamedTuple):
    """A text with who says it, and what was said before and after it."""

    text: str
    before: str = ""
    after: str = ""


class Reranked(NamedTuple):
    """The numbers of the candidates that were read, in their order, and the lengths of their texts in word pieces.

    A number above 0 says that the text probably answers; they are logarithms of odds.
    """

    numbers: list[float]
    lengths: list[int]


class SmallReranker:
    """Scores candidates within ``budget_ms`` of CPU time for the questions that are asked at the same time."""

    name = "longmind-models/reranker"

    def __init__(self, budget_ms: float = 60.0) -> None:
        self._budget = budget_ms / 1_000
        self._model: SmallModel | None = None
        self._piece_seconds = 0.0
        self._questions = 0
        """How many questions are being read for."""

    async def depth(self) -> int:
        """Return how many short candidates fit the budget of one more question."""
        if self._model is None:
            await asyncio.to_thread(self._load)
        return max(1, min(MOST, int(self._pieces_for_each(self._questions + 1) / SHORT)))

    async def read(self, question: str, texts: Sequence[TextInContext]) -> Reranked:
        """Return the numbers of the first texts, as many as fit the budget; at least one if nothing else is read."""
        self._questions += 1
        try:
            return await asyncio.to_thread(self._read, question, texts, self._questions)
        finally:
            self._questions -= 1

    def _read(self, question: str, texts: Sequence[TextInContext], questions: int) -> Reranked:
        import numpy as np

        model = self._load()
        parts = [part[:READ_CHARACTERS] for text in texts for part in text]
        asked, *pieces = model.pieces([question, *parts])
        most = self._pieces_for_each(questions)
        weight, bias = np.asarray(model.ends["score.weight"][0]), float(model.ends["score.bias"][0])
        numbers: list[float] = []
        for ids, head in self._pairs(asked, pieces):
            most -= len(ids)
            if most < 0 and (numbers or questions > 1):
                break
            numbers.append(float(model.encode(ids, head)[0] @ weight) + bias)
        return Reranked(numbers, [len(pieces[3 * place].ids) for place in range(len(numbers))])

    def _pieces_for_each(self, questions: int) -> float:
        """Return how many word pieces may be read for each of so many questions at the same time."""
        return self._budget / questions / self._piece_seconds

    @staticmethod
    def _pairs(asked: Pieces, pieces: Sequence[Pieces]) -> list[tuple[list[int], int]]:
        return [
            pair(asked.ids, pieces[place].ids, pieces[place + 1].ids, pieces[place + 2].ids)
            for place in range(0, len(pieces), 3)
        ]

    def _load(self) -> SmallModel:
        if self._model is None:
            model = small_models.load("reranker")
            ids = list(range(2_000, 2_000 + MEASURED))
            model.encode(ids, 8)
            times = []
            for _ in range(5):
                began = time.thread_time()
                model.encode(ids, 8)
                times.append(time.thread_time() - began)
            self._piece_seconds = max(min(times), 1e-6) / MEASURED
            self._model = model
        return self._model


def open_reranker(budget_ms: float) -> SmallReranker | None:
    """Return the reranker if its packages are installed and the budget is above 0."""
    if budget_ms <= 0 or small_models.missing():
        return None
    try:
        small_models.load("reranker")
    except ModelError as error:
        log.warning("Recall goes on without its reranker. %s", error.message)
        return None
    return SmallReranker(budget_ms)
