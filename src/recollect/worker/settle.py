"""Consolidating one agent until it stands still; the service and the worker do the same."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from recollect.worker.models import Outcome

if TYPE_CHECKING:
    from recollect.memory import Recollect
    from recollect.types import Scope

ROUNDS = 3
"""At most so many runs in one go. The second finds what came in during the first, and mostly nothing."""


async def settle(rc: Recollect, scope: Scope) -> Outcome:
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
    for _ in range(ROUNDS):
        report = await memory.consolidate()
        before, head = head, (await backend.head(scope)).seq
        if head == before:
            break
        reports.append(report.id)
    return Outcome(
        head=before,
        changes=head - first,
        reports=tuple(reports),
        seconds=round(time.perf_counter() - began, 3),
    )
