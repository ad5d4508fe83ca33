"""The layers over the reader of statements that tell of which relations a turn may tell a change."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmind.models.change_signs import ChangeSigns, signs_of_change
from longmind.models.statement_reader import shared_reader
from longmind.models.statements import RELATIONS, Turn, open_statement_reader

WIDTH, HIDDEN = 6, 4


def layers(least: float = 0.5, likely: float = 0.7) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(4)
    return {
        "signs.inner.weight": chance.normal(size=(HIDDEN, 3 * WIDTH)),
        "signs.inner.bias": chance.normal(size=HIDDEN),
        "signs.outer.weight": chance.normal(size=(len(RELATIONS), HIDDEN)),
        "signs.outer.bias": chance.normal(size=len(RELATIONS)),
        "signs.least": np.asarray(least),
        "signs.likely": np.asarray(likely),
    }


def test_the_signs_are_of_the_passage_and_of_the_first_vector() -> None:
    tokens = np.arange(20, dtype=np.float32).reshape(10, 2)
    assert signs_of_change(tokens, 4).tolist() == [16, 17, 12, 13, 0, 1]  # the last vector is the separator's


@given(st.integers(1, 8), st.floats(0, 1), st.floats(0, 1))
def test_relations_are_named_from_thresholds_on_and_likeliest_first(length: int, low: float, high: float) -> None:
    least, limit = sorted((low, high))
    tokens = np.random.default_rng(length).normal(size=(length + 3, WIDTH)).astype(np.float32)
    signs = ChangeSigns(layers(least, limit))
    likely = signs.likely(signs_of_change(tokens, 2))
    named = signs.find(tokens, 2)
    assert {number for number, _ in named} == {n for n in range(len(RELATIONS)) if likely[n] >= least}
    assert [likely[number] for number, _ in named] == sorted((likely[number] for number, _ in named), reverse=True)
    assert [surely for _, surely in named] == [likely[number] >= limit for number, _ in named]


def test_weights_without_these_layers_name_nothing() -> None:
    assert ChangeSigns.stored({"keep": np.zeros(2)}) is None


@pytest.mark.skipif(open_statement_reader() is None, reason="the reader of statements is not installed")
def test_the_shipped_layers_name_what_may_have_changed_and_hardly_anything_else() -> None:
    reader = shared_reader()
    assert reader is not None
    moved, died, chat = (
        {change.relation for change in reading.changes}
        for reading in reader.read(
            [
                Turn(
                    "We handed the keys back on Sunday and the boxes are all in the new flat. Who cleans windows there?"
                ),
                Turn("We had to say goodbye to Biscuit on Tuesday, the vet was very kind."),
                Turn("How long does rice keep in the fridge?"),
            ]
        )
    )
    assert "lives_in" in moved
    assert "pet" in died
    assert chat == set()
