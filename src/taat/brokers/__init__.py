"""Where orders go."""

from taat.brokers.base import Broker

__all__ = ["Broker"]
