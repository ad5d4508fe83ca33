"""The jobs of a store: asking for one, looking at them, pausing. It needs no worker in this process.

    async with await Jobs.open(url) as jobs:
        await jobs.ask(scope)

There is at most one job of an agent at a time, waiting or running: asking again gives the one that is there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from longmind.clock import Clock, SystemClock
from longmind.errors import Conflict, InvalidInput, NotFound, StoreError, StoreUnavailable
from longmind.private_files import create_file, create_folder
from longmind.store.sql import load
from longmind.types import Scope
from longmind.worker.database import APPLICATION, QUEUE, SCHEDULE, SCHEMA, JobsDatabase, agent_key, jobs_database
from longmind.worker.engine import DBOS, DBOSClient, DBOSException, dbos, quiet, sqlalchemy
from longmind.worker.models import Cause, Failure, Job, JobOutcome, JobState, Mark
from longmind.worker.shared_state import SharedState

if TYPE_CHECKING:
    from dbos import WorkflowStatus

T = TypeVar("T")
Found = list[Job]
CONSOLIDATE = "longmind.consolidate"
SWEEP = "longmind.sweep"
EVERYTHING = "longmind:everything"
_AGENT = "longmind:agent:"
_STATES: dict[str, JobState] = {
    "ENQUEUED": "waiting",
    "DELAYED": "waiting",
    "PENDING": "running",
    "SUCCESS": "done",
    "ERROR": "failed",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "failed",
    "CANCELLED": "cancelled",
}
_AT_ONCE = 4
_MANY = 1_000


class Jobs:
    """The jobs of one store."""

    def __init__(self, client: DBOSClient, clock: Clock) -> None:
        self.client = client
        self.state = SharedState(client)
        self._clock = clock

    @classmethod
    async def open(cls, url: str, *, clock: Clock | None = None) -> Jobs:
        """The jobs of the store at this URL. What they need in the database is created if it is not there."""
        quiet()
        place = jobs_database(url)
        return cls(await asyncio.to_thread(_connect, place), clock or SystemClock())

    async def __aenter__(self) -> Jobs:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the database."""
        await asyncio.to_thread(self.client.destroy)

    # -- asking ----------------------------------------------------------------------------------------------------

    async def ask(self, scope: Scope, *, cause: Cause = "call") -> tuple[str, bool]:
        """Ask for an agent to be consolidated: the id of the job, and whether it is new."""
        return await self._do(lambda: self._ask(scope, cause))

    async def ask_all(self, scopes: Sequence[Scope], *, cause: Cause) -> int:
        """Ask for many agents; how many of the jobs are new."""
        turns = asyncio.Semaphore(_AT_ONCE)

        async def one(scope: Scope) -> bool:
            async with turns:
                return (await self.ask(scope, cause=cause))[1]

        return sum(await asyncio.gather(*map(one, scopes)))

    def _ask(self, scope: Scope, cause: Cause) -> tuple[str, bool]:
        key, id = agent_key(scope), self._clock.new_id()
        handle: Any = self.client.enqueue(
            {
                "workflow_name": CONSOLIDATE,
                "queue_name": QUEUE,
                "workflow_id": id,
                "deduplication_id": key,
                "duplication_policy": "return-existing",
                "authenticated_user": key,
                "attributes": {"cause": cause},
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
        wanted = set(states)
        statuses = [status for status, state in _STATES.items() if state in wanted] or None
        rows = await self._do(
            lambda: self.client.list_workflows(
                name=CONSOLIDATE,
                status=statuses,
                user=None if scope is None else agent_key(scope),
                limit=limit,
                offset=offset,
                sort_desc=True,
            )
        )
        return sorted(map(_job, rows), key=lambda job: (job.queued_at, job.id), reverse=True)

    async def get(self, id: str) -> Job:
        """One job by its id, or by eight or more characters of the beginning or end of it."""
        rows = await self._do(lambda: self.client.list_workflows(name=CONSOLIDATE, workflow_ids=[id]))
        if not rows and len(id) < 36:
            full = await self._do(lambda: self._named(id))
            rows = await self._do(lambda: self.client.list_workflows(name=CONSOLIDATE, workflow_ids=[full]))
        if not rows:
            raise NotFound(f"There is no job {id} here.", hint="`longmind jobs list` shows what there is.")
        return _job(rows[0])

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
        names = [EVERYTHING] if scope is None else [EVERYTHING, _AGENT + agent_key(scope)]
        found = await self._do(lambda: self.state.read(names))
        return any(note.get("paused") for note in found.values())

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

    async def _do(self, work: Callable[[], T]) -> T:
        def told() -> T:
            with failures():
                return work()

        return await asyncio.to_thread(told)


def _connect(place: JobsDatabase) -> DBOSClient:
    """Make sure that the tables of DBOS are there, and connect."""
    with failures():
        if place.file is not None:
            create_folder(place.file.parent)
            create_file(str(place.file))
            _write_ahead(place.url)
        DBOS.migrate(place.url, schema=SCHEMA)
        return DBOSClient(
            system_database_url=place.url,
            dbos_system_schema=SCHEMA,
            serializer=dbos.DBOSPortableJSONSerializer(),
            application_name=APPLICATION,
            retry_connection_errors=False,
        )


def _write_ahead(url: str) -> None:
    """DBOS leaves SQLite's journal as it is by default; with this one, a worker does three times as many jobs."""
    engine = sqlalchemy.create_engine(url)
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql(load(__package__, "jobs.sql")["write_ahead"])
    finally:
        engine.dispose()


@contextmanager
def failures() -> Iterator[None]:
    """What goes wrong in the database of the jobs, as errors of ours."""
    try:
        yield
    except sqlalchemy.exc.OperationalError as error:
        raise StoreUnavailable(
            f"The jobs cannot be reached: {error.orig}.", hint="Is the database up, and may this user use it?"
        ) from error
    except (sqlalchemy.exc.SQLAlchemyError, DBOSException) as error:
        raise StoreError(f"The database of the jobs could not do this: {error}.") from error


def _job(row: WorkflowStatus) -> Job:
    tenant, agent = (row.input or {"args": ("?", "?")})["args"]
    state = _STATES[row.status]
    return Job(
        id=row.workflow_id,
        tenant=tenant,
        agent=agent,
        state=state,
        cause=(row.attributes or {}).get("cause", "call"),
        queued_at=_moment(row.created_at) or datetime.now(UTC),
        started_at=_moment(row.dequeued_at),
        finished_at=_moment(row.completed_at),
        starts=row.recovery_attempts or 0,
        worker=row.executor_id,
        outcome=JobOutcome.model_validate(row.output) if state == "done" and row.output else None,
        failure=_failure(row) if state == "failed" else None,
    )


def _failure(row: WorkflowStatus) -> Failure:
    if row.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
        lost = (row.recovery_attempts or 1) - 1  # the last start was refused
        return Failure(error="workers_lost", message=f"{lost} workers were lost while they worked on this job.")
    error = row.error
    code = getattr(error, "code", None) or getattr(error, "name", None) or type(error).__name__
    return Failure(error=str(code), message=str(error))


def _moment(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
