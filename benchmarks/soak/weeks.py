"""The soak as a whole: stretches of a week, each in a process of its own, and the table of what was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import charts
from benchmarks.soak.life import FIRST_DAYS, WEEK

Progress = Callable[[float], None]
ROWS = (
    ("questions", "questions asked"),
    ("R@5", "R@5"),
    ("R@10", "R@10"),
    ("lost", "questions that lost evidence since everything was said"),
    ("gained", "questions that gained evidence since then"),
    ("memories", "memories"),
    ("messages", "messages"),
    ("short_term_pages", "pages in short-term memory"),
    ("segments", "topics in mid-term memory"),
    ("visits", "visits to topics"),
    ("promoted", "topics promoted"),
    ("archived_segments", "topics in the archive"),
    ("facts", "facts"),
    ("traits", "traits"),
    ("knowledge", "profile entries"),
    ("reflections", "reflections"),
    ("procedures", "procedures"),
    ("shared", "shared entries"),
    ("established", "established traits of the agent"),
    ("tickets", "tasks"),
    ("solved", "tasks solved"),
    ("megabytes", "size of the file, MB"),
)


def run(
    folder: Path, days: int, seed: int, progress: Progress, *, statement_reader: bool = True
) -> list[dict[str, Any]]:
    """Live through the days and return what was measured at the end of each week."""
    weeks: list[dict[str, Any]] = []
    first_answers: dict[str, float] = {}
    for number, first in enumerate(range(0, days, WEEK)):
        last = min(first + WEEK, days)
        crash = ["--crash"] if number % 2 else []
        patterns = [] if statement_reader else ["--patterns"]
        command = [
            sys.executable,
            "-m",
            "benchmarks.soak.life",
            str(folder / "soak.db"),
            str(first),
            str(last),
            str(seed),
        ]
        ended = subprocess.run([*command, *crash, *patterns], capture_output=True, text=True, check=False)
        if ended.returncode:
            raise RuntimeError(f"Days {first} to {last} failed:\n{ended.stderr[-2_000:]}")
        measured = json.loads(ended.stdout)
        measured["megabytes"] = round((folder / "soak.db").stat().st_size / 1e6, 1)
        by_kind = measured["by_kind"]
        for kind in ("message", "fact", "reflection", "procedure"):
            measured[f"{kind}s"] = by_kind.get(kind, 0)
        answers = measured.pop("answers")
        if last >= FIRST_DAYS:
            first_answers = first_answers or answers
            measured |= compared(first_answers, answers)
            measured["texts"]["lost"] = worse_answered(first_answers, answers)
        weeks.append(measured)
        progress(last / days)
    return weeks


def compared(first: Mapping[str, float], now: Mapping[str, float]) -> dict[str, int]:
    """Return how many questions lost and gained evidence among their first ten hits."""
    gained = sum(found > first[question] for question, found in now.items())
    return {"lost": len(worse_answered(first, now)), "gained": gained}


def worse_answered(first: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """Return the questions that lost evidence among their first ten hits."""
    return [question for question, found in now.items() if found < first[question]]


def rows(weeks: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return the table: a row for each measure, a column for the end of each week."""
    measured = [(key, title) for key, title in ROWS if any(key in week for week in weeks)]  # older results lack some
    return [[title, *(f"{week[key]:g}" if key in week else "" for week in weeks)] for key, title in measured]


def texts(weeks: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return in words what was shared, learnt and practised at the end: the rows of a second table."""
    return [[kind, text] for kind, lines in weeks[-1]["texts"].items() for text in lines]


def answered_no_worse(weeks: Sequence[dict[str, Any]], slack: float = 1.0) -> bool:
    """Whether the questions are answered as well at the end as when everything had just been said."""
    complete = [week for week in weeks if week["days"] >= FIRST_DAYS]
    return len(complete) > 1 and complete[-1]["R@10"] >= complete[0]["R@10"] - slack


def chart(weeks: Sequence[dict[str, Any]]) -> str:
    """Draw the recall of the same questions over the days."""
    complete = [week for week in weeks if week["days"] >= FIRST_DAYS]
    series = {name: [(week[name],) * 3 for week in complete] for name in ("R@5", "R@10")}
    return charts.lines("The same questions at the end of each week", [str(w["days"]) for w in complete], series, 100)
