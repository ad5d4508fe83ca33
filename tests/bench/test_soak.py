"""The short version of the soak: three days of one agent in two processes, the first of which ends without closing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.soak.life import CONVERSATIONS, sessions_of
from benchmarks.soak.weeks import ROWS, answered_no_worse, compared, rows, texts, worse_answered


def _live(store: Path, first: int, last: int, *more: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.soak.life", str(store), str(first), str(last), "1", *more]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    measured: dict[str, Any] = json.loads(ended.stdout)
    return measured


def test_days_are_repeatable_and_full() -> None:
    assert sessions_of(20, 1) == sessions_of(20, 1) != sessions_of(20, 2)
    assert len(sessions_of(3, 1)) >= CONVERSATIONS


def test_what_was_said_before_a_crash_is_still_recalled_after_it(tmp_path: Path) -> None:
    before = _live(tmp_path / "soak.db", 0, 2, "--crash", "--patterns")
    after = _live(tmp_path / "soak.db", 2, 3)
    said = sum(len(session.messages) for day in range(3) for session in sessions_of(day, 1))
    assert after["by_kind"]["message"] >= said
    assert after["questions"] > before["questions"] > 0
    assert after["R@10"] > 70
    assert len(after["answers"]) == after["questions"]
    assert after["texts"]["persona"], "the agent's persona is filled from what it does"
    assert ["persona", after["texts"]["persona"][0]] in texts([before, after])


def test_the_table_has_a_column_for_each_week_and_a_verdict() -> None:
    week = {key: 1 for key, _ in ROWS}
    weeks = [{**week, "days": 14, "R@10": 80.0}, {**week, "days": 60, "R@10": 78.0}]
    assert all(len(row) == 3 for row in rows(weeks))
    assert not answered_no_worse(weeks)
    assert answered_no_worse([weeks[0], {**weeks[1], "R@10": 79.5}])


def test_the_report_names_the_questions_that_are_answered_worse_than_before() -> None:
    first, now = {"a": 1.0, "b": 0.5, "c": 0.5}, {"a": 0.5, "b": 0.5, "c": 1.0}
    assert compared(first, now) == {"lost": 1, "gained": 1}
    assert worse_answered(first, now) == ["a"]
    week = {key: 1 for key, _ in ROWS}
    early = {key: 1 for key in week if key not in ("lost", "gained")}
    assert ["questions that gained evidence since then", "", "1"] in rows([early, week])
