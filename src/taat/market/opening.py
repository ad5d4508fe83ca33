"""Naming a market: ``announced``, ``announced:PATH``, ``file:PATH`` or ``alpaca``."""

from datetime import timedelta
from pathlib import Path

from longmind import InvalidInput
from taat.market.alpaca import AlpacaMarket
from taat.market.announced import AnnouncedPrices
from taat.market.base import Market
from taat.market.replay import ReplayMarket


def open_market(address: str, *, max_age: timedelta | None = None) -> Market:
    """Return the market that an address names; ``max_age`` is how old a price of a file may be."""
    scheme, colon, path = address.partition(":")
    if scheme == "announced" and bool(colon) == bool(path):
        return AnnouncedPrices(Path(path) if path else None)
    if scheme == "file" and path:
        return ReplayMarket(Path(path), max_age=max_age)
    if address == "alpaca":
        return AlpacaMarket()
    raise InvalidInput(
        f"There is no market {address!r}.",
        hint="Say file:PATH, alpaca, or announced for the prices that announcers name.",
    )
