"""Jobs as those see them who look after a tenant: what waits, runs and failed, and what consolidation is doing.

``longmind.worker`` does the jobs; this room says what is told of them.
"""

from longmind.jobs.administration import JobAdministration, JobQueue, QueueOpener, ServiceReport
from longmind.jobs.models import (
    JOB_STATES,
    AgentFailure,
    Cause,
    ConsolidationStatus,
    Failure,
    Job,
    JobOutcome,
    JobProgress,
    JobState,
    Pass,
    QueueStatus,
    ServiceStatus,
)

__all__ = [
    "JOB_STATES",
    "AgentFailure",
    "Cause",
    "ConsolidationStatus",
    "Failure",
    "Job",
    "JobAdministration",
    "JobOutcome",
    "JobProgress",
    "JobQueue",
    "JobState",
    "Pass",
    "QueueOpener",
    "QueueStatus",
    "ServiceReport",
    "ServiceStatus",
]
