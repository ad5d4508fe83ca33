"""A view is a cache: however it came to be, it must say what a fresh one says."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.store.search.rows import DIMENSIONS, EPOCH, made, row, vector_of, view_of

from longmind.recall import arms, fusion
from longmind.recall.allowed import allowed_rows
from longmind.recall.filters import NOT_NARROWED
from longmind.recall.policy import BUILT_IN, make_plan
from longmind.recall.query import parse_query
from longmind.store.base import Feed, Head
from longmind.store.search import ranking, vectors
from longmind.store.search.filtering import passing_rows
from longmind.store.search.near_norms import lines
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
    around = lines(view, alive, REACH)
    ids = [*view.ids, None]
    found["lines"] = {view.ids[r]: [ids[i] for i in line] for r, line in zip(alive, around, strict=True)}
    norms, threads = view.near_norms(), view.threads
    found["near"] = {view.ids[r]: round(float(norms[r]), 3) for r in alive}
    found["context_weight"] = {view.ids[r]: round(float(threads.context_weight[r]), 4) for r in alive}
    found["near length"] = {view.ids[r]: round(float(threads.near_length[threads.place[r]]), 3) for r in alive}
    found["units"] = (view.units, view.said, view.said_rows()[alive].sum())
    found["term rows"] = {
        word: (len(found_rows.rows), found_rows.said, round(found_rows.idf, 5))
        for word in ("red", "moon")
        if (found_rows := view.term_rows(term_hash(word))) is not None
    }
    found["context weights of"] = {
        view.ids[r]: round(float(x), 4) for r, x in zip(alive, view.context_weights_of(alive), strict=True)
    }
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


def scored(view: View, text: str) -> dict[str, bytes]:
    """All that recall computes for a question in a view, to the last bit."""
    query = parse_query(text, EPOCH)
    allowed = allowed_rows(view, NOT_NARROWED, None)
    terms = arms.cut_terms(view, ranking.query_terms(view, text))
    found = arms.score_rows(view, query, terms, vector_of(made(text)), allowed)
    fused = fusion.fuse(view, found, make_plan(query, BUILT_IN), allowed[found.rows], EPOCH.timestamp())
    marks = {name: getattr(found.marks, name) for name in ("fullness", "asks", "dated", "counted", "reply")}
    arrays = {
        "allowed": allowed,
        "rows": found.rows,
        "cosine": found.cosine,
        "near cosine": found.near_cosine,
        "context weight": found.context_weight,
        "own": found.words.own_score,
        "near": found.words.near_score,
        "session": found.words.session_score,
        "term weights": found.words.term_weights,
        "speaker": found.speaker,
        "time": found.time,
        "total": fused.total,
        **marks,
    }
    return {name: np.ascontiguousarray(values).tobytes() for name, values in arrays.items()}


QUESTIONS = ("red house?", "when did the cat see the moon and the river", "stone stone tree", "nothing of it")


@given(st.lists(memories(most=6), max_size=7), st.data())
@settings(max_examples=60, deadline=None)
def test_what_a_view_keeps_while_it_is_asked_equals_what_it_works_out_at_the_end(
    feeds: list[list[Memory]], data: st.DataObject
) -> None:
    """One view is asked after each change, so that its caches are patched; the other is only asked at the end."""
    asked, unasked = View(DIMENSIONS), View(DIMENSIONS)
    living: dict[str, tuple[Memory, int]] = {}
    for number, new in enumerate(feeds):
        living |= {m.id: (m, 100 * number + at) for at, m in enumerate(new)}
        rows = [row(*living[m.id]) for m in new]
        gone: list[str] = []
        for id in [id for id in living if id not in {m.id for m in new}]:
            fate = data.draw(st.sampled_from(["stays", "stays", "stays", "goes", "changes"]))
            if fate == "goes":
                gone.append(id)
                del living[id]
            elif fate == "changes":
                before, seq = living[id]
                living[id] = before.model_copy(update={"content": data.draw(TEXTS)}), seq
                rows.append(row(*living[id]))
        for view in (asked, unasked):
            view.take_in(Feed(Head(number + 1, 1), rows, gone))
        for text in QUESTIONS:
            scored(asked, text)
    for text in QUESTIONS:
        assert scored(asked, text) == scored(unasked, text)


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
    passed = {view.ids[r] for r in np.flatnonzero(passing_rows(view, where))}

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


def test_what_is_kept_is_made_for_new_rows_and_again_after_a_removal() -> None:
    first = made("red house")
    view = view_of([first])
    calls: list[int] = []

    def rows_from(start: int) -> list[str]:
        calls.append(start)
        return view.ids[start : view.rows]

    def kept() -> list[str]:
        return view.kept("ids", rows_from, lambda old, new: old + new)

    assert kept() == kept() == view.ids
    view.take_in(Feed(Head(2, 1), [row(made("red boat"), 2)]))
    assert kept() == view.ids
    assert calls == [0, 1]
    assert len(view.term_rows(term_hash("red")).rows) == 2
    view.take_in(Feed(Head(3, 1), [], [first.id]))
    assert kept() == view.ids
    assert calls == [0, 1, 0]
    assert len(view.term_rows(term_hash("red")).rows) == 1
