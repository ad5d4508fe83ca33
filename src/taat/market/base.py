"""What every source of prices does."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from taat.models import Instrument, Quote


class Market(Protocol):
    """A source of prices."""

    async def quote(self, instrument: Instrument, at: datetime) -> Quote | None:
        """Return the latest price known at a moment, or ``None`` when there is none."""

    async def close(self) -> None:
        """Release what it holds."""


@runtime_checkable
class QuoteHistory(Protocol):
    """A market that also knows every price between two moments, so that no price a stop waits for is missed."""

    async def quotes(self, instrument: Instrument, after: datetime, until: datetime) -> Sequence[Quote]:
        """Return the prices later than ``after`` and not later than ``until``, in the order of time."""
