"""An import that is killed and resumed stores what one stores that nobody interrupted."""

from pathlib import Path

from tests.crash.kill_import import interrupt


def test_an_import_killed_three_times_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    outcome = interrupt(tmp_path, 300, 3, seed=7)
    assert outcome.killed >= 2, "nearly every run is killed before its end"
    assert outcome.equal
    assert outcome.unchanged
