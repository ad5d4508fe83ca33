"""Reading post after post: what an author holds is carried along, and a post counts once."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from taat.models import Post
from taat.signals import PostReader, stream

POSTED = datetime(2026, 3, 2, 15, tzinfo=UTC)


def post(number: int, text: str, author: str = "ann", days: int = 0) -> Post:
    at = POSTED + timedelta(minutes=number, days=days)
    return Post(id=str(number), author=author, text=text, created_at=at)


def test_holdings_are_carried_to_the_next_post_of_the_same_author() -> None:
    reader = PostReader()
    reader.read(post(1, "Bought 200 shares of $NVDA at 181.40"))
    reader.read(post(2, "Shorted $DKNG at 34.10", author="bob"))
    (signal,) = reader.read(post(3, "took half off here at 186", author="@Ann"))
    assert (signal.instrument.symbol, signal.action) == ("NVDA", "reduce")
    (signal,) = reader.read(post(4, "Covered the rest at 31.20", author="bob"))
    assert (signal.instrument.symbol, signal.action, signal.side) == ("DKNG", "close", "short")
    assert reader.holdings("ann")[0].units == 100
    assert reader.holdings("bob") == ()


def test_a_post_that_comes_again_is_read_alike_and_not_counted() -> None:
    reader = PostReader()
    reader.read(post(1, "Bought 200 shares of $NVDA at 181.40"))
    half = post(2, "took half off here at 186")
    first = reader.read(half)
    assert reader.read(half) == first
    assert reader.read(post(1, "Bought 200 shares of $NVDA at 181.40"))[0].action == "open"
    assert [holding.units for holding in reader.holdings("ann")] == [100]


def test_an_edited_post_is_read_in_its_first_context_and_not_counted() -> None:
    reader = PostReader()
    reader.read(post(1, "Bought 200 shares of $NVDA at 181.40"))
    reader.read(post(2, "Sold all my $NVDA at 186"))
    (signal,) = reader.read(post(2, "took half off here at 186"))
    assert (signal.instrument.symbol, signal.action) == ("NVDA", "reduce")
    assert reader.holdings("ann") == ()


def test_the_same_id_of_another_author_is_another_post() -> None:
    reader = PostReader()
    reader.read(post(1, "Bought 200 shares of $NVDA at 181.40"))
    reader.read(post(1, "Bought 50 shares of $NVDA at 181.50", author="bob"))
    assert reader.holdings("bob")[0].units == 50


def test_an_expired_option_is_held_no_more() -> None:
    reader = PostReader()
    reader.read(post(1, "BTO 2 AAPL 265C 03/20 @ 3.10"))
    reader.read(post(2, "Good morning", days=19))
    assert len(reader.holdings("ann")) == 1
    reader.read(post(3, "Good morning", days=25))
    assert reader.holdings("ann") == ()


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REMEMBERED_POSTS", "REMEMBERED_AUTHORS", "MOST_HOLDINGS"):
        monkeypatch.setattr(stream, name, 3)
    reader = PostReader()
    for number in range(10):
        reader.read(post(number, "Bought 10 shares of $NVDA at 181.40", author=f"author{number}"))
    held = [number for number in range(10) if reader.holdings(f"author{number}")]
    assert held == [7, 8, 9]
    for number, symbol in enumerate(["AAPL", "TSLA", "MSFT", "AMD", "COIN"]):
        reader.read(post(number, f"Bought 10 shares of ${symbol} at 100"))
    assert [holding.instrument.symbol for holding in reader.holdings("ann")] == ["MSFT", "AMD", "COIN"]
    assert reader.holdings("ann")[0].units == Decimal(10)
    assert len(reader._before) == 3
