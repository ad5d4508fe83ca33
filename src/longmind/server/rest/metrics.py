"""Figures for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Counts and times of requests, by operation. No name of an agent, user or tenant is a label."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "longmind_requests", "Requests, by operation and status.", ["operation", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "longmind_request_seconds", "Time of a request.", ["operation"], buckets=_BUCKETS, registry=self.registry
        )
        self.in_flight = Gauge("longmind_requests_in_flight", "Requests under way.", registry=self.registry)
        self.stores = Gauge("longmind_stores_open", "Stores of tenants that are open.", registry=self.registry)

    def render(self) -> bytes:
        """Return the figures in the text format of Prometheus."""
        return generate_latest(self.registry)
