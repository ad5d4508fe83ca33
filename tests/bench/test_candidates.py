"""The cost and the gain of the reranker by the number of candidates, on a set of our own."""

from __future__ import annotations

import pytest

from benchmarks import candidates, charts
from benchmarks.evaluation import files
from longmind import Longmind
from longmind.models import small_models


@pytest.mark.skipif(bool(small_models.missing()), reason="longmind-models is not installed")
async def test_every_number_of_candidates_has_its_figures():
    chosen = list(files.cases())[:1]
    async with Longmind.open("memory:") as longmind:
        rows = await candidates.measure(longmind, chosen, 4, 20.0, lambda _: None)
    assert [row.candidates for row in rows] == ["60, new process", *map(str, candidates.NUMBERS)]
    assert {row.questions for row in rows} == {rows[0].questions}
    assert all(row.milliseconds > 0 and len(row.shown()) == len(candidates.HEAD) for row in rows)
    assert all(0 <= row.five <= row.ten <= 100 for row in rows)
    chart = charts.against_cost("Recall", {"R@5": [(1.0, 70.0, "0"), (4.0, 80.0, "60")]}, "ms")
    assert chart.count("<circle") == 2
