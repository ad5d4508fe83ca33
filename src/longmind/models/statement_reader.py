"""The trained reader of statements: one of the small models, with thresholds for what counts.

A turn is read together with the end of the one before it. A text that is longer than the model's window is read in
passages. Turns go through the model one by one, so that what is read of one never depends on its neighbours.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from numpy.typing import NDArray

from longmind.errors import ModelError
from longmind.models.change_signs import ChangeSigns, signs_of_change
from longmind.models.claim_decoding import Array, ClaimHeads, DecodedClaim, decode
from longmind.models.passages import Passage, characters_of, passages
from longmind.models.small_models import CLS, INSTALL, SEP, Pieces, load
from longmind.models.statements import RELATIONS, STATUSES, PossibleChange, Span, StatedClaim, Turn, TurnReading

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


class TrainedStatementReader:
    """Reads claims with a trained model, whose ends hold its layers, its relations and its thresholds."""

    name = "statements"

    def __init__(self, model: Encoder) -> None:
        self._model = model
        self.relations = [str(name) for name in model.ends.get("relations", RELATIONS)]
        self._heads = ClaimHeads({name: value for name, value in model.ends.items() if value.dtype.kind == "f"})
        if len(model.ends["relation.weight"]) != len(self.relations):
            raise ModelError("The reader of statements has other relations than its weights.", hint=INSTALL)
        self._changes = ChangeSigns.stored(model.ends)
        self.thresholds = Thresholds(self._limits("keep"), self._limits("beside"), self._limits("change"))

    def _limits(self, kind: str) -> dict[str, float]:
        """Return the thresholds by relation; none before they were computed."""
        stored = self._model.ends.get(kind)
        return {} if stored is None else dict(zip(self.relations, stored.tolist(), strict=True))

    def read(self, turns: Sequence[Turn]) -> list[TurnReading]:
        """Return what is read of each turn, claims by the thresholds of their relations."""
        limits = self.thresholds
        readings = []
        for passages_read in self._encode(turns):
            reading = TurnReading()
            for passage, head, tokens in passages_read:
                for claim, _ in self._claims(passage, head, tokens):
                    reading.claims.append(replace(claim, kept=limits.keeps(claim), certain=limits.changes(claim)))
                if self._changes is not None:
                    place = passage.offsets[0][0]
                    found = self._changes.find(tokens, head)
                    reading.changes.extend(PossibleChange(self.relations[n], place, likely) for n, likely in found)
            readings.append(reading)
        return readings

    def decode_all(self, turns: Sequence[Turn]) -> list[list[tuple[StatedClaim, DecodedClaim]]]:
        """Return every claim of each turn before any threshold, and what it was decoded from."""
        return [
            [claim for passage, head, tokens in passages_read for claim in self._claims(passage, head, tokens)]
            for passages_read in self._encode(turns)
        ]

    def signs_of_change(self, turns: Sequence[Turn]) -> list[Array]:
        """Return for the first passage of each turn what tells of changes: the layers for that are trained on it."""
        empty = Turn("-")
        return [
            signs_of_change(tokens, head)
            for passages_read in self._encode([turn if turn.text.strip() else empty for turn in turns])
            for _, head, tokens in list(passages_read)[:1]
        ]

    def _encode(self, turns: Sequence[Turn]) -> Iterator[Iterator[tuple[Passage, int, Array]]]:
        """Yield for each turn its passages, where each begins in what is read, and a vector for each piece read."""
        texts = self._model.pieces([turn.text for turn in turns])
        before = self._model.pieces([turn.previous or "" for turn in turns])
        for turn, own, previous in zip(turns, texts, before, strict=True):
            yield map(self._encode_passage, passages(turn.text, own, previous.ids))

    def _encode_passage(self, passage: Passage) -> tuple[Passage, int, Array]:
        head = [CLS, *passage.before, SEP]
        return passage, len(head), self._model.encode([*head, *passage.ids, SEP], len(head))

    def _claims(self, passage: Passage, head: int, tokens: Array) -> Iterator[tuple[StatedClaim, DecodedClaim]]:
        for claim in decode(tokens, head, len(tokens) - 2, self._heads):
            relation = self.relations[claim.relation]
            if relation in RELATIONS:
                yield _stated(relation, claim, passage, head), claim


def _stated(relation: str, claim: DecodedClaim, passage: Passage, head: int) -> StatedClaim:
    def characters(pieces: Span) -> Span:
        return characters_of(passage, pieces[0] - head, pieces[1] - head)

    return StatedClaim(
        relation,
        STATUSES[claim.status],
        characters(claim.object),
        claim.confidence,
        subject=None if claim.subject is None else characters(claim.subject),
        time=None if claim.time is None else characters(claim.time),
    )


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
