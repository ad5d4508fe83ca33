"""Fitting chances: the regression finds the odds that hits were drawn from, and errors are those of a hand's count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.calibration import AskedQuestion, Bin, bins_of, calibration_error, separation
from longmind.recall.chances import READ_SIGNS, SIGNS
from training.calibrate import fit, log_odds, read_hits
from training.hit_signs import Row, questions_inside, sources, windows

RANDOM = np.random.default_rng(7)


def _collected(path: Path, questions: int) -> None:
    """Write hits whose true log odds are 4 times the share of the best, less 3."""
    rows = []
    for number in range(questions):
        shares = np.sort(RANDOM.random(5))[::-1]
        for reranked in (False, True):
            for share in shares:
                signs = np.zeros(len(READ_SIGNS))
                signs[SIGNS.index("share")] = share
                right = bool(RANDOM.random() < 1 / (1 + np.exp(3 - 4 * share)))
                rows.append(Row("invented", number, True, reranked, right, tuple(signs)))
    np.savez(path, **{name: np.array([getattr(row, name) for row in rows]) for name in Row._fields})


def test_the_chance_that_hits_were_drawn_from_is_found(tmp_path: Path) -> None:
    _collected(tmp_path / "signs.npz", 2_000)
    hits = read_hits([tmp_path / "signs.npz"], reranked=False)
    weights = fit(hits)
    assert weights[0] == pytest.approx(-3, abs=0.3)
    assert weights[1 + SIGNS.index("share")] == pytest.approx(4, abs=0.4)
    odds = log_odds(weights, hits)
    assert all(a >= b for a, b, starts in zip(odds[:-1], odds[1:], hits.starts[1:], strict=True) if not starts)


def test_the_calibration_error_is_the_mean_distance_of_score_and_share() -> None:
    bins = bins_of([0.05, 0.05, 0.95, 0.95], [False, True, True, True])
    assert bins == [Bin(0.05, 0.5, 2), Bin(0.95, 1.0, 2)]
    assert calibration_error(bins) == pytest.approx((0.45 + 0.05) / 2)


def test_separation_counts_pairs_in_the_right_order_and_equal_ones_half() -> None:
    def asked(answerable: bool, score: float) -> AskedQuestion:
        return AskedQuestion(answerable, (score,), (answerable,))

    apart = [asked(True, 0.9), asked(True, 0.8), asked(False, 0.1)]
    assert separation(apart) == 1.0
    assert separation([*apart, asked(False, 0.9)]) == pytest.approx((2 + 0.5) / 4)


def test_the_windows_of_a_memory_hold_its_questions_and_no_others() -> None:
    import random

    from training.groups import Asked, Group

    groups = [
        Group(f"g{n}", tuple(f"text {n} {i}" for i in range(10)), (0,) * 10, (Asked(f"q{n}", (n,)), Asked("x", (9, 8))))
        for n in range(4)
    ]
    chosen = windows(groups, 1, 14, random.Random(1))
    assert [window.group.source for window in chosen] == ["g1", "g2"]
    assert sum(window.end - window.start for window in chosen) == 14
    asked = questions_inside(chosen)
    assert {question.text for question in asked} == {"q1", "x", "q2"}
    assert all(len(question.right) in (1, 2) for question in asked)


def test_all_sources_are_read_unless_a_part_of_their_names_is_given(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    for name in ("b.jsonl.gz", "a.jsonl.gz", "README.md"):
        (tmp_path / "train" / name).touch()
    assert [path.name for path in sources(tmp_path, "")] == ["a.jsonl.gz", "b.jsonl.gz"]
    assert [path.name for path in sources(tmp_path, "b")] == ["b.jsonl.gz"]
