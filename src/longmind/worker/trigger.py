"""A job because enough has changed, without waiting for the schedule."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from longmind.worker.listening import AFTER, Listening

if TYPE_CHECKING:
    from longmind.memory import Longmind
    from longmind.types import Scope
    from longmind.worker.jobs import Jobs


class Trigger:
    """Asks for a job when an agent has changed often enough since it was last consolidated, by itself:

        async with await Jobs.open(url) as jobs, Trigger(longmind, jobs, after=50):
            await mem.remember(...)

    It hears what is written through this store in this process. Called with a scope it looks at once, also at what
    others wrote. Below the threshold it then costs one look at the agent's head; the watermark is read from the jobs
    only when the threshold seems to be passed, for a job may have moved it meanwhile.
    """

    def __init__(self, longmind: Longmind, jobs: Jobs, *, after: int = AFTER) -> None:
        self._listening = Listening(longmind, self, after=after)
        self._longmind = longmind
        self._jobs = jobs
        self._after = after
        self._heads: dict[Scope, int] = {}

    async def __aenter__(self) -> Trigger:
        self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def start(self) -> None:
        """Begin to listen to what is written."""
        self._listening.start()

    async def stop(self) -> None:
        """Listen no longer."""
        await self._listening.stop()

    async def __call__(self, scope: Scope) -> str | None:
        """Ask for a job if it is time; the id of the job that is waiting or running then."""
        whose = scope.of_all_users()
        head = (await self._longmind.store.backend.head(whose)).seq
        if head - self._heads.get(whose, 0) < self._after:
            return None
        mark = (await self._jobs.marks([whose]))[whose]
        self._heads[whose] = mark.head
        if head - mark.head < self._after or mark.paused or await self._jobs.paused():
            return None
        job, _ = await self._jobs.ask(whose, cause="trigger")
        return job
