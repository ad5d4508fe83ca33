"""Figures as people read them."""

from datetime import timedelta
from decimal import Decimal

import pytest

from taat.reports import words

D = Decimal


def test_money() -> None:
    assert words.money(D("1234.505")) == "1,234.51"
    assert words.money(D("-0.004")) == "0.00"
    assert words.money(D("12"), sign=True) == "+12.00"
    assert words.money(D("0"), sign=True) == "0.00"
    assert words.money(D("-12.3"), sign=True) == "−12.30"
    assert words.money(None) == "–"


def test_percentages_and_numbers() -> None:
    assert words.percent(D("12.345")) == "12.3 %"
    assert words.percent(D("0.004"), sign=True, places=2) == "0.00 %"
    assert words.share(D("0.666")) == "67 %"
    assert words.share(None) == words.number(None) == words.percent(None) == words.price(None) == "–"
    assert words.number(-1.2345) == "−1.23"
    assert words.quantity(D("1500.500")) == "1,500.5"
    assert words.quantity(D("1E+3")) == "1,000"


@pytest.mark.parametrize(
    ("value", "text"),
    [("3.1", "3.10"), ("3", "3.00"), ("0.123456789", "0.123457"), ("88400.126", "88,400.13"), ("1.08455", "1.0846")],
)
def test_prices(value: str, text: str) -> None:
    assert words.price(D(value)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (3_600, "1 h"),
        (3_660, "1 h 1 min"),
        (40_000, "11 h"),
        (86_400, "1 d"),
        (100_000, "1 d 3 h"),
        (1_000_000, "11 d"),
        (-5, "−5 s"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert words.duration(seconds) == words.duration(timedelta(seconds=seconds)) == text
    assert words.duration(None) == "–"


def test_a_text_cannot_move_the_cursor_or_turn_a_line_around() -> None:
    assert words.plain("a\x1b[2J\n b\u202ec\x85") == "a␛[2J b\\u202ec"
    assert words.plain("half \ud83d") == "half \\ud83d"
