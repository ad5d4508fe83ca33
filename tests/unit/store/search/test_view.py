"""A view is a cache: however it came to be, it must say what a fresh one says."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.store.search.rows import DIMENSIONS, EPOCH, made, row, vector_of, view_of

from longmind.store.base import Feed, Head
from longmind.store.search import ranking, vectors
from longmind.store.search.threads import REACH, WEIGHTS, surroundings
from longmind.store.search.view import View
from longmind.text.analysis import term_hash
from longmind.types import Filter, Memory

WORDS = st.sampled_from("red green blue house tree river cat dog moon stone".split())
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
SESSIONS = st.sampled_from(["s1", "s2", None])


@st.composite
def memories(draw: st.DrawFn, most: int = 14) -> list[Memory]:
    count = draw(st.integers(0, most))
    return [
        made(
            draw(TEXTS),
            session=draw(SESSIONS),
            day=draw(st.integers(0, 5)),
            kind=draw(st.sampled_from(["message", "fact"])),
            state=draw(st.sampled_from(["active", "superseded", "archived"])),
            user=draw(st.sampled_from([None, "u"])),
        )
        for _ in range(count)
    ]


def told(view: View) -> dict[str, object]:
    """All that a view says, by id, so that two views can be compared whatever their rows are."""
    found: dict[str, object] = {}
    for text in ("red", "house tree", "moon moon stone"):
        rows, scores = view.bm25(ranking.query_terms(view, text))
        found[text] = {view.ids[r]: round(float(s), 4) for r, s in zip(rows, scores, strict=True)}
    alive = np.flatnonzero(view.column("alive")[: view.rows]).astype(np.int32)
    around = view.lines(alive, REACH)
    ids = [*view.ids, None]
    found["lines"] = {view.ids[r]: [ids[i] for i in line] for r, line in zip(alive, around, strict=True)}
    norms, threads = view.near_norms(), view.threads
    found["near"] = {view.ids[r]: round(float(norms[r]), 3) for r in alive}
    found["leaning"] = {view.ids[r]: round(float(threads.leaning[r]), 4) for r in alive}
    found["near length"] = {view.ids[r]: round(float(threads.near_length[threads.place[r]]), 3) for r in alive}
    found["units"] = (view.units, view.said, view.said_rows()[alive].sum())
    found["held"] = {
        word: (len(held.rows), held.said, round(held.telling, 5))
        for word in ("red", "moon")
        if (held := view.held(term_hash(word))) is not None
    }
    found["leaning of"] = {view.ids[r]: round(float(x), 4) for r, x in zip(alive, view.leaning_of(alive), strict=True)}
    return found


@given(first=memories(), second=memories(), changed=st.data())
@settings(max_examples=40, deadline=None)
def test_a_view_that_followed_changes_equals_a_fresh_one(
    first: list[Memory], second: list[Memory], changed: st.DataObject
) -> None:
    seq = {m.id: i + 1 for i, m in enumerate(first + second)}
    view = View(DIMENSIONS)
    view.take_in(Feed(Head(1, 1), [row(m, seq[m.id]) for m in first]))
    told(view)  # so that what it keeps is worked out before the changes
    gone = {m.id for m in first if changed.draw(st.booleans())}
    rewritten = [
        m.model_copy(update={"content": changed.draw(TEXTS)})
        for m in first
        if m.id not in gone and changed.draw(st.booleans())
    ]
    view.take_in(Feed(Head(2, 1), [row(m, seq[m.id]) for m in [*second, *rewritten]], sorted(gone)))
    after = {m.id: m for m in first if m.id not in gone} | {m.id: m for m in [*second, *rewritten]}
    fresh = View(DIMENSIONS)
    fresh.take_in(Feed(Head(2, 1), [row(after[i], seq[i]) for i in sorted(after, key=lambda i: seq[i])]))
    assert told(view) == told(fresh)
    assert (view.living, view.mean_length) == (fresh.living, pytest.approx(fresh.mean_length))


@given(memories(), st.data())
@settings(max_examples=60, deadline=None)
def test_a_filter_passes_what_brute_force_passes(all_: list[Memory], data: st.DataObject) -> None:
    where = Filter(
        kinds=data.draw(st.sampled_from([None, ("fact",), ("message", "fact"), (), ("unknown",)])),
        states=data.draw(st.sampled_from([None, ("active",), ("active", "superseded"), ()])),
        sessions=data.draw(st.sampled_from([None, ("s1",), ("s1", "s2")])),
        users=data.draw(st.sampled_from([None, ("u",)])),
        since=data.draw(st.sampled_from([None, EPOCH + timedelta(days=2)])),
        until=data.draw(st.sampled_from([None, EPOCH + timedelta(days=4)])),
    )
    view = view_of(all_)
    passed = {view.ids[r] for r in np.flatnonzero(view.allowed(where))}

    def passes(m: Memory) -> bool:
        return (
            (where.kinds is None or m.kind in where.kinds)
            and (where.states is None or m.state in where.states)
            and (where.sessions is None or m.session in where.sessions)
            and (where.users is None or m.user in where.users)
            and (where.since is None or m.occurred_at >= where.since)
            and (where.until is None or m.occurred_at < where.until)
        )

    assert passed == {m.id for m in all_ if passes(m)}


@given(st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=30))
def test_surroundings_are_the_weighted_sum_of_what_stands_beside(values: list[float]) -> None:
    padded = np.array([0.0] * REACH + values + [0.0] * REACH, np.float32)
    got = surroundings(padded)
    for place in range(REACH, REACH + len(values)):
        naive = sum(w * float(padded[place + o]) for o, w in zip(range(-REACH, REACH + 1), WEIGHTS, strict=True))
        assert got[place] == pytest.approx(naive, abs=1e-4)


def test_compressed_vectors_find_what_exact_ones_find(monkeypatch: pytest.MonkeyPatch) -> None:
    all_ = [made(f"text number {i}") for i in range(300)]
    exact = view_of(all_)
    monkeypatch.setattr(vectors, "EXACT_ROWS", 50)
    small = view_of(all_)
    assert small.vectors.compressed
    assert not exact.vectors.compressed
    for memory in all_[::37]:
        best = ranking.by_vector(small, vector_of(memory), 3, Filter(), None)
        assert best[0].id == memory.id
        assert best[0].score == pytest.approx(1.0, abs=0.03)
        assert {s.id for s in best} <= {s.id for s in ranking.by_vector(exact, vector_of(memory), 6, Filter(), None)}


def test_what_is_kept_is_made_again_after_a_change() -> None:
    view = view_of([made("red house")])
    calls: list[int] = []

    def count() -> int:
        calls.append(view.rows)
        return view.rows

    assert view.kept("rows", count) == view.kept("rows", count) == 1
    view.take_in(Feed(Head(2, 1), [row(made("red boat"), 2)]))
    assert view.kept("rows", count) == 2
    assert calls == [1, 2]
    assert len(view.held(term_hash("red")).rows) == 2
