"""Claims that are decoded from any numbers stand inside the turn, and never overlap."""

from __future__ import annotations

import itertools
import math
from typing import ClassVar

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from longmind.models.claim_decoding import ClaimHeads, DecodedClaim, decode
from longmind.models.statements import STATUSES

WIDTH, RELATIONS, POINTERS = 16, 5, 4 * 96


def heads_of(seed: int, *, bias: float = -1.0) -> ClaimHeads:
    chance = np.random.default_rng(seed)

    def dense(name: str, inputs: int, outputs: int, shift: float = 0.0) -> dict[str, np.ndarray]:
        return {
            f"{name}.weight": chance.normal(size=(outputs, inputs)),
            f"{name}.bias": np.full(outputs, shift, np.float32),
        }

    return ClaimHeads(
        {
            "relation.weight": chance.normal(size=(RELATIONS, 4)),
            **dense("holds", WIDTH, 1),
            **dense("objects", WIDTH, 2 * RELATIONS, bias),
            **dense("claim", 2 * WIDTH + 4, WIDTH),
            **dense("status", WIDTH, len(STATUSES)),
            **dense("asks", WIDTH, POINTERS),
            **dense("keys", WIDTH, POINTERS),
        }
    )


def decode_random(seed: int, length: int, first: int, last: int) -> list[DecodedClaim]:
    tokens = np.random.default_rng(seed + 1).normal(size=(length, WIDTH)).astype(np.float32)
    return decode(tokens, first, last, heads_of(seed))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), before=st.integers(1, 20), own=st.integers(1, 60))
def test_spans_lie_in_the_turn_and_objects_do_not_overlap(seed: int, before: int, own: int) -> None:
    first, last = before, before + own - 1
    claims = decode_random(seed, before + own + 1, first, last)
    for claim in claims:
        for span in (claim.object, claim.subject, claim.time):
            assert span is None or first <= span[0] <= span[1] <= last
        assert 0 <= claim.confidence <= 1
        assert 0 <= claim.relation < RELATIONS
        assert 0 <= claim.status < len(STATUSES)
    ordered = sorted(claim.object for claim in claims)
    assert ordered == [claim.object for claim in claims]
    assert all(a[1] < b[0] for a, b in itertools.pairwise(ordered))


def test_random_numbers_give_claims_at_all() -> None:
    assert any(decode_random(seed, 30, 3, 28) for seed in range(5))


def crafted(begins: dict[int, float], ends: dict[int, float], length: int = 12) -> list[DecodedClaim]:
    """Decode a turn in which the first relation has these likelihoods, and nothing else is likely."""
    heads = heads_of(1)
    likely = np.full((length, 2, RELATIONS), 0.001)
    for place, values in ((0, begins), (1, ends)):
        for piece, value in values.items():
            likely[piece, place, 0] = value
    heads.objects = lambda tokens: likely  # type: ignore[method-assign]
    return decode(np.zeros((length, WIDTH), np.float32), 2, length - 2, heads)


def test_the_items_of_a_list_are_claims_of_their_own() -> None:
    claims = crafted({3: 0.9, 5: 0.9, 8: 0.9}, {3: 0.8, 6: 0.8, 8: 0.95})
    assert [claim.object for claim in claims] == [(3, 3), (5, 6), (8, 8)]


def test_the_likeliest_of_overlapping_objects_counts() -> None:
    claims = crafted({3: 0.9, 4: 0.4}, {4: 0.5, 6: 0.9})
    assert [claim.object for claim in claims] == [(3, 6)]


def test_an_end_without_a_beginning_is_nothing() -> None:
    assert crafted({}, {4: 0.99}) == []
    assert crafted({6: 0.9}, {4: 0.99}) == []


def test_confidence_is_never_more_than_that_of_the_place() -> None:
    (claim,) = crafted({3: 0.5}, {4: 0.5})
    assert claim.confidence <= math.sqrt(0.5 * 0.5) + 1e-6


class RecordedArray(np.ndarray):
    """An array that notes the shapes of the products it takes part in."""

    products: ClassVar[list[tuple[int, int, int]]] = []

    def __matmul__(self, other: np.ndarray) -> np.ndarray:
        self.products.append((len(self), *other.shape))
        return np.asarray(self) @ np.asarray(other)


def test_no_product_is_large_enough_for_threads() -> None:
    """OpenBLAS gives what has more than 262,144 multiplications to threads, which wait for each other by spinning."""
    chance = np.random.default_rng(5)
    weights = {"objects.weight": chance.normal(size=(82, 384)), "objects.bias": np.zeros(82)}
    tokens = chance.normal(size=(200, 384)).astype(np.float32)
    RecordedArray.products.clear()
    likely = ClaimHeads(weights).objects(tokens.view(RecordedArray))
    assert sum(rows for rows, _, _ in RecordedArray.products) == 200
    assert all(math.prod(shape) <= 262_144 for shape in RecordedArray.products)
    logits = tokens.astype(np.float64) @ weights["objects.weight"].T
    np.testing.assert_allclose(likely.reshape(200, 82), 1 / (1 + np.exp(-logits)), rtol=1e-3, atol=1e-6)
