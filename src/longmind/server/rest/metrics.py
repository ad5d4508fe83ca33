"""Figures for Prometheus."""

from __future__ import annotations

import os
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable of prometheus_client that names the folder in which the processes of one server keep their figures."""
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
        self.in_flight = Gauge(
            "longmind_requests_in_flight", "Requests under way.", registry=self.registry, multiprocess_mode="livesum"
        )
        self.stores = Gauge(
            "longmind_stores_open",
            "Stores of tenants that are open.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )

    def render(self) -> bytes:
        """Return the figures in the text format of Prometheus; those of all processes, if there are several."""
        if SHARED_FOLDER not in os.environ:
            return generate_latest(self.registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)


def forget_process(pid: int, folder: Path) -> None:
    """Count no longer what a process that ended had under way; its totals stay."""
    mark_process_dead(pid, str(folder))  # type: ignore[no-untyped-call]
