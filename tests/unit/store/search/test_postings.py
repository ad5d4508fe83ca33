"""Which rows contain a term: however the rows came, and however they are sorted."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmind.store.search import postings
from longmind.store.search.postings import Postings, PostingSegment
from longmind.text.index_terms import HEADER

ROWS = st.lists(st.dictionaries(st.integers(0, 2**32 - 1) | st.integers(0, 4), st.integers(1, 255), max_size=6))


def stored(counts: dict[int, int]) -> bytes:
    kept = sorted(counts)
    return HEADER.pack(1, 0) + np.array(kept, "<u4").tobytes() + bytes([counts[term] for term in kept])


@given(ROWS, st.data())
@settings(max_examples=60, deadline=None)
def test_a_term_is_found_in_the_rows_that_contain_it(rows: list[dict[int, int]], data: st.DataObject) -> None:
    held, first = Postings(), 0
    while first < len(rows):
        end = data.draw(st.integers(first + 1, len(rows)))
        held.add(range(first, end), [stored(counts) for counts in rows[first:end]])
        held.find(data.draw(st.integers(0, 4)))
        first = end
    for term in {0, 1, *(term for counts in rows for term in counts)}:
        at, counts = held.find(term)
        expected = [(row, counts[term]) for row, counts in enumerate(rows) if term in counts]
        assert list(zip(at.tolist(), counts.tolist(), strict=True)) == expected


@pytest.mark.parametrize("highest", [40, 2**24 - 1, 2**24, 2**31 - 1])
def test_rows_too_many_to_be_packed_are_sorted_the_same(monkeypatch: pytest.MonkeyPatch, highest: int) -> None:
    chance = np.random.default_rng(highest)
    rows = np.repeat(np.sort(chance.choice(40, 30, replace=False)), 5).astype(np.int32)
    rows[-5:] = highest
    hashes = np.concatenate([chance.choice(2**32 - 1, 5, replace=False) for _ in range(30)]).astype(np.uint32)
    hashes[::5] = 7
    counts = chance.integers(1, 256, len(rows)).astype(np.uint8)
    built = PostingSegment.build(hashes, rows, counts)
    monkeypatch.setattr(postings, "_PACKED", 0)
    plain = PostingSegment.build(hashes, rows, counts)
    for name in ("keys", "starts", "rows", "counts"):
        one, other = getattr(built, name), getattr(plain, name)
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()
    assert Counter(built.triples()[0].tolist())[7] == 30
