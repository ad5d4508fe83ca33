"""The layout of threads: new rows are inserted into it, and it is then as if it were laid out anew."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.store.search.rows import DIMENSIONS, made, row

from longmind.store.base import Feed, Head
from longmind.store.search.threads import Threads
from longmind.store.search.view import View

SESSIONS = st.sampled_from(["s1", "s2", "s3", None])
KINDS = st.sampled_from(["message", "fact"])


def assert_same_layout(threads: Threads, anew: Threads) -> None:
    for field in fields(Threads):
        values, expected = getattr(threads, field.name), getattr(anew, field.name)
        if isinstance(expected, np.ndarray):
            assert values.dtype == expected.dtype, field.name
            assert values.tobytes() == expected.tobytes(), field.name
        else:
            assert values == expected, field.name


@given(
    st.lists(st.lists(st.tuples(SESSIONS, KINDS, st.integers(1, 9)), min_size=1, max_size=3), min_size=1, max_size=8)
)
@settings(max_examples=80, deadline=None)
def test_rows_at_the_end_of_their_threads_are_inserted(feeds: list[list[tuple[str | None, str, int]]]) -> None:
    view, seq = View(DIMENSIONS), 0
    for number, new in enumerate(feeds):
        rows = []
        for session, kind, words in new:
            seq += 1
            rows.append(row(made("red " * words, session=session, kind=kind, day=number), seq))
        before = view.threads
        view.take_in(Feed(Head(number + 1, 1), rows))
        if number:
            inserted = before.with_new_rows(view)
            assert inserted is not None
            assert_same_layout(inserted, Threads.of(view))
        assert_same_layout(view.threads, Threads.of(view))


@given(st.lists(st.tuples(SESSIONS, KINDS, st.integers(0, 4), st.booleans()), min_size=1, max_size=14))
@settings(max_examples=80, deadline=None)
def test_a_layout_follows_any_change(changes: list[tuple[str | None, str, int, bool]]) -> None:
    view, living = View(DIMENSIONS), list[str]()
    for seq, (session, kind, day, removes) in enumerate(changes, 1):
        memory = made("red house", session=session, kind=kind, day=day)
        gone = [living.pop(0)] if removes and living else []
        view.take_in(Feed(Head(seq, 1), [row(memory, seq)], gone))
        living.append(memory.id)
        assert_same_layout(view.threads, Threads.of(view))


def test_an_earlier_turn_makes_the_layout_anew() -> None:
    view = View(DIMENSIONS)
    view.take_in(Feed(Head(1, 1), [row(made("red", session="s", day=3), 1)]))
    before = view.threads
    view.take_in(Feed(Head(2, 1), [row(made("blue", session="s", day=1), 2)]))
    assert before.with_new_rows(view) is None
    assert_same_layout(view.threads, Threads.of(view))
