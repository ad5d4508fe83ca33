"""The checker of claims: what it reads of a claim and its turn, and what it makes of it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmind.models.claim_checker import CLAIM, PREVIOUS, TEXT, VERDICTS, ClaimChecker, around, to_check
from longmind.models.passages import Passage
from longmind.models.small_models import CLS, SEP, Pieces
from longmind.models.statements import StatedClaim

SAID = "We moved to Slack last year, and Ana moved to Porto."
PORTO = (SAID.index("Porto"), SAID.index("Porto") + 5)
ANA = (SAID.index("Ana"), SAID.index("Ana") + 3)


class TinyModel:
    """A small model whose word pieces are words, and whose verdict is the same of every claim."""

    def __init__(self, bias: tuple[float, float, float] = (2.0, 0.0, -1.0)) -> None:
        self.ends = {"verdict.weight": np.zeros((3, 4), np.float32), "verdict.bias": np.array(bias, np.float32)}
        self.texts: list[str] = []
        self.read: list[tuple[list[int], int]] = []

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        self.texts.extend(texts)
        found = [list(re.finditer(r"\S+", text)) for text in texts]
        return [Pieces(list(range(1000, 1000 + len(own))), [m.span() for m in own]) for own in found]

    def encode(self, ids: Sequence[int], head: int) -> np.ndarray:
        self.read.append((list(ids), head))
        return np.ones((len(ids), 4), np.float32)


def passage_of(model: TinyModel, text: str, before: Sequence[int] = ()) -> Passage:
    own = model.pieces([text])[0]
    return Passage(text, own.ids, own.offsets, before)


def test_a_claim_is_read_with_its_status_and_whom_it_is_about() -> None:
    stated = StatedClaim("lives_in", "current", PORTO, 0.5, subject=ANA)
    assert to_check(stated, SAID).words == "current, Ana: lives in Porto"
    assert to_check(StatedClaim("lives_in", "ended", PORTO, 0.5), SAID).words == "ended, I: lives in Porto"


def test_the_claim_stands_in_front_of_the_end_of_the_turn_before_and_the_text() -> None:
    model = TinyModel()
    passage = passage_of(model, SAID, before=list(range(1, 60)))
    ClaimChecker(model).check(StatedClaim("lives_in", "current", PORTO, 0.5), passage)
    ids, head = model.read[0]
    assert ids[0] == CLS
    assert ids[head:] == [*passage.ids, SEP]
    assert ids[:head].count(SEP) == 2
    assert ids[head - 1 - PREVIOUS : head - 1] == list(range(60 - PREVIOUS, 60))


def test_a_verdict_is_the_odds_of_right_and_wrong() -> None:
    verdict = ClaimChecker(model := TinyModel()).check(
        StatedClaim("lives_in", "current", PORTO, 0.5), passage_of(model, SAID)
    )
    shares = np.exp([2.0, 0.0, -1.0]) / np.exp([2.0, 0.0, -1.0]).sum()
    assert len(VERDICTS) == 3
    assert verdict.right == pytest.approx(math.log(shares[0] / (1 - shares[0])), abs=1e-5)
    assert verdict.wrong == pytest.approx(math.log(shares[2] / (1 - shares[2])), abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 400), st.data())
def test_of_a_long_text_the_words_around_the_claim_are_read(length: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, length - 1))
    ids, before = list(range(length)), list(range(-90, 0))
    read_before, text = around(first, ids, before)
    assert first in text
    assert len(text) == min(length, TEXT)
    assert [*read_before, *text] == [*before, *ids][90 + text[0] - len(read_before) : 91 + text[-1]]


def test_a_long_claim_is_cut() -> None:
    model = TinyModel()
    words = "word " * 80
    ClaimChecker(model).check(StatedClaim("habit", "current", (0, len(words) - 1), 0.5), passage_of(model, words))
    ids, head = model.read[0]
    assert ids.index(SEP) == CLAIM + 1
    assert head == CLAIM + 3
    assert len(ids) <= 256
