"""Prices, and when the markets are open."""

from taat.market.base import Market

__all__ = ["Market"]
