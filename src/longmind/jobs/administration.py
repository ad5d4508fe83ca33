"""``JobAdministration``: the jobs of a tenant, to look at and to steer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from typing import Annotated, Protocol

from pydantic import Field

from longmind.errors import Conflict, InvalidInput, NotFound
from longmind.jobs.models import Cause, ConsolidationStatus, Job, JobState, QueueStatus, ServiceStatus
from longmind.types import Name, Page

MAX_PAGE = 1_000
_POLL_SECONDS = 0.5
_LIST_THEM = "List the jobs to see what there is."


class JobQueue(Protocol):
    """The durable jobs of a store. Every method reaches those of one tenant only."""

    async def page(
        self, tenant: str, agent: str | None, states: Collection[JobState], limit: int, cursor: str | None
    ) -> Page[Job]: ...

    async def find(self, tenant: str, id: str) -> Job | None: ...

    async def ask(self, tenant: str, agent: str, cause: Cause) -> Job: ...

    async def cancel(self, tenant: str, id: str) -> None: ...

    async def status(self, tenant: str) -> QueueStatus: ...


class QueueOpener(Protocol):
    """Opens the queue of a store when it is first needed."""

    async def opened(self) -> JobQueue | None:
        """Return the queue; None if no worker has ever served the store."""
        ...


class ServiceReport(Protocol):
    """The service that consolidates in this process."""

    def status(self, tenant: str | None = None) -> ServiceStatus: ...


class JobAdministration:
    """The durable jobs of a tenant, and what consolidation in this process is doing.

    A store that no worker has ever served has no jobs: then lists are empty, and ``status`` says so.
    """

    def __init__(self, opener: QueueOpener, tenant: str, service: ServiceReport | None) -> None:
        self._opener = opener
        self._tenant = tenant
        self._service = service

    async def status(self) -> ConsolidationStatus:
        """Return who consolidates the tenant's agents, how the last pass went, and how the durable jobs stand."""
        queue = await self._opener.opened()
        return ConsolidationStatus(
            service=None if self._service is None else self._service.status(self._tenant),
            queue=None if queue is None else await queue.status(self._tenant),
        )

    async def list(
        self,
        *,
        agent: Name | None = None,
        states: Collection[JobState] = (),
        limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50,
        cursor: str | None = None,
    ) -> Page[Job]:
        """List jobs, the newest first: of one agent and in some states, if asked."""
        if not 1 <= limit <= MAX_PAGE:
            raise InvalidInput(f"limit must be between 1 and {MAX_PAGE}.", field="limit")
        queue = await self._opener.opened()
        if queue is None:
            return Page[Job](items=())
        return await queue.page(self._tenant, agent, states, limit, cursor)

    async def get(self, id: str) -> Job:
        """Return a job by its id."""
        queue = await self._opener.opened()
        job = None if queue is None else await queue.find(self._tenant, id)
        if job is None:
            raise NotFound("There is no such job here.", hint=_LIST_THEM)
        return job

    async def ask(self, agent: Name) -> Job:
        """Ask for an agent to be consolidated by a worker. If a job of it waits or runs, that is the one."""
        return await (await self._queue()).ask(self._tenant, agent, "call")

    async def retry(self, id: str) -> Job:
        """Ask again for what a failed or cancelled job was to do. Return the new job."""
        job = await self.get(id)
        if job.state not in ("failed", "cancelled"):
            raise Conflict(f"The job is {job.state}; only a failed or cancelled one can be tried again.", id=job.id)
        return await (await self._queue()).ask(self._tenant, job.agent, "retry")

    async def cancel(self, id: str) -> Job:
        """Cancel a job that waits. One that runs is not interrupted."""
        job = await self.get(id)
        if job.state != "waiting":
            raise Conflict(f"The job is {job.state}; only one that waits can be cancelled.", id=job.id)
        await (await self._queue()).cancel(self._tenant, job.id)
        return await self.get(job.id)

    async def watch(self, id: str) -> AsyncIterator[Job]:
        """Yield a job now, and again whenever its state or its progress has changed, until it has ended."""
        job = await self.get(id)
        yield job
        while not job.ended:
            await asyncio.sleep(_POLL_SECONDS)
            before, job = job, await self.get(id)
            if job != before:
                yield job

    async def _queue(self) -> JobQueue:
        queue = await self._opener.opened()
        if queue is None:
            raise Conflict(
                "This store has no jobs: no worker has served it yet.",
                hint="Start `longmind worker`, or consolidate the agent directly.",
            )
        return queue
