"""What every source of prices does."""

from datetime import datetime
from typing import Protocol

from taat.models import Instrument, Quote


class Market(Protocol):
    """A source of prices."""

    async def quote(self, instrument: Instrument, at: datetime) -> Quote | None:
        """Return the latest price known at a moment, or ``None`` when there is none."""

    async def close(self) -> None:
        """Release what it holds."""
