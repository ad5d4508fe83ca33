"""Where orders go."""

from taat.brokers.alpaca import AlpacaBroker
from taat.brokers.base import Broker
from taat.brokers.opening import open_broker
from taat.brokers.paper import PaperBroker, PaperSettings

__all__ = ["AlpacaBroker", "Broker", "PaperBroker", "PaperSettings", "open_broker"]
