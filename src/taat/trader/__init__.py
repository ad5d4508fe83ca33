"""The loop: posts in, memory and orders out."""

from taat.trader.deciding import Confirm
from taat.trader.loop import Happening, Summary, Trader

__all__ = ["Confirm", "Happening", "Summary", "Trader"]
