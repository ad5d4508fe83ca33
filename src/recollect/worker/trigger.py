"""A job because enough has changed, without waiting for the schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import InvalidSetting

if TYPE_CHECKING:
    from recollect.memory import Recollect
    from recollect.types import Scope
    from recollect.worker.jobs import Jobs

AFTER = 50


class Trigger:
    """Asks for a job when an agent has changed often enough since it was last consolidated.

        trigger = Trigger(rc, jobs, after=50)
        await mem.remember(...)
        await trigger(mem.scope)

    Below the threshold it costs one look at the agent's head. The watermark is read from the jobs only when the
    threshold seems to be passed, for a job may have moved it meanwhile.
    """

    def __init__(self, rc: Recollect, jobs: Jobs, *, after: int = AFTER) -> None:
        if after < 1:
            raise InvalidSetting("A trigger needs at least one change.", hint="Give after=1 or more.")
        self._rc = rc
        self._jobs = jobs
        self._after = after
        self._heads: dict[Scope, int] = {}

    async def __call__(self, scope: Scope) -> str | None:
        """Ask for a job if it is time; the id of the job that is waiting or running then."""
        whose = scope.model_copy(update={"user": None})
        head = (await self._rc.store.backend.head(whose)).seq
        if head - self._heads.get(whose, 0) < self._after:
            return None
        mark = (await self._jobs.marks([whose]))[whose]
        self._heads[whose] = mark.head
        if head - mark.head < self._after or mark.paused or await self._jobs.paused():
            return None
        job, _ = await self._jobs.ask(whose, cause="trigger")
        return job
