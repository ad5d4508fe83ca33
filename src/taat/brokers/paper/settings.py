"""The terms of a paper account."""

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from taat.models import Frozen

NotNegative = Annotated[Decimal, Field(ge=0)]
Positive = Annotated[Decimal, Field(gt=0)]


class PaperSettings(Frozen):
    """What a paper account starts with, what it costs, and how its orders are executed."""

    starting_cash: Positive = Decimal(100_000)
    """Used when the ledger is made; a ledger that exists keeps its money."""
    slippage_percent: NotNegative = Decimal(0)
    """How much worse than the quote market and stop orders are executed."""
    fee_per_unit: NotNegative = Decimal(0)
    fee_percent: NotNegative = Decimal(0)
    """Of the value of an execution."""
    fee_minimum: NotNegative = Decimal(0)
    """Of each execution. A fee is rounded to the cent."""
    liquidity: Positive | None = None
    """How many units one quote can give or take; the rest of an order waits for the next. ``None``: any number."""
    leverage: Positive = Decimal(1)
    """How many times its equity the account may hold in positions."""
    regular_hours: bool = False
    """Execute only while the market is open; otherwise whenever there is a price."""
