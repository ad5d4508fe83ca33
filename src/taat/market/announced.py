"""Prices known from announcements alone, for use without market data."""

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import IO

from longmind import InvalidInput
from taat.market.price_files import price_key, read_prices
from taat.market.series import PricePoint, PriceSeries
from taat.models import Instrument, Quote


class AnnouncedPrices:
    """The prices that announcers named: bid and ask are the same.

    With a path they are also written to a file, so that a restart knows them; the file is one that ``ReplayMarket``
    reads too. What was told is there after ``kill -9`` and after a power failure.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._series: defaultdict[str, PriceSeries] = defaultdict(PriceSeries)
        self._file: IO[bytes] | None = None
        if path is not None:
            self._open(path)

    def tell(self, instrument: Instrument, price: Decimal, at: datetime) -> None:
        """Learn the price of an instrument at a moment. Telling the same again changes nothing."""
        if at.tzinfo is None:
            raise InvalidInput("The moment of a price has no time zone.")
        if not price.is_finite():
            raise InvalidInput(f"{price} is not a price.")
        series = self._series[price_key(instrument)]
        point = PricePoint(at=at, bid=price, ask=price)
        if series.latest(at) == point:
            return
        series.add(point)
        if self._file is not None:
            self._file.write(_line(instrument, point))
            self._file.flush()
            os.fsync(self._file.fileno())

    async def quote(self, instrument: Instrument, at: datetime) -> Quote | None:
        """Return the price that was named last at or before a moment."""
        point = self._of(instrument).latest(at)
        return point.quote(instrument) if point else None

    async def quotes(self, instrument: Instrument, after: datetime, until: datetime) -> Sequence[Quote]:
        """Return the prices named between two moments."""
        return [point.quote(instrument) for point in self._of(instrument).between(after, until)]

    async def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _of(self, instrument: Instrument) -> PriceSeries:
        return self._series.get(price_key(instrument)) or PriceSeries()

    def _open(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = path.open("ab+")
            _cut_torn_line(stream)
        except OSError as error:
            raise InvalidInput(f"{path} cannot be written: {error.strerror or error}.") from error
        try:
            for key, point in read_prices(path):
                self._series[key].add(point)
        except BaseException:
            stream.close()
            raise
        self._file = stream


def _line(instrument: Instrument, point: PricePoint) -> bytes:
    fields = {"symbol": instrument.symbol, "asset": str(instrument.asset)}
    if instrument.expiry is not None:
        fields["expiry"] = instrument.expiry.isoformat()
    if instrument.strike is not None:
        fields["strike"] = f"{instrument.strike.normalize():f}"
    if instrument.right is not None:
        fields["right"] = instrument.right
    return json.dumps(fields | {"at": point.at.isoformat(), "price": f"{point.bid:f}"}).encode() + b"\n"


def _cut_torn_line(stream: IO[bytes]) -> None:
    """Remove a last line without an end: the process was killed while it wrote it, and tells it again."""
    stream.seek(0)
    whole = 0
    for line in stream:
        if line.endswith(b"\n"):
            whole += len(line)
    stream.truncate(whole)
    stream.seek(0, os.SEEK_END)
