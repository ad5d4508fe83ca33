"""The queue of a store for those who look after its tenants: opened when it is needed, if there is one.

DBOS is imported only for a store that a worker has served.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeVar

from longmind.clock import SystemClock
from longmind.errors import InvalidInput, InvalidSetting, NotFound
from longmind.jobs import Cause, Job, JobState, QueueStatus
from longmind.pacing import load_module
from longmind.types import Page, Scope
from longmind.worker.database import agent_key, agent_of, jobs_database

if TYPE_CHECKING:
    from dbos import WorkflowStatus

    from longmind.worker.connect import JobReader
    from longmind.worker.jobs import Jobs

T = TypeVar("T")
_NEWEST = 1_000
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NOW = (10**15, "")
"""After every job."""
_CURSOR = re.compile(r"([0-9]{1,13})_([0-9a-f-]{36})")


class StoreQueue:
    """Opens the jobs of a store, once."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._opening = asyncio.Lock()
        self._queue: TenantQueue | None = None

    async def opened(self) -> TenantQueue | None:
        """Return the jobs of the store; None if no worker has ever served it."""
        if self._queue is None:
            async with self._opening:
                if self._queue is None:
                    self._queue = await self._open()
        return self._queue

    async def close(self) -> None:
        """Let go of the database of the jobs."""
        queue, self._queue = self._queue, None
        if queue is not None:
            await queue.close()

    async def _open(self) -> TenantQueue | None:
        try:
            place = jobs_database(self._url)
        except InvalidSetting:  # a store in memory has none
            return None
        if place.file is not None and not place.file.exists():
            return None
        await load_module("longmind.worker.jobs")
        from longmind.worker.connect import attach
        from longmind.worker.engine import quiet
        from longmind.worker.jobs import Jobs

        quiet()
        attached = await asyncio.to_thread(attach, place)
        if attached is None:
            return None
        return TenantQueue(Jobs(attached.client, SystemClock(), attached.reader.engine), attached.reader)


class TenantQueue:
    """The jobs of a store, of one tenant at a time."""

    def __init__(self, jobs: Jobs, reader: JobReader) -> None:
        self._jobs = jobs
        self._reader = reader

    async def close(self) -> None:
        """Let go of the database."""
        await self._jobs.close()

    async def page(
        self, tenant: str, agent: str | None, states: Collection[JobState], limit: int, cursor: str | None
    ) -> Page[Job]:
        """Return the newest jobs, those of one agent and in some states if asked."""
        from longmind.worker.job_rows import ALL_STATUSES, job_of, statuses_of

        at, id = _read_cursor(cursor)
        scope = None if agent is None else Scope(tenant=tenant, agent=agent, all_users=True)
        rows = await self._as(
            tenant,
            lambda: self._reader.page(
                tenant,
                agent_key=None if scope is None else agent_key(scope),
                statuses=statuses_of(states) or ALL_STATUSES,
                before=(at, id),
                limit=limit + 1,
            ),
        )
        shown = rows[:limit]
        more = f"{shown[-1].created_at}_{shown[-1].workflow_uuid}" if len(rows) > limit else None
        ids = [row.workflow_uuid for row in shown]
        jobs = {row.workflow_id: job_of(row) for row in await self._read(tenant, ids)}
        return Page[Job](items=tuple(jobs[id] for id in ids if id in jobs), cursor=more)

    async def find(self, tenant: str, id: str) -> Job | None:
        """Return a job of the tenant; None if there is none with this id."""
        if _ID.fullmatch(id) is None:
            return None
        from longmind.worker.job_rows import job_of

        rows = await self._read(tenant, [id])
        return job_of(rows[0]) if rows else None

    async def ask(self, tenant: str, agent: str, cause: Cause) -> Job:
        """Ask for an agent to be consolidated; if a job of it waits or runs, return that."""
        scope = Scope(tenant=tenant, agent=agent, all_users=True)
        id, _ = await self._as(tenant, lambda: self._jobs.ask_now(scope, cause))
        job = await self.find(tenant, id)
        if job is None:
            raise NotFound("The job was removed meanwhile.", hint="Ask again.")
        return job

    async def cancel(self, tenant: str, id: str) -> None:
        """Cancel a job of the tenant, unless it has ended."""
        await self._as(tenant, lambda: self._jobs.client.cancel_workflow(id))

    async def status(self, tenant: str) -> QueueStatus:
        """Return how the newest jobs of the tenant stand."""
        from longmind.worker.job_rows import ALL_STATUSES, moment, state_named

        rows = await self._as(
            tenant,
            lambda: self._reader.page(
                tenant, agent_key=None, statuses=ALL_STATUSES, before=_read_cursor(None), limit=_NEWEST
            ),
        )
        newest: dict[str, JobState] = {}
        for row in rows:
            newest.setdefault(row.authenticated_user, state_named(row.status))
        waiting = [row.created_at for row in rows if state_named(row.status) == "waiting"]
        return QueueStatus(
            paused=await self._as(tenant, self._jobs.all_paused),
            waiting=len(waiting),
            waiting_since=moment(min(waiting, default=None)),
            running=sum(state_named(row.status) == "running" for row in rows),
            failing=tuple(sorted(agent_of(key) for key, state in newest.items() if state == "failed")),
        )

    async def _read(self, tenant: str, ids: list[str]) -> list[WorkflowStatus]:
        """Return those jobs that are the tenant's."""
        from longmind.worker.jobs import CONSOLIDATE

        if not ids:  # which DBOS would take for all
            return []
        client = self._jobs.client
        rows = await self._as(tenant, lambda: client.list_workflows(name=CONSOLIDATE, workflow_ids=ids))
        return [row for row in rows if (row.attributes or {}).get("tenant") == tenant]

    async def _as(self, tenant: str, work: Callable[[], T]) -> T:
        """Do something in the database, in a thread, in transactions of the tenant."""
        from longmind.worker.connect import as_tenant, failures

        def run() -> T:
            with as_tenant(tenant), failures():
                return work()

        return await asyncio.to_thread(run)


def _read_cursor(cursor: str | None) -> tuple[int, str]:
    """Return the time in milliseconds and the id of the job after which a page begins."""
    if cursor is None:
        return _NOW
    matched = _CURSOR.fullmatch(cursor)
    if matched is None:
        raise InvalidInput("This is no cursor of the jobs.", hint="Begin again without a cursor.", field="cursor")
    return int(matched[1]), matched[2]
