"""A look at all agents: who changed since its last job gets one."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from longmind.worker.models import Mark, Swept

if TYPE_CHECKING:
    from longmind.memory import Longmind
    from longmind.worker.jobs import Jobs


_AT_ONCE = 100


def _wants_a_job(mark: Mark, head: int, now: datetime) -> bool:
    """Whether an agent has changed since its last job, or the time has come for what that job put off."""
    return not mark.paused and (head > mark.head or (mark.until is not None and now >= mark.until))


async def sweep(longmind: Longmind, jobs: Jobs, keep: timedelta) -> Swept:
    """Ask for a job for every agent that changed or whose wait is over, and remove what is old."""
    scopes = [scope for scope in await longmind.store.backend.scopes() if not scope.agent.startswith("@")]
    if await jobs.paused():
        return Swept(agents=len(scopes), paused=len(scopes))
    queued = waiting = paused = 0
    for start in range(0, len(scopes), _AT_ONCE):
        some = scopes[start : start + _AT_ONCE]
        # Heads first: a job that ends between the two readings has then moved the mark past the head, not before it.
        heads = {scope: (await longmind.store.backend.head(scope)).seq for scope in some}
        marks = await jobs.marks(some)
        changed = [scope for scope in some if _wants_a_job(marks[scope], heads[scope], longmind.clock.now())]
        new = await jobs.ask_all(changed, cause="schedule")
        queued, waiting = queued + new, waiting + len(changed) - new
        paused += sum(mark.paused for mark in marks.values())
    return Swept(agents=len(scopes), queued=queued, waiting=waiting, paused=paused, removed=await jobs.prune(keep))
