"""Durations in JSON: ISO 8601 in days and seconds, as JSON Schema allows, and the same when they are read again."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from longmind.types import Duration

ADAPTER: TypeAdapter[timedelta] = TypeAdapter(Duration)
ALLOWED = re.compile(r'"-?P(\d+D(T\d+(\.\d+)?S)?|T\d+(\.\d+)?S)"')


@given(st.timedeltas(min_value=timedelta(days=-40_000), max_value=timedelta(days=40_000)))
def test_written_and_read_it_is_the_same_and_has_no_years(duration: timedelta) -> None:
    text = ADAPTER.dump_json(duration)
    assert ALLOWED.fullmatch(text.decode())
    assert ADAPTER.validate_json(text) == duration


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(0), "PT0S"),
        (timedelta(days=1_329), "P1329D"),
        (timedelta(hours=1, minutes=30), "PT5400S"),
        (timedelta(days=1, seconds=5, microseconds=500_000), "P1DT5.5S"),
    ],
)
def test_it_reads_plainly(duration: timedelta, text: str) -> None:
    assert ADAPTER.dump_python(duration, mode="json") == text
    assert ADAPTER.dump_python(duration) == duration
