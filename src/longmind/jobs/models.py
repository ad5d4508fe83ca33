"""What is told about jobs, and about the service that consolidates in a process."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from longmind.types import Model

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]
JOB_STATES: tuple[JobState, ...] = ("waiting", "running", "done", "failed", "cancelled")
Cause = Literal["schedule", "trigger", "call", "retry"]


class JobOutcome(Model):
    """What consolidating one agent came to."""

    head: int
    """How far the agent's journal had come when consolidation last looked: all up to here has been consolidated."""
    changes: int = 0
    """How many journal lines appeared while it ran; mostly its own."""
    reports: tuple[str, ...] = ()
    """The ids of the runs that changed something; ``undo`` takes one back."""
    seconds: float = 0.0
    paused: bool = False
    """Nothing was done, because the agent, or everything, is paused."""
    until: datetime | None = None
    """A budget is spent, or the model does not answer: the rest is put off until then. What could be done is done."""
    why: str = ""
    """What is put off, and why."""
    due: datetime | None = None
    """When time alone gives consolidation something to do, though nothing is written: something will have faded."""

    @property
    def again(self) -> datetime | None:
        """When to consolidate the agent again even if it does not change; None: not before it does."""
        return self.due if self.until is None else self.until


class Failure(Model):
    """Why consolidating an agent did not work."""

    error: str
    """The error's code, such as ``store_unavailable``, or the name of the exception."""
    message: str


class JobProgress(Model):
    """How far a running job has come."""

    stage: str
    """The stage of consolidation that was finished last."""
    share: Annotated[float, Field(ge=0, le=1)]
    """The share of the current run that is done. A job that finds new memories runs again, up to three times."""


class Job(Model):
    """One consolidation of one agent, durable from the moment it was asked for."""

    id: str
    tenant: str
    agent: str
    state: JobState
    cause: Cause
    queued_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    starts: int = 0
    """How often a worker began it; more than once when a worker was lost."""
    failed_attempts: int = 0
    """How many attempts failed since a worker last began it."""
    next_attempt_at: datetime | None = None
    """When it is tried again, after an attempt that failed."""
    progress: JobProgress | None = None
    """Of a running job, to about a second; None before its first stage is finished."""
    worker: str | None = None
    outcome: JobOutcome | None = None
    failure: Failure | None = None
    """Why it failed; of a running job, why its last attempt did."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state not in ("waiting", "running")


class AgentFailure(Failure):
    """An agent that could not be consolidated. The others were; this one is tried again in the next pass."""

    tenant: str
    agent: str
    at: datetime


class Pass(Model):
    """One look at all agents."""

    started_at: datetime
    finished_at: datetime | None = None
    consolidated: int = 0
    unchanged: int = 0
    changes: int = 0
    put_off: int = 0
    """Agents of which a part waits: a budget is spent, or the model does not answer."""
    paused: int = 0
    """Agents whose consolidation is paused."""
    failures: tuple[AgentFailure, ...] = ()
    error: Failure | None = None
    """Why the pass ended before every agent had its turn; None if it did not."""
    stopped: bool = False
    """Whether the service was stopped before every agent had its turn."""


class ServiceStatus(Model):
    """What the service is doing."""

    running: bool
    """Whether it runs passes by itself."""
    agent: str | None = None
    """The agent whose turn it is now."""
    next_at: datetime | None = None
    last: Pass | None = None


class QueueStatus(Model):
    """How the durable jobs of a tenant stand, by its newest thousand."""

    paused: bool
    """Whether no more jobs are started, of any agent."""
    waiting: int
    waiting_since: datetime | None = None
    """When the oldest job that waits was asked for. If that was long ago, no worker runs, or all is paused."""
    running: int
    failing: tuple[str, ...] = ()
    """The agents whose newest job failed."""


class ConsolidationStatus(Model):
    """Who consolidates the agents of a tenant, and how that goes."""

    service: ServiceStatus | None = None
    """The service in the process that answers; None if it runs none."""
    queue: QueueStatus | None = None
    """The durable jobs; None if no worker has ever served the store."""
