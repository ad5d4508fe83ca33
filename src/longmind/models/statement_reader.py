"""The trained reader of statements: one of the small models, with thresholds for what counts.

A turn is read together with the end of the one before it. A text that is longer than the model's window is read in
passages. Turns go through the model one by one, so that what is read of one never depends on its neighbours.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from longmind.errors import ModelError
from longmind.models.claim_decoding import Array, ClaimHeads, DecodedClaim, decode
from longmind.models.small_models import CLS, INSTALL, SEP, Pieces, load
from longmind.models.statements import RELATIONS, STATUSES, Span, StatedClaim, Turn
from longmind.text.sentences import is_abbreviation

PREVIOUS, TEXT = 60, 170
"""The most pieces of the turn before and of a passage that are read at once, as in training."""
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
"""What a claim says stands in one sentence."""
_NEVER = 1.01
"""A threshold that no confidence reaches."""


class Encoder(Protocol):
    """What reading needs of a small model."""

    @property
    def ends(self) -> Mapping[str, NDArray[Any]]: ...

    def pieces(self, texts: Sequence[str]) -> list[Pieces]: ...

    def encode(self, ids: Sequence[int], head: int) -> Array: ...


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which confidence on claims of a relation count; one that is not listed is never read.

    ``python -m training.claims.thresholds`` computes them on the development writers.
    """

    keep: Mapping[str, float]
    """Enough for what holds now to be kept: if it is false, it does harm."""
    beside: Mapping[str, float]
    """Enough for what was, is planned, or has ended."""
    change: Mapping[str, float]
    """Enough to replace or end what is known."""

    def keeps(self, claim: StatedClaim) -> bool:
        """Whether a claim is sure enough to be kept."""
        table = self.keep if claim.status == "current" else self.beside
        return claim.confidence >= table.get(claim.relation, _NEVER)

    def changes(self, claim: StatedClaim) -> bool:
        """Whether a claim is sure enough to change what is known."""
        return claim.confidence >= self.change.get(claim.relation, _NEVER)


class _Passage(NamedTuple):
    """Some word pieces of a turn that are read at once, where each stands in its text, and the pieces before them."""

    text: str
    ids: Sequence[int]
    offsets: Sequence[Span]
    before: Sequence[int]


class TrainedStatementReader:
    """Reads claims with a trained model, whose ends hold its layers, its relations and its thresholds."""

    name = "statements"

    def __init__(self, model: Encoder) -> None:
        self._model = model
        self.relations = [str(name) for name in model.ends.get("relations", RELATIONS)]
        self._heads = ClaimHeads({name: value for name, value in model.ends.items() if value.dtype.kind == "f"})
        if len(model.ends["relation.weight"]) != len(self.relations):
            raise ModelError("The reader of statements has other relations than its weights.", hint=INSTALL)
        self.thresholds = Thresholds(self._limits("keep"), self._limits("beside"), self._limits("change"))

    def _limits(self, kind: str) -> dict[str, float]:
        """Return the thresholds by relation; none before they were computed."""
        stored = self._model.ends.get(kind)
        return {} if stored is None else dict(zip(self.relations, stored.tolist(), strict=True))

    def read(self, turns: Sequence[Turn]) -> list[list[StatedClaim]]:
        """Return the claims of each turn, in the order of the text, by the thresholds of their relations."""
        limits = self.thresholds
        return [
            [replace(claim, kept=limits.keeps(claim), certain=limits.changes(claim)) for claim in claims]
            for claims in self.read_all(turns)
        ]

    def read_all(self, turns: Sequence[Turn]) -> list[list[StatedClaim]]:
        """Return the claims of each turn before any threshold."""
        return [[claim for claim, _ in claims] for claims in self.decode_all(turns)]

    def decode_all(self, turns: Sequence[Turn]) -> list[list[tuple[StatedClaim, DecodedClaim]]]:
        """Return every claim of each turn, and what it was decoded from: what the calibration is computed from."""
        texts = self._model.pieces([turn.text for turn in turns])
        before = self._model.pieces([turn.previous or "" for turn in turns])
        return [
            [claim for passage in _passages(turn.text, own, previous.ids) for claim in self._read(passage)]
            for turn, own, previous in zip(turns, texts, before, strict=True)
        ]

    def _read(self, passage: _Passage) -> Iterator[tuple[StatedClaim, DecodedClaim]]:
        head = [CLS, *passage.before, SEP]
        tokens = self._model.encode([*head, *passage.ids, SEP], len(head))
        for claim in decode(tokens, len(head), len(tokens) - 2, self._heads):
            relation = self.relations[claim.relation]
            if relation in RELATIONS:
                yield _stated(relation, claim, passage, len(head)), claim


def _stated(relation: str, claim: DecodedClaim, passage: _Passage, head: int) -> StatedClaim:
    def characters(pieces: Span) -> Span:
        return _characters(passage, pieces[0] - head, pieces[1] - head)

    return StatedClaim(
        relation,
        STATUSES[claim.status],
        characters(claim.object),
        claim.confidence,
        subject=None if claim.subject is None else characters(claim.subject),
        time=None if claim.time is None else characters(claim.time),
    )


def _characters(passage: _Passage, first: int, last: int) -> Span:
    """Return the characters of some pieces, from the beginning of the first word to the end of the last."""
    while first > 0 and _continues(passage, first):
        first -= 1
    while last + 1 < len(passage.offsets) and _continues(passage, last + 1):
        last += 1
    start, end = passage.offsets[first][0], passage.offsets[last][1]
    ends = _SENTENCE_END.finditer(passage.text, start, end)
    stop = next((each for each in ends if not is_abbreviation(passage.text, each.start() + 1)), None)
    return start, end if stop is None or stop.start() == start else stop.start()


def _continues(passage: _Passage, number: int) -> bool:
    """Whether a piece goes on with the word of the piece before it."""
    start = passage.offsets[number][0]
    return (
        passage.offsets[number - 1][1] == start
        and passage.text[start - 1 : start].isalnum()
        and passage.text[start : start + 1].isalnum()
    )


def _passages(text: str, own: Pieces, previous: Sequence[int]) -> Iterator[_Passage]:
    """Yield the passages of a turn. Each but the first is read with the end of the passage before it."""
    start, before = 0, previous[-PREVIOUS:]
    while start < len(own.ids):
        end = _passage_end(text, own, start)
        yield _Passage(text, own.ids[start:end], own.offsets[start:end], before)
        start, before = end, own.ids[max(start, end - PREVIOUS) : end]


def _passage_end(text: str, own: Pieces, start: int) -> int:
    """Return where a passage ends: with the text, or after the last full stop that fits, or else where it is full."""
    limit = start + TEXT
    if limit >= len(own.ids):
        return len(own.ids)
    ends = (n + 1 for n in range(limit - 1, start + TEXT // 2, -1) if text[own.offsets[n][1] - 1] in ".!?;")
    return next(ends, limit)


_opening = threading.Lock()
_opened: list[TrainedStatementReader] = []


def shared_reader() -> TrainedStatementReader | None:
    """Return the trained reader, opened once in a process; None if no thresholds were computed for its weights.

    Raises ``ModelMissing`` if it is not installed.
    """
    with _opening:
        if not _opened:
            model = load("statements")
            if "keep" not in model.ends:
                return None
            _opened.append(TrainedStatementReader(model))
        return _opened[0]
