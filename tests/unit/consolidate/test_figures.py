"""What the rules reach on the evaluation sets, where these are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from longmind import Longmind
from longmind.bench import datasets, extraction, quality

DATA = Path(__file__).parents[4] / "shared" / "data"
needs_data = pytest.mark.skipif(not (DATA / "locomo10.json.gz").is_file(), reason="the evaluation sets are not here")


def test_the_labels_are_verdicts_on_turns_and_hold_no_text() -> None:
    known = extraction.labels()
    assert len(known) == extraction.SAMPLE
    assert all(len(digest) == 16 and isinstance(right, bool) for digest, right in known.items())
    assert 0 < sum(known.values()) < len(known)


@needs_data
def test_nine_of_ten_extractions_are_really_said() -> None:
    found = extraction.precision(DATA)
    assert found.labelled >= 0.9 * found.sampled, "the rules have changed: read the new extractions and label them"
    assert found.share >= 0.9


@needs_data
async def test_nearly_every_plain_statement_becomes_a_fact() -> None:
    cases = {case.name: case for case in datasets.facts(DATA)}
    async with Longmind.open("memory:", embedder="none") as rc:
        mem = await quality.load(rc, "facts", cases["sh_6k"])
        report = await mem.consolidate()
        assert report.of("extract").added >= 0.99 * len(cases["sh_6k"].items)
