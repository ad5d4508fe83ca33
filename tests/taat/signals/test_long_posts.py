"""Texts made to be slow: what bounds the work is there, and what stands before is read."""

from datetime import UTC, date, datetime

import pytest

from taat.models import Post
from taat.signals import read_post
from taat.signals.scan import LONGEST, MOST_ACTIONS, scan
from taat.signals.text import IGNORED, normalise

POSTED = datetime(2026, 3, 2, 15, tzinfo=UTC)


@pytest.mark.parametrize("filling", ["sold long ", "\n", " ", "1", "got ", "1,111"])
def test_an_announcement_before_a_long_filling_is_read(filling: str) -> None:
    text = "Bought 200 shares of $NVDA at 181.40. " + filling * 2700
    signal = read_post(Post(id="1", author="ann", text=text[:2700], created_at=POSTED))[0]
    assert (signal.instrument.symbol, signal.action) == ("NVDA", "open")


def test_phrases_characters_and_runs_are_bounded() -> None:
    found = scan("sold $AAPL long " * 300, date(2026, 3, 2))
    assert found is not None
    assert len(found.plain) <= LONGEST
    assert 0 < len(found.events) <= MOST_ACTIONS + 1
    for run in ("\n" * 500, " \t" * 250, "1" * 500):
        short = normalise(f"a{run}b")
        assert len(short) == 502
        assert len(short.replace(IGNORED, "")) < 30


def test_marks_in_a_post_mean_nothing() -> None:
    for mark in "\x01\x02\x03\x04\x05":
        assert normalise(f"bto {mark}") == "bto  "
