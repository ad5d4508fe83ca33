"""The two workflows that DBOS runs here: consolidate an agent, and look at all agents.

DBOS knows workflows by name and has one instance in a process, so they are plain functions of this module and work for
the one ``BoundWorker`` that is bound at the moment.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Protocol

from longmind.errors import Forbidden, InvalidInput, ModelMissing
from longmind.jobs import JobOutcome
from longmind.types import Scope
from longmind.worker.engine import DBOS, dbos, faults
from longmind.worker.jobs import CONSOLIDATE, SWEEP
from longmind.worker.models import Swept, WorkerOptions

LOST_WORKERS = 5
"""So many workers may be lost over one job before it counts as failed: a job that kills its worker must end."""
_HOPELESS = (InvalidInput, Forbidden, ModelMissing)
_BACKOFF = 4.0


class BoundWorker(Protocol):
    """The running ``Worker`` that does the jobs of this process."""

    options: WorkerOptions

    async def consolidate(self, scope: Scope, job: str, attempt: int) -> JobOutcome: ...

    async def sweep(self) -> Swept: ...


_bound: list[BoundWorker] = []


def bind(worker: BoundWorker) -> None:
    """Let this worker do the jobs of this process."""
    _bound.append(worker)


def release(worker: BoundWorker) -> None:
    """End what ``bind`` began."""
    _bound.remove(worker)


def bound() -> bool:
    """Whether a worker is running in this process."""
    return bool(_bound)


@DBOS.workflow(name=CONSOLIDATE, max_recovery_attempts=LOST_WORKERS)
async def consolidate(tenant: str, agent: str) -> dict[str, Any]:
    """One job: one agent."""
    worker = _bound[-1]
    scope = Scope(tenant=tenant, agent=agent, all_users=True)
    try:
        return await DBOS.run_step_async(_patience(worker.options), _consolidate, scope)
    except faults.DBOSMaxStepRetriesExceeded as error:
        raise error.errors[-1] from error


async def _consolidate(scope: Scope) -> dict[str, Any]:
    status = DBOS.step_status
    attempt = (status.current_attempt if status is not None else None) or 0
    assert DBOS.workflow_id is not None
    return (await _bound[-1].consolidate(scope, DBOS.workflow_id, attempt)).model_dump(mode="json")


@DBOS.workflow(name=SWEEP)
async def sweep(scheduled_at: Any, context: Any) -> dict[str, Any]:
    """One look at all agents; asked for by the schedule."""
    return await DBOS.run_step_async(_patience(_bound[-1].options), _sweep)


async def _sweep() -> dict[str, Any]:
    return (await _bound[-1].sweep()).model_dump(mode="json")


def _patience(options: WorkerOptions) -> dbos.StepOptions:
    return {
        "retries_allowed": options.attempts > 1,
        "max_attempts": options.attempts,
        "interval_seconds": options.wait_seconds,
        "backoff_rate": _BACKOFF,
        "should_retry": lambda error: not is_hopeless(error),
    }


def is_hopeless(error: BaseException) -> bool:
    """Whether trying again cannot help."""
    return isinstance(error, _HOPELESS)


def wait_after(options: WorkerOptions, attempt: int) -> timedelta | None:
    """How long a job waits after an attempt that failed, counted from 0; None if that was the last."""
    if attempt + 1 >= options.attempts:
        return None
    return timedelta(seconds=options.wait_seconds * _BACKOFF**attempt)


def keep(options: WorkerOptions) -> timedelta:
    """How long finished jobs are kept."""
    return timedelta(days=options.keep_days)
