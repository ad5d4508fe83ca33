"""A job as DBOS keeps it, and as it is told."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from longmind.jobs import Failure, Job, JobOutcome, JobProgress, JobState

if TYPE_CHECKING:
    from dbos import WorkflowStatus

_STATES: dict[str, JobState] = {
    "ENQUEUED": "waiting",
    "DELAYED": "waiting",
    "PENDING": "running",
    "SUCCESS": "done",
    "ERROR": "failed",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "failed",
    "CANCELLED": "cancelled",
}
ALL_STATUSES = list(_STATES)


def statuses_of(states: Iterable[JobState]) -> list[str] | None:
    """Return the statuses of DBOS that some states have; None for all."""
    wanted = set(states)
    return [status for status, state in _STATES.items() if state in wanted] or None


def state_named(status: str) -> JobState:
    """Return the state of a job from its status in DBOS."""
    return _STATES[status]


def job_of(row: WorkflowStatus) -> Job:
    """Return a row of DBOS as a job."""
    tenant, agent = (row.input or {"args": ("?", "?")})["args"]
    state = state_named(row.status)
    notes = row.attributes or {}
    running = state == "running"
    return Job(
        id=row.workflow_id,
        tenant=tenant,
        agent=agent,
        state=state,
        cause=notes.get("cause", "call"),
        queued_at=moment(row.created_at) or datetime.now(UTC),
        started_at=moment(row.dequeued_at),
        finished_at=moment(row.completed_at),
        starts=row.recovery_attempts or 0,
        failed_attempts=notes.get("failed_attempts", 0),
        next_attempt_at=notes.get("next_attempt_at") if running else None,
        progress=JobProgress.model_validate(notes["progress"]) if running and notes.get("progress") else None,
        worker=row.executor_id,
        outcome=JobOutcome.model_validate(row.output) if state == "done" and row.output else None,
        failure=_failure(row, state),
    )


def _failure(row: WorkflowStatus, state: JobState) -> Failure | None:
    if state == "running":
        last = (row.attributes or {}).get("failure")
        return None if last is None else Failure.model_validate(last)
    if state != "failed":
        return None
    if row.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
        lost = (row.recovery_attempts or 1) - 1  # the last start was refused
        return Failure(error="workers_lost", message=f"{lost} workers were lost while they worked on this job.")
    error = row.error
    code = getattr(error, "code", None) or getattr(error, "name", None) or type(error).__name__
    return Failure(error=str(code), message=str(error))


def moment(milliseconds: int | None) -> datetime | None:
    """Return a time of DBOS."""
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
