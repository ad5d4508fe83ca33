"""A worker: takes jobs from the store's queue, any number of them on any number of machines.

    async with Longmind.open(url) as longmind, Worker(longmind) as worker:
        await worker.finished()

One worker to a process: DBOS is a single instance. Jobs run in the event loop that started the worker.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING

from longmind.errors import Conflict, InvalidSetting
from longmind.jobs import JobOutcome
from longmind.worker import workflows
from longmind.worker.agent_run import consolidate_until_unchanged
from longmind.worker.connect import failures
from longmind.worker.database import APPLICATION, QUEUE, SCHEDULE, SCHEMA, VERSION, jobs_database
from longmind.worker.engine import DBOS, DBOSException, dbos
from longmind.worker.jobs import SWEEP, Jobs
from longmind.worker.models import Swept, WorkerOptions
from longmind.worker.presence import Presence
from longmind.worker.progress_notes import ProgressNotes, note, note_failure
from longmind.worker.sweep import sweep
from longmind.worker.trigger import Trigger

if TYPE_CHECKING:
    from longmind.memory import Longmind
    from longmind.types import Scope

_log = logging.getLogger(__name__)


class Worker:
    """Consolidates agents as their jobs come up, until it is stopped."""

    def __init__(
        self,
        longmind: Longmind,
        options: WorkerOptions | None = None,
        *,
        told: Callable[[Scope, JobOutcome | BaseException], None] | None = None,
    ) -> None:
        self._longmind = longmind
        self.options = options or WorkerOptions()
        self.name = self.options.name or f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(2)}"
        self._told = told or (lambda scope, what: None)
        self._jobs: Jobs | None = None
        self._presence: Presence | None = None
        self._trigger: Trigger | None = None
        self._tasks: set[asyncio.Task[object]] = set()
        self.done = 0
        self.failed = 0

    @property
    def jobs(self) -> Jobs:
        """The jobs of the store this worker works for."""
        if self._jobs is None:
            raise Conflict("The worker is not running.", hint="Use `async with Worker(longmind)`, or await start().")
        return self._jobs

    @property
    def taken_over(self) -> int:
        """How many jobs of lost workers it gave back to the queue."""
        return 0 if self._presence is None else self._presence.taken_over

    async def __aenter__(self) -> Worker:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Begin to take jobs, and look once at all agents: what changed while no worker was there gets its job now."""
        if workflows.bound():
            raise Conflict("A worker is running in this process already.", hint="Start another process for another.")
        jobs = await Jobs.open(self._longmind.url, clock=self._longmind.clock)
        try:
            await asyncio.to_thread(self._prepare, jobs)
            self._jobs = jobs
            self._presence = Presence(jobs, self.name, self.options.lease_seconds)
            await asyncio.to_thread(self._presence.announce)
        except BaseException:
            self._jobs = None
            await jobs.close()
            raise
        workflows.bind(self)
        try:
            self._launch()
            self._presence.start()
            await self.sweep()
            if self.options.after is not None:
                self._trigger = Trigger(self._longmind, jobs, after=self.options.after)
                self._trigger.start()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Take no more jobs, wait for those that run, and sign off. What does not end in time is left to the others."""
        jobs = self._jobs
        if jobs is None:
            return
        trigger, self._trigger = self._trigger, None
        if trigger is not None:
            await trigger.stop()
        await _in_thread(lambda: DBOS.destroy(workflow_completion_timeout_sec=self.options.grace_seconds))
        # DBOS made its own threads those of the loop, and has ended them.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(thread_name_prefix="longmind"))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        workflows.release(self)
        self._jobs = None
        if self._presence is not None:
            await asyncio.to_thread(self._presence.stop)
        await jobs.close()

    async def finished(self) -> None:
        """Wait until no job is waiting or running, of any worker."""
        while await self.jobs.busy():  # noqa: ASYNC110  # the others are in other processes
            await asyncio.sleep(self.options.poll_seconds)

    # -- what the workflows call -----------------------------------------------------------------------------------

    async def consolidate(self, scope: Scope, job: str, attempt: int) -> JobOutcome:
        """Do one job: consolidate the agent, unless it is paused, and remember up to where."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            if attempt:
                await note(self.jobs, job, {"next_attempt_at": None})
            async with ProgressNotes(self.jobs, job) as notes:
                outcome = await self._consolidate(scope, notes)
        except Exception as error:
            self.failed += 1
            wait = None if workflows.is_hopeless(error) else workflows.wait_after(self.options, attempt)
            await note_failure(self.jobs, job, error, attempt, wait)
            self._told(scope, error)
            raise
        self.done += 1
        self._told(scope, outcome)
        return outcome

    async def _consolidate(self, scope: Scope, notes: ProgressNotes) -> JobOutcome:
        jobs = self.jobs
        if await jobs.paused(scope):
            return JobOutcome(head=0, paused=True)
        outcome = await consolidate_until_unchanged(self._longmind, scope, notes.tell)
        await jobs.mark(scope, outcome.head, outcome.again)
        return outcome

    async def sweep(self) -> Swept:
        """Look at all agents now."""
        return await sweep(self._longmind, self.jobs, workflows.keep(self.options))

    # -- DBOS --------------------------------------------------------------------------------------------------------

    def _prepare(self, jobs: Jobs) -> None:
        """The queue and the schedule, which are rows in the database that all workers share. Blocks."""
        options = self.options
        with failures():
            jobs.client.register_queue(
                QUEUE, worker_concurrency=options.at_once, polling_interval_sec=options.poll_seconds
            )
            try:
                jobs.client.apply_schedules(
                    [{"schedule_name": SCHEDULE, "workflow_name": SWEEP, "schedule": options.cron}]
                )
            except DBOSException as error:
                raise InvalidSetting(
                    f"The schedule {options.cron!r} is not usable: {error}.",
                    hint="Write it as for cron, such as '0 */6 * * *' or '30 2 * * *'.",
                ) from error

    def _launch(self) -> None:
        """Start DBOS. In this thread, so that it runs the jobs in this event loop, where the store is open."""
        DBOS(
            config={
                "name": APPLICATION,
                "system_database_url": jobs_database(self._longmind.url).url,
                "dbos_system_schema": SCHEMA,
                "serializer": dbos.DBOSPortableJSONSerializer(),
                "executor_id": self.name,
                "application_version": VERSION,
                "log_level": "WARNING",
                "enable_otlp": False,
                "run_migrations": False,
                "sys_db_pool_size": max(5, min(20, self.options.at_once + 4)),
            }
        )
        DBOS.listen_queues([QUEUE])
        with failures():
            DBOS.launch()


async def _in_thread(work: Callable[[], None]) -> None:
    """Run this in a thread that belongs to nobody else."""
    with ThreadPoolExecutor(1) as thread:
        await asyncio.get_running_loop().run_in_executor(thread, work)
