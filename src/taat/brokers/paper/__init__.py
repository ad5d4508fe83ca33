"""A paper account: executions at the prices of a market, exact, in a ledger of its own."""

from taat.brokers.paper.broker import PaperBroker
from taat.brokers.paper.settings import PaperSettings

__all__ = ["PaperBroker", "PaperSettings"]
