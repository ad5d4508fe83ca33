"""The best rows by words: of a large view found without scoring all, and the same to the last bit."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.unit.store.search.rows import DIMENSIONS, made, row, view_of

from longmind.store.base import Feed, Head
from longmind.store.search import okapi, ranking
from longmind.store.search.filtering import passing_rows
from longmind.store.search.view import View
from longmind.types import Filter, Memory

VOCABULARY = [f"word{number}" for number in range(120)]
CHANCES = [1 / (3 + number) for number in range(120)]


def memories(count: int, seed: int) -> list[Memory]:
    """Texts whose words are as uneven as those of a language."""
    chance = random.Random(seed)
    return [made(" ".join(chance.choices(VOCABULARY, CHANCES, k=chance.randint(1, 14)))) for _ in range(count)]


def changed_view(seed: int) -> View:
    """A view in which rows have died and others came later, so that its terms stand in several segments."""
    first, second = memories(400, seed), memories(60, seed + 1)
    view = view_of(first)
    view.postings.find(0)
    gone = [memory.id for memory in first[:: seed % 5 + 2]]
    view.take_in(Feed(Head(461, 1), [row(memory, 401 + i) for i, memory in enumerate(second)], gone))
    return view


def questions(seed: int) -> list[str]:
    chance = random.Random(seed)
    drawn = [" ".join(chance.choices(VOCABULARY, CHANCES, k=length)) for length in (1, 2, 4, 8, 20) for _ in range(4)]
    return [*drawn, "word0", "word0 word1 word2", "word119 word118", "word0 unheard", "unheard", ""]


def plain(view: View, asked: list[tuple[int, float]], allowed: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Every row scored, and the best taken."""
    rows, scores = view.bm25(asked)
    rows, scores = rows[allowed[rows]], scores[allowed[rows]]
    best = np.lexsort((rows, -scores))[:k]
    return rows[best], scores[best]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [1.0, 0.4, 0.02])
def test_the_best_are_those_of_the_plain_scorer(seed: int, share: float) -> None:
    view = changed_view(seed)
    allowed = passing_rows(view, Filter()) & (np.random.default_rng(seed).random(view.rows) < share)
    for text in questions(seed):
        asked = ranking.query_terms(view, text)
        for k in (1, 10, 50, 1_000):
            rows, scores = okapi.best_by_words(view, asked, allowed, k)
            expected_rows, expected_scores = plain(view, asked, allowed, k)
            assert rows.tolist() == expected_rows.tolist(), (text, k)
            assert scores.tolist() == expected_scores.tolist(), (text, k)


def test_common_terms_are_only_looked_up_in_rows_that_can_still_win(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["common filler here"] * 500 + ["rare jewel common"] * 3
    view = view_of([made(text) for text in texts])
    scored: list[int] = []
    impacts = okapi.impacts

    def counting(weight: float, counts: np.ndarray, lengths: np.ndarray, mean: float) -> np.ndarray:
        scored.append(len(counts))
        return impacts(weight, counts, lengths, mean)

    monkeypatch.setattr(okapi, "impacts", counting)
    asked = ranking.query_terms(view, "rare jewel common")
    rows, _ = okapi.best_by_words(view, asked, np.ones(view.rows, np.bool_), 3)
    assert rows.tolist() == [500, 501, 502]
    assert max(scored) == 3


def test_the_scratch_array_is_left_as_it_was_found() -> None:
    view = changed_view(3)
    for text in questions(3):
        okapi.best_by_words(view, ranking.query_terms(view, text), np.ones(view.rows, np.bool_), 5)
    assert not view.blank().any()


def test_search_by_words_says_the_same_in_a_large_view(monkeypatch: pytest.MonkeyPatch) -> None:
    view = changed_view(4)
    where = Filter(kinds=("message",))
    small = [ranking.by_text(view, text, 10, where, None) for text in questions(4)]
    monkeypatch.setattr(ranking, "LARGE", 100)
    large = [ranking.by_text(view, text, 10, where, None) for text in questions(4)]
    assert [[one.score for one in found] for found in large] == [[one.score for one in found] for found in small]
    assert any(small)


def test_a_view_without_rows_has_no_best() -> None:
    rows, scores = okapi.best_by_words(View(DIMENSIONS), [(1, 1.0)], np.zeros(0, np.bool_), 3)
    assert (len(rows), len(scores)) == (0, 0)
