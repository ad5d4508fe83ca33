"""Prices of a file, for replays and backtests."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from taat.market.price_files import any_class_key, price_key, read_prices
from taat.market.series import PriceSeries
from taat.models import AssetClass, Instrument, Quote


class ReplayMarket:
    """The prices of a file. It is read on first use, in a thread, and kept in memory."""

    def __init__(self, path: Path, *, max_age: timedelta | None = None) -> None:
        """``max_age`` is how old a price may be to count as the price of a moment; without it every age is right."""
        self.path = path
        self.max_age = max_age
        self._series: dict[str, PriceSeries] | None = None
        self._reading = threading.Lock()

    async def quote(self, instrument: Instrument, at: datetime) -> Quote | None:
        """Return the latest price at or before a moment."""
        series = await self._of(instrument)
        point = series.latest(at)
        if point is None or (self.max_age is not None and at - point.at > self.max_age):
            return None
        return point.quote(instrument)

    async def quotes(self, instrument: Instrument, after: datetime, until: datetime) -> Sequence[Quote]:
        """Return the prices between two moments."""
        return [point.quote(instrument) for point in (await self._of(instrument)).between(after, until)]

    async def close(self) -> None:
        """Forget the prices."""
        self._series = None

    async def _of(self, instrument: Instrument) -> PriceSeries:
        series = self._series
        if series is None:
            series = await asyncio.to_thread(self._read)
        prices = series.get(price_key(instrument))
        if prices is None and instrument.asset is not AssetClass.OPTION:
            prices = series.get(any_class_key(instrument.symbol))
        return prices or PriceSeries()

    def _read(self) -> dict[str, PriceSeries]:
        with self._reading:
            if self._series is None:
                series: defaultdict[str, PriceSeries] = defaultdict(PriceSeries)
                for key, point in read_prices(self.path):
                    series[key].points.append(point)
                for prices in series.values():
                    prices.points.sort(key=lambda point: point.at)
                self._series = dict(series)
            return self._series
