"""The trained checker of claims: a claim is read once more, beside the turn that it was found in.

The reader of statements sees a turn and finds all claims of it at once. Whoever reads one claim beside its turn can
tell better whether it is right: that "Slack" is where a team moved, and no home. It shares its encoder with the reader
of changes, which reads a known fact in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longmind.models.change_reader import joined
from longmind.models.changes import SPEAKER
from longmind.models.claim_decoding import Array, Verdict
from longmind.models.passages import Passage
from longmind.models.small_models import Encoder
from longmind.models.statements import StatedClaim

CLAIM, PREVIOUS, TEXT = 30, 40, 128
"""The most pieces of a claim, of the turn before, and of the text around the claim that are read, as in training."""
VERDICTS = ("right", "trivial", "wrong")
"""What may be found: stated and worth keeping; true, but not worth it; not stated, or stated otherwise."""


@dataclass(frozen=True, slots=True)
class ClaimToCheck:
    """A claim in the words in which it is read."""

    subject: str
    """``SPEAKER``, or the words that name somebody or something else."""
    relation: str
    object: str
    status: str

    @property
    def words(self) -> str:
        return f"{self.status}, {self.subject}: {self.relation.replace('_', ' ')} {self.object}"


def to_check(claim: StatedClaim, text: str) -> ClaimToCheck:
    """Return a claim of a text as it is read once more."""
    subject = SPEAKER if claim.subject is None else text[slice(*claim.subject)]
    return ClaimToCheck(subject, claim.relation, text[slice(*claim.object)], claim.status)


def around(first: int, ids: Sequence[int], before: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """Return the pieces before those of a text that are read around one of them, and these."""
    start = max(0, min(first - TEXT // 2, len(ids) - TEXT))
    return (ids[max(0, start - PREVIOUS) : start] if start else before[-PREVIOUS:]), ids[start : start + TEXT]


class ClaimChecker:
    """Reads claims with the encoder of the reader of changes, and an end of its own."""

    def __init__(self, model: Encoder) -> None:
        self._model = model

    def check(self, claim: StatedClaim, passage: Passage) -> Verdict:
        """Return what is found about a claim of a passage."""
        words = self._model.pieces([to_check(claim, passage.text).words])[0].ids
        first = next(n for n, (_, end) in enumerate(passage.offsets) if end > claim.object[0])
        ids, head = joined(words, *around(first, passage.ids, passage.before), most=CLAIM)
        first_token = self._model.encode(ids, head)[0]
        ends = self._model.ends
        numbers = (ends["verdict.weight"] @ first_token + ends["verdict.bias"]).astype(np.float64)
        return Verdict(*(_log_odds(numbers, VERDICTS.index(name)) for name in ("right", "wrong")))


def _log_odds(numbers: Array, place: int) -> float:
    """Return the logarithm of the odds of one of several cases."""
    others = np.delete(numbers, place)
    most = others.max()
    return float(np.clip(numbers[place] - most - np.log(np.exp(others - most).sum()), -8, 8))
