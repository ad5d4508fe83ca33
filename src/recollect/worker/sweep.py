"""A look at all agents: who changed since its last job gets one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.worker.models import Swept

if TYPE_CHECKING:
    from recollect.memory import Recollect
    from recollect.worker.jobs import Jobs


_AT_ONCE = 100


async def sweep(rc: Recollect, jobs: Jobs, keep: timedelta) -> Swept:
    """Ask for a job for every agent whose journal has passed its watermark, and remove what is old."""
    scopes = await rc.store.backend.scopes()
    if await jobs.paused():
        return Swept(agents=len(scopes), paused=len(scopes))
    queued = waiting = paused = 0
    for start in range(0, len(scopes), _AT_ONCE):
        some = scopes[start : start + _AT_ONCE]
        # Heads first: a job that ends between the two readings has then moved the mark past the head, not before it.
        heads = {scope: (await rc.store.backend.head(scope)).seq for scope in some}
        marks = await jobs.marks(some)
        changed = [scope for scope in some if not marks[scope].paused and heads[scope] > marks[scope].head]
        new = await jobs.ask_all(changed, cause="schedule")
        queued, waiting = queued + new, waiting + len(changed) - new
        paused += sum(mark.paused for mark in marks.values())
    return Swept(agents=len(scopes), queued=queued, waiting=waiting, paused=paused, removed=await jobs.prune(keep))
