"""Fills for tests, written shortly."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count

from taat.models import AssetClass, Fill, Instrument
from taat.performance import AnnouncedFill

START = datetime(2026, 3, 2, 15, 0, tzinfo=UTC)
NVDA = Instrument(symbol="NVDA")
CALL = Instrument(
    symbol="AAPL", asset=AssetClass.OPTION, expiry=START.date() + timedelta(days=18), strike=Decimal(265), right="call"
)
_numbers = count(1)


def filled(
    quantity: object,
    price: object,
    minutes: float = 0,
    *,
    fee: object = 0,
    instrument: Instrument = NVDA,
    announcer: str = "pat",
    time_frame: str | None = None,
    announced: object = None,
    delay: float | None = None,
    id: str | None = None,
) -> AnnouncedFill:
    """Return a fill; a quantity below zero is a sale."""
    units = Decimal(str(quantity))
    at = START + timedelta(minutes=minutes)
    id = id or f"f{next(_numbers)}"
    return AnnouncedFill(
        fill=Fill(
            id=id,
            client_id=f"order-{id}",
            instrument=instrument,
            side="buy" if units > 0 else "sell",
            quantity=abs(units),
            price=Decimal(str(price)),
            fee=Decimal(str(fee)),
            filled_at=at,
        ),
        announcer=announcer,
        time_frame=time_frame,
        announced_price=Decimal(str(announced)) if announced is not None else None,
        announced_at=at - timedelta(seconds=delay) if delay is not None else None,
    )
