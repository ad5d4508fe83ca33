"""From the numbers of the trained reader to claims.

The encoder gives a vector for each word piece. The small layers here tell for each piece and relation how likely an
object begins and ends there, and for every object its status, and where its subject and its time stand. How likely all
of a claim is right is calibrated on writers that the model was not trained on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmind.models.small_models import product
from longmind.models.statements import Span

Array = NDArray[np.floating[Any]]
LONGEST_OBJECT = 40
"""Pieces of the longest object."""
LONGEST_POINTED = 12
"""Pieces of the longest subject or time."""
FLOOR = 0.2
"""Beginnings and ends that are less likely are not looked at."""
LEAST_HELD = 0.05
"""A turn that less likely holds a claim is not looked at further."""
SIGNS = ("holds", "begins", "ends", "status", "subject")
"""The beliefs that tell whether a claim is right: each of them wrong makes it wrong."""
SURE = 0.5
"""From here on a piece counts as the beginning of another object, so that none reaches over it."""
_POINTERS, _POINTER_WIDTH = 4, 96
"""Beginning and end of the subject, beginning and end of the time."""


@dataclass(frozen=True, slots=True)
class DecodedClaim:
    """A claim by the numbers of word pieces, first and last; nobody named and no time are None."""

    relation: int
    """The number of the relation in the model."""
    status: int
    object: Span
    subject: Span | None
    time: Span | None
    signs: tuple[float, ...]
    """The logarithms of the odds of the model's own beliefs, in the order of ``SIGNS``."""
    confidence: float


@dataclass(frozen=True, slots=True)
class _Object:
    """An object that may be claimed: its relation, its first and last piece, and how likely these are."""

    relation: int
    start: int
    end: int
    begins: float
    ends: float

    @property
    def likely(self) -> float:
        return math.sqrt(self.begins * self.ends)


@dataclass(frozen=True, slots=True)
class Calibration:
    """How likely a claim is right, given its signs, its relation and its status: a logistic regression."""

    signs: Array
    relations: Array
    statuses: Array
    bias: float

    @classmethod
    def stored(cls, arrays: Mapping[str, NDArray[Any]]) -> Calibration | None:
        """Return the calibration that is stored with a model, if there is one."""
        if "calibration.signs" not in arrays:
            return None
        parts = [np.asarray(arrays[f"calibration.{part}"], np.float64) for part in ("signs", "relations", "statuses")]
        return cls(parts[0], parts[1], parts[2], float(arrays["calibration.bias"]))

    def confidence(self, signs: Sequence[float], relation: int, status: int) -> float:
        """Return the confidence of a claim, from 0 to 1."""
        number = float(np.dot(self.signs, signs)) + self.relations[relation] + self.statuses[status] + self.bias
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, number))))


