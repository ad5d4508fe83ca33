"""What the arms say must equal the same thing worked out the long way, row by row."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.store.search.rows import EPOCH, idf, made, vector_of, view_of

from longmind.recall import arms
from longmind.recall.fusion import fuse
from longmind.recall.policy import RecallPlan
from longmind.recall.query import parse_query
from longmind.store.search.okapi import K1, B
from longmind.store.search.ranking import query_terms
from longmind.store.search.threads import REACH, SHORT, WEIGHTS
from longmind.store.search.view import View
from longmind.text.analysis import analyse, terms
from longmind.text.index_terms import context_texts
from longmind.types import Memory

WORDS = st.sampled_from("red green blue house tree river cat dog moon stone".split())
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
OFFSETS = range(-REACH, REACH + 1)


@st.composite
def memories(draw: st.DrawFn) -> list[Memory]:
    count = draw(st.integers(1, 14))
    return [
        made(draw(TEXTS), session=draw(st.sampled_from(["s1", "s2", None])), day=draw(st.integers(0, 3)))
        for _ in range(count)
    ]


def look(view: View, text: str, vector: np.ndarray | None = None) -> arms.ArmScores:
    asked = parse_query(text, EPOCH + timedelta(days=30))
    allowed = np.ones(view.rows, np.bool_)
    return arms.score_rows(view, asked, query_terms(view, text), vector, allowed)


def counts_of(memory: Memory) -> Counter[str]:
    counted = Counter(terms(memory.content))
    for term in set(terms(" ".join(context_texts(memory, analyse(memory.content))))):
        counted.setdefault(term, 1)
    return counted


def neighbours(all_: list[Memory], memory: Memory) -> list[Memory | None]:
    """Those around a memory in its session, from two before to two after."""
    if memory.session is None:
        line = [memory]
    else:
        same = [m for m in all_ if m.session == memory.session]
        line = sorted(same, key=lambda m: (m.occurred_at, all_.index(m)))
    place = line.index(memory)
    return [line[place + o] if 0 <= place + o < len(line) else None for o in OFFSETS]


def naive_bm25(
    counts: list[dict[str, float]], lengths: list[float], told: dict[str, float], asked: Counter[str]
) -> list[float]:
    mean = sum(lengths) / len(lengths) or 1.0
    scores = []
    for counted, length in zip(counts, lengths, strict=True):
        slack = K1 * (1 - B + B * length / mean)
        scores.append(
            sum(asked[t] * told[t] * counted[t] * (K1 + 1) / (counted[t] + slack) for t in asked if counted.get(t))
        )
    return scores


@given(memories(), TEXTS)
@settings(max_examples=60, deadline=None)
def test_windowed_bm25_equals_the_naive_one(all_: list[Memory], question: str) -> None:
    found = look(view_of(all_), question)
    asked = Counter(terms(question))
    own = [counts_of(m) for m in all_]
    lengths = [float(len(terms(m.content))) for m in all_]
    told = {t: idf(len(all_), sum(t in c for c in own)) for t in asked}
    near, near_lengths = [], []
    for memory in all_:
        around = neighbours(all_, memory)
        weighed = [(w, m) for w, m in zip(WEIGHTS, around, strict=True) if m is not None]
        near.append({t: sum(w * counts_of(m)[t] for w, m in weighed) for t in asked})
        near_lengths.append(sum(w * len(terms(m.content)) for w, m in weighed))
    assert found.words.own_score == pytest.approx(naive_bm25(own, lengths, told, asked), abs=1e-3)
    assert found.words.near_score == pytest.approx(naive_bm25(near, near_lengths, told, asked), abs=1e-3)


@given(memories(), TEXTS)
@settings(max_examples=40, deadline=None)
def test_session_scores_equal_those_of_whole_sessions(all_: list[Memory], question: str) -> None:
    found = look(view_of(all_), question)
    asked = Counter(terms(question))
    units: dict[str, list[Memory]] = {}
    for memory in all_:
        units.setdefault(memory.session or memory.id, []).append(memory)
    counts = [sum((counts_of(m) for m in unit), Counter()) for unit in units.values()]
    lengths = [float(sum(len(terms(m.content)) for m in unit)) for unit in units.values()]
    told = {t: idf(len(units), sum(t in c for c in counts)) for t in asked}
    by_unit = dict(zip(units, naive_bm25(counts, lengths, told, asked), strict=True))
    assert found.words.session_score == pytest.approx([by_unit[m.session or m.id] for m in all_], abs=1e-3)


@given(memories())
@settings(max_examples=40, deadline=None)
def test_smoothed_meaning_equals_the_cosine_with_the_summed_vectors(all_: list[Memory]) -> None:
    question = vector_of(made("question"))
    found = look(view_of(all_), "red", question)
    for place, memory in enumerate(all_):
        around = neighbours(all_, memory)
        total = sum(w * vector_of(m) for w, m in zip(WEIGHTS, around, strict=True) if m is not None)
        assert found.near_cosine[place] == pytest.approx(float(total @ question / np.linalg.norm(total)), abs=1e-3)
        assert found.cosine[place] == pytest.approx(float(vector_of(memory) @ question), abs=1e-3)


@pytest.mark.parametrize("large", [100, 1_000])
def test_a_large_view_gives_the_rows_it_looks_at_the_same_numbers(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(3)
    pool = "red green blue house tree river cat dog moon stone".split()
    all_ = [made(" ".join(chance.choice(pool, 5)), session=f"s{i // 7}", day=i // 7) for i in range(120)]
    all_ += [made(" ".join(chance.choice(pool, 5))) for _ in range(20)]
    view, question = view_of(all_), vector_of(made("question"))
    whole = look(view, "red house by the river", question)
    monkeypatch.setattr(arms, "WHOLE", 10)
    monkeypatch.setattr(arms, "LARGE", large)
    part = look(view, "red house by the river", question)
    assert 0 < len(part.rows) <= view.rows
    at = part.rows
    assert part.words.own_score == pytest.approx(whole.words.own_score[at], abs=1e-3)
    assert part.words.near(np.arange(len(at))) == pytest.approx(whole.words.near(at), abs=1e-4)
    assert part.near_cosine == pytest.approx(whole.near_cosine[at], abs=1e-3)
    assert part.context_weight == pytest.approx(whole.context_weight[at], abs=1e-4)
    assert part.speaker.tolist() == whole.speaker[at].tolist()
    assert np.corrcoef(part.words.session_score, whole.words.session_score[at])[0, 1] > 0.99
    assert not view.blank().any(), "the scratch must be left empty"


@pytest.mark.parametrize(("whole", "large"), [(100, 100), (1, 100), (1, 1)])
def test_a_reply_gets_more_words_of_the_question_before_it(
    whole: int, large: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arms, "WHOLE", whole)
    monkeypatch.setattr(arms, "LARGE", large)
    turns = ["red river house?", "moon stone", "cat dog tree"]
    view = view_of([made(text, session=s, day=0) for s in ("s", "t") for text in turns])
    plain = view_of([made(text.strip("?"), session=s, day=0) for s in ("s", "t") for text in turns])
    asked, told = (look(v, "red river house") for v in (view, plain))
    assert asked.words.near(1).tolist() == pytest.approx([1.2] * 3)
    assert told.words.near(1).tolist() == pytest.approx([0.6] * 3)
    assert asked.words.near(2).tolist() == told.words.near(2).tolist()


def test_a_row_of_a_large_view_is_listed_for_the_words_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = ["red river", "red house", "moon stone", "river house", "red river house"]
    all_ = [made(text, session="talk", day=0) for text in talk]
    all_ += [made("red river", session=f"s{n}", day=n) for n in range(60)]
    view = view_of(all_)
    monkeypatch.setattr(arms, "WHOLE", 10)
    monkeypatch.setattr(arms, "LISTED", 6)
    assert 2 in look(view, "red house by the river").rows


MADE_KINDS = st.sampled_from(["fact", "page", "segment", "summary", "concept"])


@given(memories(), st.lists(st.tuples(TEXTS, MADE_KINDS, st.sampled_from(["s1", None])), max_size=8), TEXTS)
@settings(max_examples=60, deadline=None)
def test_what_was_made_of_others_does_not_change_what_the_arms_say_of_what_was_said(
    said: list[Memory], more: list[tuple[str, str, str | None]], question: str
) -> None:
    without, vector = view_of(said), vector_of(made("question"))
    alone = look(without, question, vector)
    with_more = view_of([*said, *(made(text, kind=kind, session=session) for text, kind, session in more)])
    both, rows = look(with_more, question, vector), slice(len(said))
    for name in ("own_score", "near_score", "session_score"):
        there = getattr(both.words, name)
        assert there[rows] == pytest.approx(getattr(alone.words, name), abs=1e-3)
    assert both.near_cosine[rows] == pytest.approx(alone.near_cosine, abs=1e-4)
    assert both.context_weight[rows] == pytest.approx(alone.context_weight, abs=1e-6)
    allowed = np.ones(with_more.rows, np.bool_)
    plan, now = RecallPlan(), (EPOCH + timedelta(days=30)).timestamp()
    totals = fuse(with_more, both, plan, allowed, now).total[rows]
    assert totals == pytest.approx(fuse(without, alone, plan, allowed[rows], now).total, abs=1e-2)


@given(memories(), TEXTS)
@settings(max_examples=40, deadline=None)
def test_the_parts_of_a_score_add_up_to_it(all_: list[Memory], question: str) -> None:
    view = view_of(all_)
    found = look(view, question, vector_of(made("question")))
    fused = fuse(view, found, RecallPlan(), np.ones(view.rows, np.bool_), EPOCH.timestamp(), demote=False)
    parts = fused.parts(np.arange(view.rows))
    found_by = sum(parts[name] for name in ("words", "words around", "session", "meaning", "speaker", "time"))
    whole = np.where(found_by > 1e-5, sum(parts.values()), 0)
    settled = np.abs(found_by) > 1e-4
    assert fused.total[settled] == pytest.approx(whole[settled], abs=1e-3)


def test_short_texts_lean_on_their_surroundings_and_long_ones_do_not() -> None:
    view = view_of([made("red house", session="short"), made("tree " * 400, session="long")])
    short, long = look(view, "red").context_weight
    assert short == pytest.approx(SHORT / (SHORT + 2))
    assert long == pytest.approx(SHORT / (SHORT + 400))


def test_flags_tell_speakers_questions_and_times() -> None:
    view = view_of(
        [
            made("I moved yesterday", speaker="Maria"),
            made("Really?", speaker="Tom"),
            made("Yes, two boxes", speaker="Maria"),
        ]
    )
    found = look(view, "What did Maria do?")
    assert found.speaker.tolist() == [1, 0, 1]
    assert found.marks.asks.tolist() == [0, 1, 0]
    assert found.marks.dated.tolist() == [1, 0, 0]
    assert found.marks.counted.tolist() == [0, 0, 1]


def test_the_time_asked_for_counts_whole_and_what_was_told_after_it_less() -> None:
    view = view_of([made("a thing", day=d) for d in (0, 40, 45, 200)])
    found = arms.score_rows(
        view,
        parse_query("what happened in February 2024?", EPOCH + timedelta(days=300)),
        [],
        None,
        np.ones(4, np.bool_),
    )
    assert found.time[0] == 0
    assert found.time[1] == found.time[2] == 1
    assert 0 < found.time[3] < 0.1


def test_a_long_question_is_cut_to_its_rarest_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    view = view_of([made(f"common word{i}") for i in range(50)])
    monkeypatch.setattr(arms, "CELLS", 1)
    asked = query_terms(view, "common " + " ".join(f"word{i}" for i in range(40)))
    kept = arms.cut_terms(view, asked)
    assert len(kept) == 16
    assert query_terms(view, "common")[0] not in kept
