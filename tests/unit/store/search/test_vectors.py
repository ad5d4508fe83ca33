"""Compressed vectors: what is on the short-list, with and without the coarse step of a large view."""

from __future__ import annotations

import numpy as np
import pytest

from longmind.store.search import vectors
from longmind.store.search.vectors import Vectors

ROWS, DIMENSIONS = 4_000, 256


def units(count: int, seed: int, dimensions: int = DIMENSIONS) -> np.ndarray:
    block = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return block / np.linalg.norm(block, axis=1, keepdims=True)


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every limit so low that a few thousand rows are many."""
    monkeypatch.setattr(vectors, "EXACT_ROWS", 100)
    monkeypatch.setattr(vectors, "SHORT_LIST", 60)
    monkeypatch.setattr(vectors, "COARSE", 400)
    monkeypatch.setattr(vectors, "_BLOCK", 512)


def held(block: np.ndarray, parts: int = 7) -> Vectors:
    """Vectors as they come, part by part."""
    made, first = Vectors(block.shape[1]), 0
    for part in np.array_split(block, parts):
        made.add(first, part)
        first += len(part)
    return made


def share_found(made: Vectors, block: np.ndarray, allowed: np.ndarray) -> float:
    """How much of the ten nearest of some questions the short-lists hold."""
    shares = []
    for query in units(20, seed=9, dimensions=block.shape[1]):
        exact = np.where(allowed, block @ query, -2.0)
        nearest = np.argsort(-exact)[:10]
        shares.append(np.isin(nearest, made.short_list(query, allowed)).mean())
    return float(np.mean(shares))


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("dimensions", [256, 384, 100])
def test_the_coarse_step_keeps_the_nearest(monkeypatch: pytest.MonkeyPatch, dimensions: int) -> None:
    monkeypatch.setattr(vectors, "SHORT_LIST", 300)
    monkeypatch.setattr(vectors, "COARSE", 1_500)
    block = units(ROWS, seed=1, dimensions=dimensions)
    made, allowed = held(block), np.ones(ROWS, np.bool_)
    plain = share_found(made, block, allowed)
    monkeypatch.setattr(vectors, "LARGE", 1_000)
    assert made.compressed
    assert share_found(made, block, allowed) >= plain - 0.02
    assert plain > (0.85 if dimensions > 100 else 0.7)


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("large", [1_000, 1_000_000])
def test_the_short_list_is_ascending_and_only_of_what_is_allowed(monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    monkeypatch.setattr(vectors, "LARGE", large)
    made = held(units(ROWS, seed=2))
    query = units(1, seed=3)[0]
    for share in (1.0, 0.5, 0.12, 0.01):
        allowed = np.random.default_rng(4).random(ROWS) < share
        listed = made.short_list(query, allowed)
        assert allowed[listed].all()
        assert (np.diff(listed) > 0).all()
        assert len(listed) >= min(60, int(allowed.sum()))


@pytest.mark.usefixtures("small_steps")
def test_fewer_than_the_list_holds_are_all_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "LARGE", 1_000)
    made, allowed = held(units(ROWS, seed=5)), np.zeros(ROWS, np.bool_)
    assert made.short_list(units(1, seed=6)[0], allowed).tolist() == []
    allowed[[7, 70, 700]] = True
    assert made.short_list(units(1, seed=6)[0], allowed).tolist() == [7, 70, 700]


@pytest.mark.usefixtures("small_steps")
def test_a_sample_that_is_not_like_the_rest_does_not_empty_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "LARGE", 1_000)
    monkeypatch.setattr(vectors, "_SAMPLED", 4)
    block, query = units(ROWS, seed=7), units(1, seed=8)[0]
    block[0] = query
    allowed = np.ones(ROWS, np.bool_)
    allowed[4::4] = False  # of the sample there is left only the nearest of all
    listed = held(block).short_list(query, allowed)
    assert listed[0] == 0
    assert len(listed) >= 60


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("large", [1_000, 1_000_000])
def test_cosines_of_rows_are_those_of_their_vectors(monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    monkeypatch.setattr(vectors, "LARGE", large)
    block, query = units(ROWS, seed=11).astype(np.float16).astype(np.float32), units(1, seed=12)[0]
    rows = np.arange(3, ROWS, 3, dtype=np.int32)
    compressed, exact = held(block), Vectors(DIMENSIONS)
    exact.add(0, block[:100])
    assert np.abs(compressed.cosines(rows, query) - block[rows] @ query).max() < 0.003
    assert exact.cosines(rows[:30], query) == pytest.approx(block[rows[:30]] @ query, abs=1e-6)
    assert len(compressed.cosines(rows[:0], query)) == 0


@pytest.mark.usefixtures("small_steps")
def test_the_signs_of_large_numbers_count_more() -> None:
    query = np.full(64, 0.01, np.float32)
    query[:20] = 1.0
    large_wrong, small_wrong = query.copy(), query.copy()
    large_wrong[:3] *= -1
    small_wrong[-5:] *= -1
    filling = np.tile(-query, (200, 1))
    made = held(np.vstack((large_wrong, small_wrong, filling)))
    distance = vectors._weighed(made._signs, np.array([0, 1, 2], np.int32), vectors._masks(query, vectors.HEAVY))
    assert distance.tolist() == [6, 5, 64 + int(0.4 * 64)]


@pytest.mark.usefixtures("small_steps")
def test_an_opposite_vector_is_not_taken_for_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "LARGE", 1_000)
    block, query = units(ROWS, seed=13), units(1, seed=14)[0]
    block[40] = -query
    block[50] = query
    listed = held(block).short_list(query, np.ones(ROWS, np.bool_))
    assert 50 in listed
    assert 40 not in listed


def test_every_number_of_half_precision_is_widened_to_the_last_bit() -> None:
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    wide = np.zeros(len(halves), np.float32)
    vectors._widen(halves, wide)
    assert wide.tobytes() == halves.astype(np.float32).tobytes()


def test_scores_are_those_of_single_precision_however_the_rows_came() -> None:
    block = units(300, seed=8).astype(np.float16)
    query = units(1, seed=9)[0]
    exact = block.astype(np.float32) @ query
    grown, first = Vectors(DIMENSIONS), 0
    for end in (1, 2, 70, 71, 300):
        grown.add(first, block[first:end])
        assert grown.scores(query).tobytes() == (block[:end].astype(np.float32) @ query).tobytes()
        first = end
    assert grown.widened_bytes > 0
    assert grown.take(np.array([5, 299], np.int32)).tobytes() == block[[5, 299]].astype(np.float32).tobytes()
    grown.narrow()
    assert grown.widened_bytes == 0
    assert grown.nbytes < 2 * block.nbytes
    assert grown.take(np.array([5, 299], np.int32)).tobytes() == block[[5, 299]].astype(np.float32).tobytes()
    assert grown.scores(query).tobytes() == exact.tobytes()
