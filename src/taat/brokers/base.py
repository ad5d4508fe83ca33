"""What every broker does."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Protocol

from taat.models import Account, Fill, Order, OrderReport, Position


class Broker(Protocol):
    """An account with a broker.

    An order is identified by its client id. Placing the same client id again returns the report of the first order and
    places nothing, so a caller that does not know whether an order arrived may ask again.
    """

    @property
    def name(self) -> str:
        """Such as ``paper`` or ``alpaca``."""

    @property
    def live(self) -> bool:
        """Whether real money is at stake."""

    async def place(self, order: Order, at: datetime) -> OrderReport:
        """Place an order; ``at`` is the moment of the decision, which is the past in a replay."""

    async def order(self, client_id: str) -> OrderReport | None:
        """Return what became of an order, or ``None`` when the broker never got it."""

    async def cancel(self, client_id: str, at: datetime) -> OrderReport:
        """Cancel what is still open of an order."""

    async def advance(
        self, at: datetime, *, before_change: Callable[[], Awaitable[None]] | None = None
    ) -> Sequence[OrderReport]:
        """Let time pass up to a moment: return the orders that changed since the last call.

        ``before_change`` is awaited before anything in the account changes; not at all if nothing does.
        """

    async def open_orders(self) -> Sequence[OrderReport]:
        """Return the orders that can still be executed."""

    async def positions(self) -> Sequence[Position]:
        """Return what the account holds."""

    async def fills(self, *, after: str | None = None) -> Sequence[Fill]:
        """Return the executions in their order, those after a fill's id when one is given."""

    async def account(self) -> Account:
        """Return the money of the account."""

    async def close(self) -> None:
        """Release what it holds."""
