"""Prices, and when the markets are open."""

from taat.market.alpaca import AlpacaMarket
from taat.market.alpaca_api import Keys, ServiceRefused, ServiceUnavailable
from taat.market.announced import AnnouncedPrices
from taat.market.base import Market, QuoteHistory
from taat.market.opening import open_market
from taat.market.replay import ReplayMarket

__all__ = [
    "AlpacaMarket",
    "AnnouncedPrices",
    "Keys",
    "Market",
    "QuoteHistory",
    "ReplayMarket",
    "ServiceRefused",
    "ServiceUnavailable",
    "open_market",
]
