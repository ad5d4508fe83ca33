"""The jobs of a store: asking for one, looking at them, pausing. It needs no worker in this process.

    async with await Jobs.open(url) as jobs:
        await jobs.ask(scope)

There is at most one job of an agent at a time, waiting or running: asking again gives the one that is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, TypeVar

from longmind.clock import Clock, SystemClock
from longmind.errors import Conflict, InvalidInput, NotFound
from longmind.jobs import Cause, Job, JobState
from longmind.types import Scope
from longmind.worker.connect import connect, failures
from longmind.worker.database import QUEUE, SCHEDULE, agent_key, jobs_database
from longmind.worker.engine import DBOSClient, quiet, sqlalchemy
from longmind.worker.job_rows import job_of, statuses_of
from longmind.worker.models import Mark
from longmind.worker.shared_state import SharedState

T = TypeVar("T")
Found = list[Job]
CONSOLIDATE = "longmind.consolidate"
SWEEP = "longmind.sweep"
EVERYTHING = "longmind:everything"
_AGENT = "longmind:agent:"
_AT_ONCE = 4
_MANY = 1_000


class Jobs:
    """The jobs of one store."""

    def __init__(self, client: DBOSClient, clock: Clock, engine: sqlalchemy.Engine | None = None) -> None:
        self.client = client
        self._engine = engine  # what the client does not dispose of
        self.state = SharedState(client)
        self._clock = clock

    @classmethod
    async def open(cls, url: str, *, clock: Clock | None = None) -> Jobs:
        """The jobs of the store at this URL. What they need in the database is created if it is not there."""
        quiet()
        place = jobs_database(url)
        return cls(await asyncio.to_thread(connect, place), clock or SystemClock())

    async def __aenter__(self) -> Jobs:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the database."""
        await asyncio.to_thread(self.client.destroy)
        if self._engine is not None:
            await asyncio.to_thread(self._engine.dispose)

    # -- asking ----------------------------------------------------------------------------------------------------

    async def ask(self, scope: Scope, *, cause: Cause = "call") -> tuple[str, bool]:
        """Ask for an agent to be consolidated: the id of the job, and whether it is new."""
        return await self._do(lambda: self.ask_now(scope, cause))

    async def ask_all(self, scopes: Sequence[Scope], *, cause: Cause) -> int:
        """Ask for many agents; how many of the jobs are new."""
        turns = asyncio.Semaphore(_AT_ONCE)

        async def one(scope: Scope) -> bool:
            async with turns:
                return (await self.ask(scope, cause=cause))[1]

        return sum(await asyncio.gather(*map(one, scopes)))

    def ask_now(self, scope: Scope, cause: Cause) -> tuple[str, bool]:
        """Ask for an agent to be consolidated. Blocks."""
        key, id = agent_key(scope), self._clock.new_id()
        handle: Any = self.client.enqueue(
            {
                "workflow_name": CONSOLIDATE,
                "queue_name": QUEUE,
                "workflow_id": id,
                "deduplication_id": key,
                "duplication_policy": "return-existing",
                "authenticated_user": key,
                "attributes": {"cause": cause, "tenant": scope.tenant},
            },
            scope.tenant,
            scope.agent,
        )
        there: str = handle.get_workflow_id()
        return there, there == id

    async def retry(self, id: str) -> Job:
        """Ask again for what a failed job was to do."""
        job = await self.get(id)
        if job.state not in ("failed", "cancelled"):
            raise Conflict(f"The job {id} is {job.state}; only a failed one can be tried again.", id=id)
        again, _ = await self.ask(Scope(tenant=job.tenant, agent=job.agent, all_users=True), cause="retry")
        return await self.get(again)

    async def cancel(self, id: str) -> Job:
        """Cancel a job that waits. One that runs is not interrupted."""
        job = await self.get(id)
        if job.state != "waiting":
            raise Conflict(f"The job {id} is {job.state}; only one that waits can be cancelled.", id=id)
        await self._do(lambda: self.client.cancel_workflow(job.id))
        return await self.get(job.id)

    async def retry_failed(self) -> Found:
        """Ask again for every agent whose newest job failed."""
        newest: dict[Scope, Job] = {}
        offset = 0
        while found := await self.list(limit=_MANY, offset=offset):
            for job in found:
                newest.setdefault(Scope(tenant=job.tenant, agent=job.agent, all_users=True), job)
            offset += len(found)
        return [await self.retry(job.id) for job in newest.values() if job.state == "failed"]

    # -- looking ---------------------------------------------------------------------------------------------------

    async def list(
        self, *, scope: Scope | None = None, states: Iterable[JobState] = (), limit: int = 50, offset: int = 0
    ) -> Found:
        """The newest jobs, of one agent and in some states if asked."""
        rows = await self._do(
            lambda: self.client.list_workflows(
                name=CONSOLIDATE,
                status=statuses_of(states),
                user=None if scope is None else agent_key(scope),
                limit=limit,
                offset=offset,
                sort_desc=True,
            )
        )
        return sorted(map(job_of, rows), key=lambda job: (job.queued_at, job.id), reverse=True)

    async def get(self, id: str) -> Job:
        """One job by its id, or by eight or more characters of the beginning or end of it."""
        rows = await self._do(lambda: self.client.list_workflows(name=CONSOLIDATE, workflow_ids=[id]))
        if not rows and len(id) < 36:
            full = await self._do(lambda: self._named(id))
            rows = await self._do(lambda: self.client.list_workflows(name=CONSOLIDATE, workflow_ids=[full]))
        if not rows:
            raise NotFound(f"There is no job {id} here.", hint="`longmind jobs list` shows what there is.")
        return job_of(rows[0])

    def _named(self, part: str) -> str:
        if len(part) < 8:
            raise InvalidInput(f"{part!r} is too short for a job: give at least 8 characters.")
        offset = 0
        found: set[str] = set()
        while True:
            rows = self.client.list_workflows(
                name=CONSOLIDATE, limit=_MANY, offset=offset, sort_desc=True, load_input=False, load_output=False
            )
            ids = [row.workflow_id for row in rows]
            found.update(id for id in ids if id.startswith(part) or id.endswith(part))
            if len(rows) < _MANY:
                break
            offset += _MANY
        if len(found) > 1:
            raise InvalidInput(f"{part} could be any of {', '.join(sorted(found)[:5])}.", hint="Give more of it.")
        return found.pop() if found else part

    async def busy(self) -> bool:
        """Whether any job is waiting or running."""
        return bool(await self.list(states=("waiting", "running"), limit=1))

    # -- watermarks and pauses ---------------------------------------------------------------------------------------

    async def marks(self, scopes: Sequence[Scope]) -> dict[Scope, Mark]:
        """Up to where each of these agents has been consolidated by a job, and whether it is paused."""
        names = {_AGENT + agent_key(scope): scope for scope in scopes}
        found = await self._do(lambda: self.state.read(names))
        return {scope: Mark.model_validate(found.get(name, {})) for name, scope in names.items()}

    async def mark(self, scope: Scope, head: int, until: datetime | None = None) -> None:
        """Remember that an agent has been consolidated up to here, and when to go on though nothing was written."""
        told = {"head": head, "until": None if until is None else until.isoformat()}
        await self._do(lambda: self.state.merge(_AGENT + agent_key(scope), told))

    async def pause(self, scope: Scope | None = None, *, paused: bool = True) -> None:
        """Start no more jobs, of one agent or at all, until ``resume``. What runs already is finished."""
        name = EVERYTHING if scope is None else _AGENT + agent_key(scope)
        await self._do(lambda: self.state.merge(name, {"paused": paused}))

    async def resume(self, scope: Scope | None = None) -> None:
        """Take a pause back, and ask at once for what has changed meanwhile."""
        await self.pause(scope, paused=False)
        if scope is not None:
            await self.ask(scope)
        elif await self._do(lambda: self.client.get_schedule(SCHEDULE)) is not None:
            await self._do(lambda: self.client.trigger_schedule(SCHEDULE))

    async def paused(self, scope: Scope | None = None) -> bool:
        """Whether everything is paused, or this agent."""
        names = [] if scope is None else [_AGENT + agent_key(scope)]
        return await self._do(lambda: self.all_paused(*names))

    def all_paused(self, *names: str) -> bool:
        """Whether everything is paused, or what has one of these names. Blocks."""
        return any(note.get("paused") for note in self.state.read([EVERYTHING, *names]).values())

    # -- housekeeping ------------------------------------------------------------------------------------------------

    async def prune(self, keep: timedelta) -> int:
        """Remove finished jobs that are older than this; how many."""
        before = (datetime.now(UTC) - keep).isoformat()
        removed = 0
        while ids := await self._do(lambda: self._finished(before)):
            await self._do(lambda ids=ids: self.client.delete_workflows(ids))  # type: ignore[misc]
            removed += len(ids)
        return removed

    def _finished(self, before: str) -> Sequence[str]:
        rows = self.client.list_workflows(
            name=[CONSOLIDATE, SWEEP], completed_before=before, limit=_MANY, load_input=False, load_output=False
        )
        return [row.workflow_id for row in rows]

    async def note(self, id: str, values: Mapping[str, Any]) -> None:
        """Keep what is to be told of a running job: its attempts, or how far it has come."""
        await self._do(lambda: self.client.update_workflow_attributes(id, dict(values), merge=True))

    async def _do(self, work: Callable[[], T]) -> T:
        def told() -> T:
            with failures():
                return work()

        return await asyncio.to_thread(told)
