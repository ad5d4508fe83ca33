"""Naming a broker: ``paper``, ``paper:PATH`` or ``alpaca``."""

from pathlib import Path

from longmind import InvalidInput
from taat.brokers.alpaca import AlpacaBroker
from taat.brokers.base import Broker
from taat.brokers.paper import PaperBroker, PaperSettings
from taat.market import Market

LEDGER = "paper.db"


def open_broker(
    address: str,
    market: Market,
    *,
    directory: Path | None = None,
    live: bool = False,
    settings: PaperSettings | None = None,
) -> Broker:
    """Return the broker that an address names.

    ``paper`` has its ledger in ``directory`` as ``paper.db``, or in memory when there is none. ``live`` means real
    money, and has to be said.
    """
    scheme, colon, path = address.partition(":")
    if scheme == "paper" and bool(colon) == bool(path):
        if live:
            raise InvalidInput("A paper account cannot be live.", hint="Say --broker alpaca for real money.")
        if path:
            return PaperBroker(market, Path(path), settings)
        return PaperBroker(market, directory / LEDGER if directory else None, settings)
    if address == "alpaca":
        return AlpacaBroker(live=live)
    raise InvalidInput(f"There is no broker {address!r}.", hint="Say paper, paper:PATH or alpaca.")
