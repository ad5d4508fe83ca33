"""The training of the static vectors: its slopes are right, and what it learns ranks better."""

from __future__ import annotations

import numpy as np
import pytest

from tools.static_vectors.adapter import Adam, Adapter, Tokens
from tools.static_vectors.losses import SHARPNESS, Ranking, loss, neighbours


def setting(seed: int) -> tuple[Adapter, Tokens, Tokens, dict[str, np.ndarray]]:
    chance = np.random.default_rng(seed)
    adapter = Adapter(chance.normal(size=(30, 8)).astype(np.float32))
    adapter.log_weights[:] = chance.normal(scale=0.3, size=30)
    adapter.map[:] += chance.normal(scale=0.1, size=(8, 8))
    told = Tokens.of([chance.integers(0, 30, n).tolist() for n in (3, 1, 5, 0, 4, 2, 6)])
    asked = Tokens.of([chance.integers(0, 30, n).tolist() for n in (2, 3, 4)])
    gold = np.zeros((3, 7), np.bool_)
    gold[[0, 0, 1, 2], [1, 4, 0, 6]] = True
    by_words = chance.uniform(0, 5, size=(3, 7)).astype(np.float32)
    by_words[:, 5] = -np.inf
    around = neighbours(np.array([0, 0, 0, 0, 1, 1, 1], np.int32))
    leaning = chance.uniform(0, 1, size=7).astype(np.float32)
    return adapter, asked, told, {"around": around, "leaning": leaning, "by_words": by_words, "gold": gold}


def lost(
    adapter: Adapter, asked: Tokens, told: Tokens, rest: dict[str, np.ndarray], part: str, learn: bool = False
) -> float:
    made_asked, made_told = adapter.forward(asked), adapter.forward(told)
    ranking = Ranking(made_asked.unit, made_told.unit, rest["around"], rest["leaning"], rest["by_words"])
    cosines = np.where(np.isfinite(rest["by_words"]), SHARPNESS * ranking.cosines, -np.inf)
    alone, alone_slope = loss(cosines, rest["gold"])
    together, together_slope = loss(ranking.together, rest["gold"])
    if learn:
        nothing = np.zeros_like(alone_slope)
        slopes = ranking.backward(
            SHARPNESS * alone_slope if part == "alone" else nothing, together_slope if part == "together" else nothing
        )
        adapter.backward(made_asked, slopes[0])
        adapter.backward(made_told, slopes[1])
    return alone if part == "alone" else together


def test_a_loss_has_the_slope_that_differences_show() -> None:
    chance = np.random.default_rng(3)
    scores = chance.normal(size=(4, 6))
    scores[:, 2] = -np.inf
    gold = np.zeros((4, 6), np.bool_)
    gold[[0, 1, 1, 2, 3], [0, 1, 3, 5, 4]] = True
    _, slope = loss(scores, gold)
    for at in np.ndindex(4, 6):
        if at[1] == 2:
            assert slope[at] == 0
            continue
        up, down = scores.copy(), scores.copy()
        up[at] += 1e-4
        down[at] -= 1e-4
        assert slope[at] == pytest.approx((loss(up, gold)[0] - loss(down, gold)[0]) / 2e-4, abs=1e-4)


def test_the_best_is_not_moved_by_what_was_said_before() -> None:
    scores = np.array([[1.0, 5.0, -np.inf]])
    gold = np.array([[False, True, False]])
    assert loss(scores, gold)[0] == pytest.approx(np.log1p(np.exp(1.0 - 5.0)))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_only_the_meaning_alone_has_exact_slopes_in_weights_and_map(seed: int) -> None:
    """With nothing to lean on and the best score fixed the slopes must be those that differences show."""
    adapter, asked, told, rest = setting(seed)
    adapter.table = adapter.table.astype(np.float64)
    adapter.log_weights = adapter.log_weights.astype(np.float64)
    adapter.map = adapter.map.astype(np.float64)

    def alone() -> float:
        cosines = SHARPNESS * (adapter.forward(asked).unit @ adapter.forward(told).unit.T)
        return loss(cosines, rest["gold"])[0]

    made_asked, made_told = adapter.forward(asked), adapter.forward(told)
    ranking = Ranking(made_asked.unit, made_told.unit, rest["around"], rest["leaning"], rest["by_words"])
    _, slope = loss(SHARPNESS * ranking.cosines, rest["gold"])
    slopes = ranking.backward(SHARPNESS * slope, np.zeros_like(slope))
    adapter.backward(made_asked, slopes[0])
    adapter.backward(made_told, slopes[1])
    for values, slope_of in ((adapter.log_weights, adapter.weights_slope), (adapter.map, adapter.map_slope)):
        for at in list(np.ndindex(values.shape))[:: max(1, values.size // 20)]:
            before = values[at]
            values[at] = before + 1e-3
            up = alone()
            values[at] = before - 1e-3
            down = alone()
            values[at] = before
            assert slope_of[at] == pytest.approx((up - down) / 2e-3, rel=2e-2, abs=5e-3)


@pytest.mark.parametrize("part", ["alone", "together"])
def test_learning_lowers_the_loss_and_moves_only_what_is_learnt(part: str) -> None:
    adapter, asked, told, rest = setting(4)
    table = adapter.table.copy()
    weights, mapping = Adam(adapter.log_weights, 1e-2), Adam(adapter.map, 1e-3)
    first = lost(adapter, asked, told, rest, part)
    for _ in range(100):
        lost(adapter, asked, told, rest, part, learn=True)
        weights.step(adapter.weights_slope, 1.0)
        mapping.step(adapter.map_slope, 1.0)
    assert lost(adapter, asked, told, rest, part) < 0.7 * first
    assert np.array_equal(adapter.table, table)


def test_surroundings_end_where_a_thread_ends() -> None:
    matrix = neighbours(np.array([0, 0, 1], np.int32))
    assert matrix[0, 1] == pytest.approx(0.4)
    assert matrix[1, 0] == pytest.approx(0.6)
    assert matrix[1, 2] == 0
    assert np.array_equal(np.diag(matrix), np.ones(3, np.float32))
