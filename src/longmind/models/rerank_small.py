"""The reranker of ``longmind-models``: compares a question with texts piece by piece, within a time budget.

Questions and texts are read apart from each other. Each word piece of a text gets a vector that knows its neighbours,
and what was said before and after. These vectors are kept, so that a text is read once and a question costs one reading
of itself. The number of a text is a mean over the pieces of the question of the best match among those of the text.

What has not been read yet is read within the budget, the best candidates first; what is left over then is read while
nothing is asked, and after that what ``read_ahead`` is given. What a piece costs is measured once, when the model is
loaded. Questions that are asked at the same time share the budget: under load fewer new texts are read, and nobody
waits for the others.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import time
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from longmind.errors import ModelError
from longmind.models import small_models
from longmind.models.kept_texts import KeptTexts, TextPieces, TextVectors
from longmind.models.rerank_pairs import SHIPPED, asked_alone, passages_alone, text_alone

if TYPE_CHECKING:
    from longmind.models.small_models import Floats, SmallModel

MOST = 60
"""The most candidates that are compared."""
JUDGED, LONG, MOST_LONG = 20, 80, 30
"""Where so many first texts have more word pieces than this on average, fewer are compared: of a long text it reads a
passage, and among many passages that speak of the same things the order of recall is the better one."""
MOST_WAITING = 240
"""The most texts that wait to be read while nothing is asked; the oldest are dropped."""
PAUSE = 0.02
"""Seconds between two looks whether something is still being asked."""
MEASURED = 64
"""The word pieces of the text by which the cost of reading is measured."""
READ_CHARACTERS = 6_000
"""The most characters of a text that are looked at."""

log = logging.getLogger(__name__)


class TextInContext(NamedTuple):
    """A text with who says it, and what was said before and after it."""

    text: str
    before: str = ""
    after: str = ""


Numbers = list[float | None]
"""The numbers of the first candidates, None where one was not read: logarithms of the odds that a text answers."""


class _Question(NamedTuple):
    """The vectors of a question's pieces, how much each counts, and what their mean is worth: factor and addend."""

    vectors: Floats
    weights: Floats
    factor: float
    addend: float


