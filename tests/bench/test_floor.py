"""A gate on quality: on two LoCoMo conversations recall must not fall below what it has reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import facts, locomo, quality
from longmind import Longmind

DATA = Path(__file__).parents[3] / "shared" / "data"
FLOORS = {"R@5": 69.0, "R@10": 78.0, "sessions R@10": 92.0}
needs_data = pytest.mark.skipif(not (DATA / "locomo10.json.gz").is_file(), reason="the evaluation sets are not here")


@needs_data
async def test_recall_stays_above_its_floor() -> None:
    cases = [case for case in locomo.cases(DATA) if case.name in ("conv-26", "conv-44")]
    async with Longmind.open("memory:", embedder="static") as longmind:
        lines = await quality.run(longmind, locomo.SET, cases, lambda done: None)
    whole = next(line for line in lines if (line.half, line.category) == ("all", "all"))
    for name, floor in FLOORS.items():
        assert whole.scores[name] >= floor, f"{name} fell to {whole.scores[name]}"


@needs_data
async def test_the_newest_value_of_a_fact_comes_first() -> None:
    cases = [case for case in facts.cases(DATA) if case.name == "sh_6k"]
    async with Longmind.open("memory:", embedder="static") as longmind:
        lines = await quality.run(longmind, facts.SET, cases, lambda done: None)
    assert all(line.scores["top 1"] >= 97 for line in lines)
