"""Prices, and when the markets are open."""

from taat.market.announced import AnnouncedPrices
from taat.market.base import Market, QuoteHistory
from taat.market.opening import open_market
from taat.market.replay import ReplayMarket

__all__ = ["AnnouncedPrices", "Market", "QuoteHistory", "ReplayMarket", "open_market"]
