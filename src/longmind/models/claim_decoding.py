"""From the numbers of the trained reader to claims.

The encoder gives a vector for each word piece. The small layers here tell for each piece and relation how likely an
object begins and ends there, and for every object its status, and where its subject and its time stand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmind.models.statements import Span

Array = NDArray[np.floating[Any]]
LONGEST_OBJECT = 40
"""Pieces of the longest object."""
LONGEST_POINTED = 12
"""Pieces of the longest subject or time."""
FLOOR = 0.2
"""Beginnings and ends that are less likely are not looked at."""
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
    confidence: float


@dataclass(frozen=True, slots=True)
class _Object:
    """An object that may be claimed: its relation, its first and last piece, and how likely it stands there."""

    relation: int
    start: int
    end: int
    likely: float


class ClaimHeads:
    """The layers that tell status, subject and time of an object."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = {name: np.asarray(value, np.float32) for name, value in arrays.items()}

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
        product: Array = value @ self._arrays[f"{name}.weight"].T + self._arrays[f"{name}.bias"]
        return product


def decode(tokens: Array, first: int, last: int, heads: ClaimHeads) -> list[DecodedClaim]:
    """Return the claims in a turn whose text is made of the pieces from ``first`` to ``last``.

    ``tokens`` has a row for each piece. No two objects overlap: the same words state one thing, and the likeliest
    reading of them counts.
    """
    objects = _objects(heads.objects(tokens), first, last)
    if not objects:
        return []
    claims: list[DecodedClaim] = []
    for object, statuses, pointers in zip(objects, *heads.describe(tokens, objects), strict=True):
        subject, subject_likely = _pointed(pointers[0], pointers[1], first, last)
        time, _ = _pointed(pointers[2], pointers[3], first, last)
        status = int(statuses.argmax())
        confidence = min(1.0, float(object.likely * statuses[status] * math.sqrt(subject_likely)))
        claims.append(DecodedClaim(object.relation, status, (object.start, object.end), subject, time, confidence))
    return sorted(claims, key=lambda claim: claim.object)


def _objects(likely: Array, first: int, last: int) -> list[_Object]:
    """Return the objects that may be claimed, of which no two overlap."""
    begins, ends = likely[:, 0], likely[:, 1]
    candidates = [
        _Object(int(relation), start, int(end), math.sqrt(float(begins[start, relation] * ends[end, relation])))
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
