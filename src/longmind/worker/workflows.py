"""The two workflows that DBOS runs here: consolidate an agent, and look at all agents.

DBOS knows workflows by name and has one instance in a process, so they are plain functions of this module and work for
the one ``Hand`` that is bound at the moment.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Protocol

from longmind.errors import Forbidden, InvalidInput, ModelMissing
from longmind.types import Scope
from longmind.worker.engine import DBOS, dbos, faults
from longmind.worker.jobs import CONSOLIDATE, SWEEP
from longmind.worker.models import Outcome, Swept, WorkerOptions

LOST_WORKERS = 5
"""So many workers may be lost over one job before it counts as failed: a job that kills its worker must end."""
_HOPELESS = (InvalidInput, Forbidden, ModelMissing)
_BACKOFF = 4.0


class Hand(Protocol):
    """What does the work: a running ``Worker``."""

    options: WorkerOptions

    async def consolidate(self, scope: Scope) -> Outcome: ...

    async def sweep(self) -> Swept: ...


_hands: list[Hand] = []


def bind(hand: Hand) -> None:
    """From now on jobs in this process are done by this one."""
    _hands.append(hand)


def release(hand: Hand) -> None:
    """The end of ``bind``."""
    _hands.remove(hand)


def bound() -> bool:
    """Whether a worker is running in this process."""
    return bool(_hands)


@DBOS.workflow(name=CONSOLIDATE, max_recovery_attempts=LOST_WORKERS)
async def consolidate(tenant: str, agent: str) -> dict[str, Any]:
    """One job: one agent."""
    hand = _hands[-1]
    scope = Scope(tenant=tenant, agent=agent)
    try:
        return await DBOS.run_step_async(_patience(hand.options), _consolidate, scope)
    except faults.DBOSMaxStepRetriesExceeded as error:
        raise error.errors[-1] from error


async def _consolidate(scope: Scope) -> dict[str, Any]:
    return (await _hands[-1].consolidate(scope)).model_dump(mode="json")


@DBOS.workflow(name=SWEEP)
async def sweep(scheduled_at: Any, context: Any) -> dict[str, Any]:
    """One look at all agents; asked for by the schedule."""
    return await DBOS.run_step_async(_patience(_hands[-1].options), _sweep)


async def _sweep() -> dict[str, Any]:
    return (await _hands[-1].sweep()).model_dump(mode="json")


def _patience(options: WorkerOptions) -> dbos.StepOptions:
    return {
        "retries_allowed": options.attempts > 1,
        "max_attempts": options.attempts,
        "interval_seconds": options.wait_seconds,
        "backoff_rate": _BACKOFF,
        "should_retry": lambda error: not isinstance(error, _HOPELESS),
    }


def keep(options: WorkerOptions) -> timedelta:
    """How long finished jobs are kept."""
    return timedelta(days=options.keep_days)
