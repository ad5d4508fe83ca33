"""False alarms on real posts, and option alerts in common notations; skipped where the data is absent."""

from pathlib import Path

import pytest

from benchmarks import taat_signals as benchmark

DATA = next(
    (path / "shared/data" for path in Path(__file__).resolve().parents if (path / "shared/data").is_dir()), None
)
pytestmark = pytest.mark.skipif(DATA is None, reason="the evaluation data is not here")


def test_false_alarms_are_rare_and_known_announcements_are_found() -> None:
    assert DATA is not None
    figures = {name: value for name, value, _ in benchmark.chatter_figures(benchmark.chatter(DATA))}
    assert figures["chatter, false alarms"] <= 0.5
    assert figures["labelled announcements found"] >= 0.9 * len(benchmark.announcements())


def test_option_alerts_are_read_in_every_notation() -> None:
    assert DATA is not None
    figures = {name: value for name, value, _ in benchmark.alert_figures(DATA)}
    assert min(figures.values()) >= 97
    assert figures["alerts, all notations"] >= 99
