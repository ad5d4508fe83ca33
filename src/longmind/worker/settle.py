"""Consolidating one agent until it stands still; the service and the worker do the same."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from longmind.consolidate.waiting import PAUSED, next_day, waiting
from longmind.consolidate.watermark import Ledger
from longmind.worker.models import Outcome

if TYPE_CHECKING:
    from longmind.memory import Longmind
    from longmind.types import Scope

ROUNDS = 3
"""At most so many runs in one go. The second finds what came in during the first, and mostly nothing."""


async def settle(rc: Longmind, scope: Scope) -> Outcome:
    """Consolidate an agent until a run changes nothing, so that its watermark is exact.

    The journal's head moves by what consolidation itself writes. Only a run after which the head is where it was
    before proves that everything up to there is consolidated; over an agent that did not change it costs next to
    nothing. An agent that is being written to all the time is left after a few rounds, with the last head that is sure.
    """
    began = time.perf_counter()
    memory = rc.agent(scope.agent, tenant=scope.tenant)
    backend = rc.store.backend
    first = head = (await backend.head(scope)).seq
    reports: list[str] = []
    stopped: str | None = None
    for _ in range(ROUNDS):
        report = await memory.consolidate()
        stopped = report.stopped or stopped
        before, head = head, (await backend.head(scope)).seq
        if head == before:
            break
        reports.append(report.id)
    return Outcome(
        head=before,
        changes=head - first,
        reports=tuple(reports),
        seconds=round(time.perf_counter() - began, 3),
        paused=stopped == PAUSED,
        until=None if stopped is None else await _until(rc, scope, stopped),
        why=stopped or "",
        due=await _due(rc, scope),
    )


async def _due(rc: Longmind, scope: Scope) -> datetime | None:
    """When the mark says that time alone makes a run necessary; None if never."""
    due = (await Ledger(rc.store, scope, rc.clock).read()).due
    try:
        return None if due is None else datetime.fromtimestamp(due, UTC)
    except (ValueError, OverflowError):  # no calendar has that day
        return None


async def _until(rc: Longmind, scope: Scope, why: str) -> datetime | None:
    """When to go on: when the model may be asked again, or with the budget of the next day; None until resumed."""
    if why == PAUSED:
        return None
    now = rc.clock.now()
    waits = (await waiting(rc.store, scope, rc.clock)).until
    return waits if waits is not None and waits > now else next_day(now)
