"""How often what the rules extract from LoCoMo is really stated, where that set is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import extraction, facts, quality
from longmind import Longmind

DATA = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not (DATA / "locomo10.json.gz").is_file(), reason="the evaluation sets are not here")


def test_the_labels_are_verdicts_on_turns_and_hold_no_text() -> None:
    known = extraction.labels()
    assert len(known) == extraction.SAMPLE
    assert all(len(digest) == 16 and isinstance(right, bool) for digest, right in known.items())
    assert 0 < sum(known.values()) < len(known)


@needs_data
def test_nine_of_ten_extractions_are_really_said() -> None:
    precision = extraction.precision(DATA)
    assert precision.labelled >= 0.9 * precision.sampled, "the rules have changed: label the new extractions"
    assert precision.share >= 0.9


@needs_data
async def test_nearly_every_plain_statement_becomes_a_fact() -> None:
    case = next(case for case in facts.cases(DATA) if case.name == "sh_6k")
    async with Longmind.open("memory:", embedder="none") as longmind:
        mem = await quality.load(longmind, "facts", case)
        report = await mem.consolidate()
        assert report.of("extract").added >= 0.99 * len(case.items)
