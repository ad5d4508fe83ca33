"""Consolidation that happens by itself: in the process (``ConsolidationService``) or by durable jobs (``Worker``).

Durable jobs need the extra ``worker``; what they consist of is imported when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from longmind.jobs import Job, JobOutcome, Pass, ServiceStatus
from longmind.worker.models import Mark, Swept, WorkerOptions
from longmind.worker.service import ConsolidationService
from longmind.worker.trigger import Trigger

if TYPE_CHECKING:
    from longmind.worker.jobs import Jobs
    from longmind.worker.worker import Worker

__all__ = [
    "ConsolidationService",
    "Job",
    "JobOutcome",
    "Jobs",
    "Mark",
    "Pass",
    "ServiceStatus",
    "Swept",
    "Trigger",
    "Worker",
    "WorkerOptions",
]
_DURABLE = {"Jobs": "longmind.worker.jobs", "Worker": "longmind.worker.worker"}


def __getattr__(name: str) -> Any:
    if name in _DURABLE:
        return getattr(import_module(_DURABLE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