class SmallReranker:
    """Scores candidates within ``budget_ms`` of CPU time for the questions that are asked at the same time."""

    name = "longmind-models/reranker"

    def __init__(self, budget_ms: float = 60.0, kept: KeptTexts | None = None, most: int = MOST) -> None:
        self._budget, self._most = budget_ms / 1_000, most
        self._kept = KeptTexts() if kept is None else kept
        self._model: SmallModel | None = None
        self._piece_seconds = 0.0
        self._questions = 0
        """How many questions are being read for."""
        self._waiting: deque[tuple[str, TextInContext]] = deque(maxlen=MOST_WAITING)
        """Texts that were left over, each with its question."""
        self._reading: asyncio.Task[None] | None = None

    async def depth(self) -> int:
        """Return how many candidates are compared."""
        return self._most

    async def read(self, question: str, texts: Sequence[TextInContext]) -> Numbers:
        """Return the numbers of texts: of those that were read before, and of the first others that fit the budget."""
        compared = texts[: self._most]
        self._questions += 1
        try:
            numbers = await asyncio.to_thread(self._read, question, compared, self._questions, self._kept.cleared)
        finally:
            self._questions -= 1
        left = [text for text, number in zip(compared, numbers, strict=False) if number is None]
        if left:
            self._waiting.extend((question, text) for text in reversed(left))
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._read_waiting())
        return numbers

    @property
    def has_room(self) -> bool:
        """Whether what is read ahead is kept without pushing out what questions use."""
        return self._kept.has_room

    async def read_ahead(self, texts: Sequence[TextInContext]) -> None:
        """Read texts in every way that a question could ask for, one passage at a time, while nothing is asked.

        Stops where there is no more room, or something was erased since.
        """
        cleared = self._kept.cleared
        for text in texts:
            if isinstance(self._kept.get(_digest_of(text)), TextVectors):
                continue
            passage, passages = 0, 1
            while passage < passages:
                if cleared != self._kept.cleared or not self.has_room:
                    return
                if self._questions or (self._reading is not None and not self._reading.done()):
                    await asyncio.sleep(PAUSE)
                    continue
                passages = await asyncio.to_thread(self._read_passage, text, passage, cleared)
                passage += 1

    async def close(self) -> None:
        """Stop to read what waits. A question asked later starts anew."""
        reading, self._reading = self._reading, None
        self._waiting.clear()
        if reading is not None and reading.get_loop() is asyncio.get_running_loop():
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def forget(self) -> None:
        """Let go of everything that was read: something was erased."""
        self._waiting.clear()
        self._kept.clear()

    async def _read_waiting(self) -> None:
        """Read what was left over, the newest question and its best candidates first, while nothing is asked."""
        while self._waiting:
            if self._questions:
                await asyncio.sleep(PAUSE)
                continue
            cleared, loop = self._kept.cleared, asyncio.get_running_loop()
            try:
                reading = loop.run_in_executor(None, self._read_one, *self._waiting.pop(), cleared)
            except RuntimeError:  # the process is ending, and its threads take nothing more
                return
            try:
                await reading
            except ModelError as error:
                self._waiting.clear()
                log.warning("The reranker reads no further ahead. %s", error.message)

    def _read_one(self, question: str, text: TextInContext, cleared: int) -> None:
        model = self._load()
        self._vectors(model, model.pieces([question])[0].ids, text, math.inf, cleared)

    def _read_passage(self, text: TextInContext, number: int, cleared: int) -> int:
        """Read one passage of a text, unless it was read before. Return how many there are."""
        model, key = self._load(), _digest_of(text)
        known = self._kept.get(key)
        if isinstance(known, TextVectors):
            return 1
        pieces = _pieces_of(model, text) if known is None else known
        passages = passages_alone(*pieces)
        self._passage_vectors(model, key, pieces, *passages[number], math.inf, cleared)
        return len(passages)

    def _read(self, question: str, texts: Sequence[TextInContext], questions: int, cleared: int) -> Numbers:
        model = self._load()
        asked_ids = model.pieces([question])[0].ids
        asked = read_question(model, asked_ids)
        most = self._budget / questions / self._piece_seconds - len(asked_ids)
        numbers: Numbers = []
        lengths: list[int] = []
        limit = len(texts)
        for text in texts:
            if len(numbers) == limit:
                break
            known, cost = self._vectors(model, asked_ids, text, most, cleared)
            most -= cost
            numbers.append(None if known is None else number_of(asked, known))
            if known is not None:
                lengths.append(known.length)
            if len(numbers) == JUDGED and sum(lengths) > LONG * len(lengths):
                limit = min(limit, MOST_LONG)
        return numbers

    def _vectors(
        self, model: SmallModel, asked: Sequence[int], text: TextInContext, most: float, cleared: int
    ) -> tuple[TextVectors | None, int]:
        """Return the vectors of a text and how many pieces were read for them; none if these are more than ``most``."""
        key = _digest_of(text)
        known = self._kept.get(key)
        if isinstance(known, TextVectors):
            return known, 0
        if known is None and most <= 0:
            return None, 0
        pieces = _pieces_of(model, text) if known is None else known
        return self._passage_vectors(model, key, pieces, *text_alone(asked, *pieces), most, cleared)

    def _passage_vectors(
        self,
        model: SmallModel,
        key: bytes,
        pieces: TextPieces,
        ids: Sequence[int],
        head: int,
        most: float,
        cleared: int,
    ) -> tuple[TextVectors | None, int]:
        """Return the vectors of a passage, which may be the whole text with this key, and how many pieces were read."""
        if len(pieces.text) > SHIPPED.text:
            self._kept.add(key, pieces, cleared)
            key = _digest(repr(ids))
            passage = self._kept.get(key)
            if isinstance(passage, TextVectors):
                return passage, 0
        if len(ids) > most:
            return None, 0
        read = read_text(model, ids, head, len(pieces.text))
        self._kept.add(key, read, cleared)
        return read, len(ids)

    def _load(self) -> SmallModel:
        if self._model is None:
            model = small_models.load("reranker")
            ids = list(range(2_000, 2_000 + MEASURED))
            read_text(model, ids, 8, MEASURED)
            times = []
            for _ in range(5):
                began = time.thread_time()
                read_text(model, ids, 8, MEASURED)
                times.append(time.thread_time() - began)
            self._piece_seconds = max(sorted(times)[2], 1e-6) / MEASURED
            self._model = model
        return self._model


def _pieces_of(model: SmallModel, text: TextInContext) -> TextPieces:
    return TextPieces(*(part.ids for part in model.pieces([part[:READ_CHARACTERS] for part in text])))


def _digest_of(text: TextInContext) -> bytes:
    return _digest("\0".join(text))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="replace"), digest_size=16).digest()


def read_question(model: SmallModel, pieces: Sequence[int]) -> _Question:
    """Return the vectors of a question's pieces, how much each counts, and what their mean is worth."""
    import numpy as np

    ids = asked_alone(pieces)
    tokens = model.encode(ids, len(ids))
    raised = np.exp(model.end("weight", tokens)[:, 0])
    factor, addend = model.end("level", tokens[:1])[0].tolist()
    return _Question(
        _unit(model.end("vector", tokens)), raised / raised.sum(), float(20 * np.exp(factor)), 10 * (addend - 1)
    )


def read_text(model: SmallModel, ids: Sequence[int], head: int, length: int) -> TextVectors:
    """Return the vectors of a text's pieces; ``length`` is that of the whole text, not of the passage."""
    import numpy as np

    tokens = model.encode(ids, head)
    vectors = _unit(model.end("vector", tokens)) / (1 + np.exp(-model.end("strength", tokens)))
    scales = np.abs(vectors).max(axis=1) / 127 + 1e-12
    return TextVectors(np.round(vectors / scales[:, None]).astype(np.int8), scales.astype(np.float32), length)


def number_of(question: _Question, text: TextVectors) -> float:
    """Return the logarithm of the odds that a text answers a question."""
    import numpy as np

    products = small_models.product(question.vectors, text.vectors.astype(np.float32)) * text.scales
    best = np.maximum(products.max(axis=1), 0.0)
    return question.factor * float(best @ question.weights) + question.addend


def _unit(vectors: Floats) -> Floats:
    import numpy as np

    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    units: Floats = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    return units


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
