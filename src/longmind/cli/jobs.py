"""``longmind jobs``: what the workers of a store did, do and will do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, store_command
from longmind.errors import InvalidInput
from longmind.jobs import JOB_STATES, Job, JobOutcome
from longmind.store.base import MAX_PAGE
from longmind.types import Scope

if TYPE_CHECKING:
    from longmind.worker.jobs import Jobs

app = typer.Typer(name="jobs", help="The jobs of the workers: list, show, retry, cancel, pause and resume.")

_JobId = Annotated[
    str, typer.Argument(metavar="JOB", help="A job's id, or 8 or more characters of its beginning or end.")
]
_Agent = Annotated[str | None, typer.Option("--agent", "-a", help="Only this agent.")]
_Tenant = Annotated[str | None, typer.Option(help="The agent's tenant. By default LONGMIND_TENANT, or default.")]


@asynccontextmanager
async def _jobs(call: Invocation) -> AsyncIterator[Jobs]:
    from longmind.worker.jobs import Jobs

    call.must_exist()
    async with await Jobs.open(call.settings.store_url()) as jobs:
        yield jobs


def _scope(call: Invocation, agent: str | None, tenant: str | None) -> Scope | None:
    if agent is None:
        if tenant is not None:
            raise typer.BadParameter("--tenant names the tenant of an agent: give --agent too.")
        return None
    return Scope(tenant=tenant or call.settings.tenant, agent=agent, all_users=True)


@app.command("list")
@store_command
async def list_(
    call: Invocation,
    agent: _Agent = None,
    tenant: _Tenant = None,
    state: Annotated[
        list[str] | None,
        typer.Option(metavar="STATE", help="waiting, running, done, failed or cancelled; may repeat."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-l", min=1, max=MAX_PAGE, help="How many.")] = 50,
) -> None:
    """List the newest jobs."""
    wanted = [name for name in JOB_STATES if name in (state or ())]
    if unknown := sorted(set(state or ()) - set(JOB_STATES)):
        raise typer.BadParameter(f"{unknown[0]!r} is no state of a job.", param_hint="--state")
    async with _jobs(call) as jobs:
        listed = await jobs.list(scope=_scope(call, agent, tenant), states=wanted, limit=limit)
        paused = await jobs.paused()
    call.answer({"jobs": listed, "paused": paused}, lambda: _show_all(listed, paused))


@app.command("show")
@store_command
async def show(call: Invocation, id: _JobId) -> None:
    """Show a job: when it ran, where, and what came of it."""
    async with _jobs(call) as jobs:
        job = await jobs.get(id)
    call.answer(job, lambda: _show(job))


@app.command("retry")
@store_command
async def retry(
    call: Invocation,
    id: Annotated[str | None, typer.Argument(metavar="JOB", help="A failed job.")] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Every agent whose newest job failed.")] = False,
) -> None:
    """Ask again for what a failed job was to do."""
    if failed == (id is not None):
        raise InvalidInput("Say what to try again: one job, or --failed.")
    async with _jobs(call) as jobs:
        again = [await jobs.retry(id)] if id is not None else await jobs.retry_failed()
    call.answer({"jobs": again}, lambda: _show_all(again, False, nothing="No agent's newest job failed."))


@app.command("cancel")
@store_command
async def cancel(call: Invocation, id: _JobId) -> None:
    """Cancel a job that waits. One that runs is not interrupted."""
    async with _jobs(call) as jobs:
        job = await jobs.cancel(id)
    call.answer(job, lambda: _show(job))


@app.command("pause")
@store_command
async def pause(call: Invocation, agent: _Agent = None, tenant: _Tenant = None) -> None:
    """Start no more jobs, of one agent or of any, until `longmind jobs resume`."""
    await _pause(call, _scope(call, agent, tenant), paused=True)


@app.command("resume")
@store_command
async def resume(call: Invocation, agent: _Agent = None, tenant: _Tenant = None) -> None:
    """Take a pause back; the workers catch up with what changed meanwhile."""
    await _pause(call, _scope(call, agent, tenant), paused=False)


async def _pause(call: Invocation, scope: Scope | None, *, paused: bool) -> None:
    async with _jobs(call) as jobs:
        await (jobs.pause(scope) if paused else jobs.resume(scope))
    whose = None if scope is None else {"tenant": scope.tenant, "agent": scope.agent}
    name = "Everything" if scope is None else screen.plain(scope.agent)
    status = "is paused" if paused else "goes on"
    call.answer({"paused": paused, "agent": whose}, lambda: screen.console().print(f"{name} {status}."))


def _show_all(listed: Sequence[Job], paused: bool, *, nothing: str = "No jobs yet.") -> None:
    out = screen.console()
    if not listed:
        out.print(nothing)
    else:
        table = screen.table("Id", "Agent", "State", "Why", "Asked", "Result")
        for job in listed:
            table.add_row(
                screen.short(job.id),
                screen.plain(f"{job.tenant}/{job.agent}"),
                job.state,
                job.cause,
                screen.minute(job.queued_at),
                screen.plain(_result(job)),
            )
        out.print(table)
    if paused:
        out.print("Everything is paused: longmind jobs resume")


def _result(job: Job) -> str:
    if job.failure is not None:
        return screen.beginning(job.failure.message, 120)
    if job.outcome is None:
        return ""
    return result(job.outcome)


def result(outcome: JobOutcome) -> str:
    """What came of a job, in a few words."""
    if outcome.paused:
        return "paused"
    status = screen.counted(outcome.changes, "change")
    return status if outcome.until is None else f"{status}, paused until {screen.minute(outcome.until)}"


def _show(job: Job) -> None:
    outcome = job.outcome
    rows: dict[str, object] = {
        "id": job.id,
        "tenant": job.tenant,
        "agent": job.agent,
        "state": job.state,
        "why": job.cause,
        "asked": f"{job.queued_at:%Y-%m-%d %H:%M:%S}",
        "started": f"{job.started_at:%Y-%m-%d %H:%M:%S}" if job.started_at else "",
        "ended": f"{job.finished_at:%Y-%m-%d %H:%M:%S}" if job.finished_at else "",
        "starts": job.starts,
        "failed attempts": job.failed_attempts or "",
        "next attempt": f"{job.next_attempt_at:%Y-%m-%d %H:%M:%S}" if job.next_attempt_at else "",
        "progress": f"{job.progress.stage}, {job.progress.share:.0%}" if job.progress else "",
        "worker": job.worker,
        "result": _result(job),
        "put off": outcome.why if outcome and outcome.until else "",
        "to take back": " ".join(outcome.reports) if outcome else "",
        "error": job.failure.error if job.failure else "",
    }
    screen.console().print(screen.pairs(rows))
