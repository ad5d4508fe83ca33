"""The trained reader of changes: does a known fact still hold after a turn, and what has taken its place.

It reads the fact beside the turn, so it understands what a reader of the turn alone cannot: "the ring is back in its
box" from somebody who is known to be engaged.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

import numpy as np

from longmind.models.changes import Change, KnownFact
from longmind.models.claim_decoding import Array
from longmind.models.passages import Passage, characters_of, passages
from longmind.models.small_models import CLS, SEP, load
from longmind.models.statement_reader import Encoder
from longmind.models.statements import Span

KNOWN = 22
"""The most pieces of a fact that are read, as in training."""
_NEVER = 1.01
"""A threshold that no likelihood reaches: that of weights for which none was computed."""
NOTHING_READ = -1e4
"""The number of a text that has no words."""
LONGEST_VALUE = 16
"""Pieces of the longest new value."""


def joined(known: Sequence[int], previous: Sequence[int], text: Sequence[int]) -> tuple[list[int], int]:
    """Return what is read of the pieces of a fact, the end of the turn before, and a passage; and where it begins."""
    head = [CLS, *known[:KNOWN], SEP, *previous, SEP]
    return [*head, *text, SEP], len(head)


class TrainedChangeReader:
    """Reads changes with a trained model, whose ends hold its layers, its calibration and its threshold."""

    name = "changes"

    def __init__(self, model: Encoder) -> None:
        self._model = model
        self._slope = float(model.ends.get("calibration.slope", 1.0))
        self._bias = float(model.ends.get("calibration.bias", 0.0))
        self._certain = float(model.ends.get("certain", _NEVER))

    def read(self, facts: Sequence[KnownFact]) -> list[Change]:
        """Return what each turn does to its fact."""
        changes = []
        for number, new in self.decode(facts):
            gone = 1 / (1 + math.exp(-max(-30.0, min(30.0, self._slope * number + self._bias))))
            changes.append(Change(gone, new, gone >= self._certain))
        return changes

    def decode(self, facts: Sequence[KnownFact]) -> list[tuple[float, Span | None]]:
        """Return for each fact the model's own number, and the new value: what the calibration is computed from."""
        known = self._model.pieces([fact.words for fact in facts])
        texts = self._model.pieces([fact.text for fact in facts])
        before = self._model.pieces([fact.previous or "" for fact in facts])
        results = []
        for fact, words, own, previous in zip(facts, known, texts, before, strict=True):
            parts = list(passages(fact.text, own, previous.ids))
            around = (part for part in parts if part.offsets[0][0] <= fact.place < part.offsets[-1][1])
            passage = next(around, parts[0] if parts else None)
            results.append((NOTHING_READ, None) if passage is None else self._read(words.ids, passage))
        return results

    def _read(self, known: Sequence[int], passage: Passage) -> tuple[float, Span | None]:
        ids, head = joined(known, passage.before, passage.ids)
        tokens = self._model.encode(ids, head)
        number = float(tokens[0] @ self._model.ends["gone.weight"][0] + self._model.ends["gone.bias"][0])
        places = tokens @ self._model.ends["span.weight"].T + self._model.ends["span.bias"]
        value = best_value(places[[0, *range(head, len(tokens) - 1)]])
        return number, None if value is None else characters_of(passage, *value)


def best_value(places: Array) -> tuple[int, int] | None:
    """Return the first and the last piece of a new value, or None if none is likelier.

    The rows are the numbers for a beginning and an end: of the first token of all, which means none, and of the pieces
    of the text.
    """
    best, value = float(places[0].sum()), None
    for start in np.argsort(-places[1:, 0])[:5]:
        ends = places[1 + start : 1 + start + LONGEST_VALUE, 1]
        likely = float(places[1 + start, 0] + ends.max())
        if likely > best:
            best, value = likely, (int(start), int(start + ends.argmax()))
    return value


_opening = threading.Lock()
_opened: list[TrainedChangeReader] = []


def shared_reader() -> TrainedChangeReader:
    """Return the trained reader, opened once in a process. Raises ``ModelMissing`` if it is not installed."""
    with _opening:
        if not _opened:
            _opened.append(TrainedChangeReader(load("changes")))
        return _opened[0]
