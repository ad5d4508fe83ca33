"""Reading spans: from two numbers for each piece to places in texts."""

from typing import Any

import numpy as np

from longmind.models.span_reader import SmallSpanReader


class Pieces:
    """A tokenizer whose pieces are words."""

    def encode(self, text: str, add_special_tokens: bool) -> Any:
        offsets, at = [], 0
        for word in text.split():
            start = text.index(word, at)
            at = start + len(word)
            offsets.append((start, at))
        return type("Encoding", (), {"ids": [len(text[a:b]) for a, b in offsets], "offsets": offsets})


class Wanting:
    """A session that wants pieces of a length as the first and the last of an answer."""

    def __init__(self, first: int, last: int, none: float = 0.0) -> None:
        self.first, self.last, self.none = first, last, none
        self.inputs: list[dict[str, Any]] = []

    def run(self, outputs: None, inputs: dict[str, Any]) -> list[Any]:
        self.inputs.append(inputs)
        ids = inputs["ids"][0]
        numbers = np.stack([np.where(ids == self.first, 5.0, -5.0), np.where(ids == self.last, 5.0, -5.0)], axis=1)
        numbers[0] = self.none / 2
        return [numbers[None].astype(np.float32)]


async def test_the_best_span_is_a_place_in_one_of_the_texts() -> None:
    session = Wanting(3, 6)
    passage = ["Tom: what a view", "Ana: we saw a large castle there"]
    (reading,) = await SmallSpanReader(session, Pieces()).read("What did Ana see there?", [passage])
    best = reading.spans[0]
    assert passage[best.text][best.start : best.end] == "saw a large castle"
    assert best.score == 10.0
    assert reading.none == 0.0
    segments = session.inputs[0]["segments"][0]
    assert list(segments[:7]) == [0] * 7
    assert set(segments[7:]) == {1}


async def test_spans_do_not_overlap_and_never_run_from_one_text_into_another() -> None:
    passage = ["we saw a large castle", "and saw a tiny castle"]
    (reading,) = await SmallSpanReader(Wanting(3, 6), Pieces()).read("What?", [passage])
    words = [passage[span.text][span.start : span.end] for span in reading.spans[:2]]
    assert sorted(words) == ["saw a large castle", "saw a tiny castle"]


async def test_a_long_passage_is_cut_at_the_window() -> None:
    session = Wanting(3, 3)
    (reading,) = await SmallSpanReader(session, Pieces()).read("What?", [["word " * 500, "saw"]])
    assert session.inputs[0]["ids"].shape[1] <= 250
    assert reading.spans
