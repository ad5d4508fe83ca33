"""The reader of changes: what it reads stands in the text, and does not depend on the company of a fact."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmind.errors import ModelError, ModelMissing
from longmind.models import change_reader
from longmind.models.change_reader import KNOWN, TrainedChangeReader, best_value, joined
from longmind.models.changes import SPEAKER, Change, KnownFact, open_change_reader
from longmind.models.passages import PREVIOUS, TEXT
from longmind.models.small_models import CLS, SEP, Pieces

WIDTH = 16
WORDS = st.text(alphabet="abc ,.ä7!\n", max_size=40)
FACTS = st.builds(KnownFact, WORDS, st.just("lives in"), WORDS, WORDS, st.integers(0, 40), st.none() | WORDS)


class TinyModel:
    """A small model of random layers whose word pieces are at most three letters long."""

    def __init__(self, certain: float = 0.5) -> None:
        chance = np.random.default_rng(3)
        self.ends: dict[str, np.ndarray] = {
            "gone.weight": chance.normal(size=(1, WIDTH)),
            "gone.bias": np.zeros(1),
            "span.weight": chance.normal(size=(2, WIDTH)),
            "span.bias": np.zeros(2),
            "calibration.slope": np.asarray(0.5),
            "calibration.bias": np.asarray(-0.1),
            "certain": np.asarray(certain),
        }
        self.read: list[tuple[list[int], int]] = []

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        found = [list(re.finditer(r"\w{1,3}|[^\w\s]", text)) for text in texts]
        return [Pieces([1000 + sum(map(ord, m.group())) % 97 for m in own], [m.span() for m in own]) for own in found]

    def encode(self, ids: Sequence[int], head: int) -> np.ndarray:
        self.read.append((list(ids), head))
        return np.stack([np.random.default_rng([place, *ids]).normal(size=WIDTH) for place in range(len(ids))])


@settings(max_examples=40, deadline=None)
@given(st.lists(FACTS, max_size=4))
def test_what_is_read_of_a_fact_stands_in_its_text_and_depends_on_no_other(facts: list[KnownFact]) -> None:
    reader = TrainedChangeReader(TinyModel())
    changes = reader.read(facts)
    assert [reader.read([fact])[0] for fact in facts] == changes
    for fact, change in zip(facts, changes, strict=True):
        assert 0 <= change.gone <= 1
        assert change.certain == (change.gone >= 0.5)
        if change.new is not None:
            start, end = change.new
            assert 0 <= start < end <= len(fact.text)
            assert fact.text[start:end] == fact.text[start:end].strip()


def test_of_an_empty_text_nothing_is_read() -> None:
    model = TinyModel()
    (change,) = TrainedChangeReader(model).read([KnownFact(SPEAKER, "lives in", "Lund", "")])
    assert change == Change(pytest.approx(0.0, abs=1e-9))
    assert model.read == []


def test_a_fact_stands_before_the_turn_before_and_the_text() -> None:
    ids, head = joined([5] * (KNOWN + 3), [6, 6], [7])
    assert ids == [CLS, *[5] * KNOWN, SEP, 6, 6, SEP, 7, SEP]
    assert ids[head] == 7


def test_a_long_text_is_read_around_the_place_that_names_the_fact() -> None:
    model = TinyModel()
    text = "one. " * TEXT + "lund " * 3
    TrainedChangeReader(model).read([KnownFact(SPEAKER, "lives in", "lund", text, text.index("lund"), "two " * 90)])
    ((ids, head),) = model.read
    lund = [id for word in model.pieces(["lund"])[0].ids for id in [word]]
    assert ids[-1 - 3 * len(lund) : -1] == lund * 3
    assert head <= 1 + KNOWN + 1 + PREVIOUS + 1


def test_the_first_token_stands_for_no_new_value() -> None:
    assert best_value(np.array([[3.0, 3.0], [1.0, 1.0], [1.0, 2.0]])) is None
    assert best_value(np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 2.0], [0.0, 0.0]])) == (0, 1)
    assert best_value(np.array([[0.0, 0.0], [0.0, 5.0], [2.0, 0.5]])) == (0, 0)  # it cannot end before it begins


@pytest.mark.skipif(open_change_reader() is None, reason="the reader of changes is not installed")
def test_the_shipped_model_tells_a_move_from_a_mention() -> None:
    reader = open_change_reader()
    assert reader is not None
    move = "We left Lund in May and live in Kalmar now. Who empties the bins here?"
    moved, mentioned = reader.read(
        [
            KnownFact(SPEAKER, "lives in", "Lund", move),
            KnownFact(SPEAKER, "lives in", "Lund", "Is there a good bakery near the station here in Lund?"),
        ]
    )
    assert moved.certain
    assert moved.new is not None
    assert move[slice(*moved.new)] == "Kalmar"
    assert not mentioned.certain
    assert mentioned.gone < 0.5


def test_without_weights_there_is_no_reader(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fails(error: ModelError) -> None:
        def load(name: str) -> None:
            raise error

        monkeypatch.setattr(change_reader, "load", load)
        monkeypatch.setattr(change_reader, "_opened", [])

    fails(ModelMissing("not installed"))
    assert open_change_reader() is None
    assert caplog.text == ""
    fails(ModelError("changes.onnx is not the file that was published."))
    assert open_change_reader() is None
    assert "not the file that was published" in caplog.text