class ClaimHeads:
    """The layers that tell status, subject and time of an object."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = {name: np.asarray(value, np.float32) for name, value in arrays.items()}
        self._calibration = Calibration.stored(arrays)

    def holds(self, tokens: Array) -> float:
        """Return how likely a turn holds a claim at all."""
        return float(1 / (1 + np.exp(-self._dense("holds", tokens[0])[0])))

    def confidence(self, signs: Sequence[float], relation: int, status: int) -> float:
        """Return how likely a claim is right; without a calibration, the product of the beliefs."""
        if self._calibration is None:
            return math.prod(1 / (1 + math.exp(-sign)) for sign in signs)
        return self._calibration.confidence(signs, relation, status)

    def objects(self, tokens: Array) -> Array:
        """Return for each piece how likely an object begins (0) and ends (1) there, by relation."""
        likely: Array = 1 / (1 + np.exp(-self._dense("objects", tokens)))
        return likely.reshape(len(tokens), 2, -1)

    def describe(self, tokens: Array, objects: Sequence[_Object]) -> tuple[Array, Array]:
        """Return for each object how likely each status is, and each piece for each of the four pointers."""
        starts, ends = [o.start for o in objects], [o.end for o in objects]
        relations = self._arrays["relation.weight"][[o.relation for o in objects]]
        claims = _gelu(self._dense("claim", np.concatenate((tokens[starts], tokens[ends], relations), axis=1)))
        asks = self._dense("asks", claims).reshape(-1, _POINTERS, _POINTER_WIDTH)
        keys = self._dense("keys", tokens).reshape(-1, _POINTERS, _POINTER_WIDTH)
        pointers = np.einsum("cpk,tpk->cpt", asks, keys) / np.float32(math.sqrt(_POINTER_WIDTH))
        return _softmax(self._dense("status", claims)), _softmax(pointers)

    def _dense(self, name: str, value: Array) -> Array:
        result: Array = product(value, self._arrays[f"{name}.weight"]) + self._arrays[f"{name}.bias"]
        return result


def decode(tokens: Array, first: int, last: int, heads: ClaimHeads) -> list[DecodedClaim]:
    """Return the claims in a turn whose text is made of the pieces from ``first`` to ``last``.

    ``tokens`` has a row for each piece. No two objects overlap: the same words state one thing, and the likeliest
    reading of them counts.
    """
    held = heads.holds(tokens)
    objects = _objects(heads.objects(tokens), first, last) if held >= LEAST_HELD else []
    if not objects:
        return []
    claims: list[DecodedClaim] = []
    for object, statuses, pointers in zip(objects, *heads.describe(tokens, objects), strict=True):
        subject, subject_likely = _pointed(pointers[0], pointers[1], first, last)
        time, _ = _pointed(pointers[2], pointers[3], first, last)
        status = int(statuses.argmax())
        beliefs = (held, object.begins, object.ends, float(statuses[status]), subject_likely)
        signs = tuple(_log_odds(belief) for belief in beliefs)
        confidence = heads.confidence(signs, object.relation, status)
        place = (object.start, object.end)
        claims.append(DecodedClaim(object.relation, status, place, subject, time, signs, confidence))
    return sorted(claims, key=lambda claim: claim.object)


def _log_odds(belief: float) -> float:
    bounded = min(max(belief, 0.001), 0.999)
    return math.log(bounded / (1 - bounded))


def _objects(likely: Array, first: int, last: int) -> list[_Object]:
    """Return the objects that may be claimed, of which no two overlap."""
    begins, ends = likely[:, 0], likely[:, 1]
    candidates = [
        _Object(int(relation), start, int(end), float(begins[start, relation]), float(ends[end, relation]))
        for start in range(first, last + 1)
        for relation in np.flatnonzero(begins[start] >= FLOOR)
        for end in np.flatnonzero(ends[start : _limit(begins[:, relation], start, last), relation] >= FLOOR) + start
    ]
    chosen: list[_Object] = []
    for candidate in sorted(candidates, key=lambda o: (-o.likely, o.end - o.start, o.start, o.relation)):
        if all(candidate.end < other.start or candidate.start > other.end for other in chosen):
            chosen.append(candidate)
    return chosen


def _limit(begins: Array, start: int, last: int) -> int:
    """Return the first piece that an object cannot reach: where the next one of a list surely begins, or too far."""
    limit = min(start + LONGEST_OBJECT, last + 1)
    following = np.flatnonzero(begins[start + 1 : limit] >= SURE)
    return start + 1 + int(following[0]) if len(following) else limit


def _pointed(begins: Array, ends: Array, first: int, last: int) -> tuple[Span | None, float]:
    """Return the pieces that two pointers mean, None for the first piece of all, and how likely these are."""
    nobody = float(begins[0] * ends[0])
    best, place = 0.0, None
    for start in np.argsort(-begins[first : last + 1])[:3] + first:
        window = ends[start : min(start + LONGEST_POINTED, last + 1)]
        likely = float(begins[start] * window.max())
        if likely > best:
            best, place = likely, (int(start), int(start + window.argmax()))
    return (None, nobody) if nobody >= best else (place, best)


def _softmax(values: Array) -> Array:
    raised = np.exp(values - values.max(axis=-1, keepdims=True))
    shares: Array = raised / raised.sum(axis=-1, keepdims=True)
    return shares


def _gelu(value: Array) -> Array:
    """The exact form, as in training; numpy has no error function, so each number goes through ``math.erf``."""
    wave = np.fromiter((math.erf(x) for x in (value / math.sqrt(2)).flat), np.float32, value.size)
    product: Array = value * (1 + wave.reshape(value.shape)) / 2
    return product
