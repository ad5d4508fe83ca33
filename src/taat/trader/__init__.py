"""The loop: posts in, memory and orders out."""

from taat.trader.deciding import Confirm
from taat.trader.happenings import Happening, Summary
from taat.trader.loop import Trader

__all__ = ["Confirm", "Happening", "Summary", "Trader"]
