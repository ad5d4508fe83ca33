"""The measurement of the reader of statements, on a few turns."""

import pytest

from benchmarks import reader as benchmark
from longmind.models.statements import Turn, open_statement_reader


def test_what_is_told_of_the_reader() -> None:
    trained = open_statement_reader()
    if trained is None:
        pytest.skip("the small models are not installed")
    done: list[float] = []
    talk = [Turn("Thanks!"), Turn("I live in Porto and I work as a nurse."), Turn("A dog.", "Do you have any pets?")]
    told = {name: value for name, value, _ in benchmark.measure(trained, talk, done.append)}
    assert told["turns"] == 3
    assert told["turns that plainly state nothing and are not read"] == 1
    assert told["turns a second and core"] > 0
    assert told["claims that are kept"] >= 1
    assert done[-1] == 1.0


def test_the_turns_are_of_writers_that_the_reader_never_saw() -> None:
    assert len(benchmark.turns()) > 1_000
