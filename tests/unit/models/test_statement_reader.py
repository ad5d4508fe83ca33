"""The reader: what it reads stands in the text, whole words, and does not depend on the company of a turn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmind.models.passages import PREVIOUS, TEXT, Passage, characters_of
from longmind.models.small_models import CLS, SEP, Pieces
from longmind.models.statement_reader import Thresholds, TrainedStatementReader, shared_reader
from longmind.models.statements import RELATIONS, STATUSES, StatedClaim, Turn, TurnReading, open_statement_reader

WIDTH = 16
TURNS = st.lists(st.text(alphabet="abc ,.ä7!\n", max_size=40), max_size=4)


class TinyModel:
    """A small model of random layers whose word pieces are at most three letters long."""

    def __init__(self, keep: float = 0.0) -> None:
        chance = np.random.default_rng(7)
        sizes = {
            "holds": (WIDTH, 1),
            "objects": (WIDTH, 2 * len(RELATIONS)),
            "claim": (2 * WIDTH + 4, WIDTH),
            "status": (WIDTH, len(STATUSES)),
            "asks": (WIDTH, 384),
            "keys": (WIDTH, 384),
        }
        self.ends: dict[str, np.ndarray] = {"relation.weight": chance.normal(size=(len(RELATIONS), 4))}
        for name, (inputs, outputs) in sizes.items():
            self.ends[f"{name}.weight"] = chance.normal(size=(outputs, inputs))
            self.ends[f"{name}.bias"] = np.zeros(outputs)
        self.ends["relations"] = np.array(RELATIONS)
        self.ends["keep"] = np.full(len(RELATIONS), keep)
        self.ends["beside"] = np.full(len(RELATIONS), keep)
        self.ends["change"] = np.full(len(RELATIONS), 0.6)
        self.lengths: list[int] = []

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        found = [list(re.finditer(r"\w{1,3}|[^\w\s]", text)) for text in texts]
        return [Pieces([1000 + hash_of(m.group()) for m in own], [m.span() for m in own]) for own in found]

    def encode(self, ids: Sequence[int], head: int) -> np.ndarray:
        assert ids[0] == CLS
        assert ids[head - 1] == ids[-1] == SEP
        self.lengths.append(len(ids))
        return np.array([row_of(id) for id in ids], np.float32)


@cache
def row_of(id: int) -> np.ndarray:
    return np.random.default_rng(id).normal(size=WIDTH)


def hash_of(piece: str) -> int:
    return sum(ord(letter) * 31**place for place, letter in enumerate(piece)) % 5_000


@settings(max_examples=20, deadline=None)
@given(texts=TURNS, before=st.none() | st.text(alphabet="xyz ", max_size=20))
def test_every_span_is_made_of_whole_words_of_its_text(texts: list[str], before: str | None) -> None:
    reader = TrainedStatementReader(TinyModel())
    for text, read in zip(texts, reader.read([Turn(text, before) for text in texts]), strict=True):
        for claim in read.claims:
            for span in (claim.object, claim.subject, claim.time):
                if span is not None:
                    start, end = span
                    assert 0 <= start < end <= len(text)
                    assert not text[start:end][0].isspace()
                    assert not (start and text[start - 1].isalnum() and text[start].isalnum())
                    assert not (end < len(text) and text[end].isalnum() and text[end - 1].isalnum())
            assert claim.span[0] <= claim.object[0] < claim.object[1] <= claim.span[1]


@settings(max_examples=20, deadline=None)
@given(texts=TURNS)
def test_a_turn_is_read_the_same_alone_and_among_others(texts: list[str]) -> None:
    reader = TrainedStatementReader(TinyModel())
    together = reader.read([Turn(text) for text in texts])
    assert together == [reader.read([Turn(text)])[0] for text in texts]


def test_a_long_text_is_read_in_passages_that_fit() -> None:
    model = TinyModel()
    text = ". ".join(f"ab cd {number}" for number in range(400))
    claims = TrainedStatementReader(model).read([Turn(text, "xy " * 200)])[0].claims
    assert len(model.lengths) > 5
    assert max(model.lengths) <= PREVIOUS + TEXT + 3
    assert claims
    assert claims[-1].object[1] > len(text) * 0.9


def test_nothing_is_read_in_an_empty_text() -> None:
    assert TrainedStatementReader(TinyModel()).read([Turn(""), Turn("  \n")]) == [TurnReading(), TurnReading()]


def test_thresholds_decide_what_is_kept_and_what_is_certain() -> None:
    turn = Turn("abc abca cab bca acb cba bac aab bba cca")
    every = TrainedStatementReader(TinyModel()).read([turn])[0].claims
    low, high = sorted(claim.confidence for claim in every)[1:3]
    model = TinyModel(keep=low)
    model.ends["change"][:] = high
    claims = TrainedStatementReader(model).read([turn])[0].claims
    assert [claim.kept for claim in claims] == [claim.confidence >= low for claim in every]
    assert [claim.certain for claim in claims] == [claim.confidence >= high for claim in every]
    assert not all(claim.kept for claim in claims)
    assert any(claim.kept and not claim.certain for claim in claims)


def test_a_relation_without_a_threshold_is_never_read() -> None:
    model = TinyModel()
    del model.ends["keep"], model.ends["beside"]
    assert not any(claim.kept for claim in TrainedStatementReader(model).read([Turn("abc cab bca")])[0].claims)
    limits = Thresholds({"name": 0.5}, {"name": 0.4}, {})
    assert limits.keeps(StatedClaim("name", "current", (0, 1), 0.5))
    assert limits.keeps(StatedClaim("name", "past", (0, 1), 0.4))
    assert not limits.keeps(StatedClaim("name", "current", (0, 1), 0.4))
    assert not limits.changes(StatedClaim("name", "current", (0, 1), 1.0))
    assert not limits.keeps(StatedClaim("age", "current", (0, 1), 1.0))


@pytest.mark.skipif(open_statement_reader() is None, reason="the reader of statements is not installed")
def test_the_shipped_model_reads_plain_statements() -> None:
    reader = shared_reader()
    assert reader is not None
    assert set(reader.relations) == set(RELATIONS)
    text = "I'm allergic to peanuts."
    best = max(reader.read([Turn(text)])[0].claims, key=lambda claim: claim.confidence)
    assert (best.relation, best.status, text[slice(*best.object)]) == ("allergy", "current", "peanuts")


def test_a_title_ends_no_sentence() -> None:
    text = "Appointment with Dr. Osei. He is kind."
    words = [match.span() for match in re.finditer(r"\w+|[.]", text)]
    passage = Passage(text, list(range(len(words))), words, ())
    last = [text[start:end] for start, end in words].index("Osei")
    assert text[slice(*characters_of(passage, 0, last))] == "Appointment with Dr. Osei"
    assert text[slice(*characters_of(passage, 0, len(words) - 1))] == "Appointment with Dr. Osei"
