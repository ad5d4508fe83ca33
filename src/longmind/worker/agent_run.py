"""What the service and the worker do for one agent: monitor its goals, and consolidate until nothing is left to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from longmind.consolidate.bookmarks import PAUSED, Bookmarks, next_midnight
from longmind.jobs import JobOutcome
from longmind.pacing import load_module

if TYPE_CHECKING:
    from longmind.memory import AgentMemory, Longmind
    from longmind.types import Scope

MAX_RUNS = 3
"""Runs in a row, at most. The second finds what came in during the first, and mostly nothing."""


async def consolidate_until_unchanged(
    longmind: Longmind, scope: Scope, progress: Callable[[str, float], None] | None = None
) -> JobOutcome:
    """Close its abandoned runs, report problems of its goals, and consolidate an agent until a run changes nothing.

    Consolidation itself moves the head of the journal. Only a run that leaves the head where it was proves that
    everything up to there is consolidated; over an unchanged agent such a run costs next to nothing. An agent that is
    written to all the time is left after a few runs, with the last head that is certain. While a run of the agent holds
    a lease, the next look is due when that ends. ``progress`` is told each stage that a run has finished, and the
    share of the run that is done.
    """
    await load_module("longmind.agent.abandoned")
    from longmind.agent.abandoned import close_abandoned_runs

    began = time.perf_counter()
    memory = longmind.agent(scope.agent, tenant=scope.tenant, all_users=True)
    backend = longmind.store.backend
    abandoned = await close_abandoned_runs(memory.scoped, thorough=True)
    look_again = await monitor_goals(memory)
    first = head = (await backend.head(scope)).seq
    reports: list[str] = []
    stopped: str | None = None
    for _ in range(MAX_RUNS):
        report = await memory.consolidate(progress=progress)
        stopped = report.stopped or stopped
        before, head = head, (await backend.head(scope)).seq
        if head == before:
            break
        reports.append(report.id)
    return JobOutcome(
        head=before,
        changes=head - first,
        reports=tuple(reports),
        seconds=round(time.perf_counter() - began, 3),
        paused=stopped == PAUSED,
        until=None if stopped is None else await _resumes_at(longmind, scope, stopped),
        why=stopped or "",
        due=min(filter(None, (await _due(longmind, scope), abandoned.next_end, look_again)), default=None),
    )


async def monitor_goals(memory: AgentMemory) -> datetime | None:
    """Report problems of the agent's active plans; return when to look again, or None if there is no active plan.

    A stall or a deadline needs no write to become a problem, so an agent with active plans has its turn again though
    nothing was written.
    """
    if not (await memory.goals.list(status="active", limit=1)).items:
        return None
    await memory.goals.report_problems()
    return memory.scoped.now() + timedelta(seconds=(await memory.goals.monitoring()).every_seconds)


async def _due(longmind: Longmind, scope: Scope) -> datetime | None:
    """Return when the next run has something to do though nothing was written; None if never."""
    due = (await Bookmarks(longmind.store, scope, longmind.clock).run.read()).due
    try:
        return None if due is None else datetime.fromtimestamp(due, UTC)
    except (ValueError, OverflowError):  # no calendar has that day
        return None


async def _resumes_at(longmind: Longmind, scope: Scope, why: str) -> datetime | None:
    """Return when to try again: once the model may be asked, or with the budget of the next day; None if paused."""
    if why == PAUSED:
        return None
    now = longmind.clock.now()
    until = (await Bookmarks(longmind.store, scope, longmind.clock).model.read()).until
    return until if until is not None and until > now else next_midnight(now)
