"""Reading spans: from two numbers for each piece to places in texts."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longmind.models.small_models import Pieces
from longmind.models.span_reader import SmallSpanReader


class Wanting:
    """A model whose pieces are words, and that wants words of a length as the first and the last of an answer."""

    ends: Mapping[str, Any] = {"span.weight": np.eye(2, dtype=np.float32), "span.bias": np.zeros(2, np.float32)}

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.inputs: list[tuple[list[int], int]] = []

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        places = [[match.span() for match in re.finditer(r"\S+", text)] for text in texts]
        return [Pieces([end - start for start, end in spans], spans) for spans in places]

    def encode(self, ids: Sequence[int], head: int) -> Any:
        self.inputs.append((list(ids), head))
        wanted = np.asarray(ids)
        numbers = np.stack(
            [np.where(wanted == self.first, 5.0, -5.0), np.where(wanted == self.last, 5.0, -5.0)], axis=1
        )
        numbers[0] = 0.0
        return numbers


async def test_the_best_span_is_a_place_in_one_of_the_texts() -> None:
    session = Wanting(3, 6)
    passage = ["Tom: what a view", "Ana: we saw a large castle there"]
    (reading,) = await SmallSpanReader(session).read("What did Ana see there?", [passage])
    best = reading.spans[0]
    assert passage[best.text][best.start : best.end] == "saw a large castle"
    assert best.score == 10.0
    assert reading.none == 0.0
    assert session.inputs[0][1] == len("What did Ana see there?".split()) + 2


async def test_spans_do_not_overlap_and_never_run_from_one_text_into_another() -> None:
    passage = ["we saw a large castle", "and saw a tiny castle"]
    (reading,) = await SmallSpanReader(Wanting(3, 6)).read("What?", [passage])
    words = [passage[span.text][span.start : span.end] for span in reading.spans[:2]]
    assert sorted(words) == ["saw a large castle", "saw a tiny castle"]


async def test_a_long_passage_is_cut_at_the_window() -> None:
    session = Wanting(3, 3)
    (reading,) = await SmallSpanReader(session).read("What?", [["word " * 500, "saw"]])
    assert len(session.inputs[0][0]) <= 250
    assert reading.spans
