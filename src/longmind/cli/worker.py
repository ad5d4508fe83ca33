"""``longmind worker``: consolidate agents by durable jobs, until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from longmind.cli import screen
from longmind.cli.command import Invocation, store_command
from longmind.cli.jobs import result
from longmind.jobs import JobOutcome
from longmind.worker.models import WorkerOptions

if TYPE_CHECKING:
    from longmind.types import Scope
    from longmind.worker.worker import Worker

_DEFAULTS = WorkerOptions()
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_BROKEN_OFF = 130


@store_command
async def worker(
    call: Invocation,
    once: Annotated[bool, typer.Option("--once", help="Do what there is to do, and end.")] = False,
    cron: Annotated[
        str, typer.Option(metavar="CRON", help="When to look for agents that changed; UTC.")
    ] = _DEFAULTS.cron,
    at_once: Annotated[
        int, typer.Option(min=1, max=1000, help="How many agents at the same time.")
    ] = _DEFAULTS.at_once,
    poll: Annotated[
        float, typer.Option(min=0.01, max=60, metavar="SECONDS", help="How often to ask for waiting jobs.")
    ] = _DEFAULTS.poll_seconds,
    lease: Annotated[
        float,
        typer.Option(
            min=1,
            max=3600,
            metavar="SECONDS",
            help="How long another worker may be silent before its jobs are taken over.",
        ),
    ] = _DEFAULTS.lease_seconds,
    attempts: Annotated[
        int, typer.Option(min=1, max=100, help="How often a job is tried before it counts as failed.")
    ] = _DEFAULTS.attempts,
    grace: Annotated[
        int, typer.Option(min=1, max=86_400, metavar="SECONDS", help="How long to wait for running jobs when stopped.")
    ] = _DEFAULTS.grace_seconds,
    keep_days: Annotated[
        float, typer.Option(min=0, metavar="DAYS", help="How long finished jobs are kept.")
    ] = _DEFAULTS.keep_days,
    name: Annotated[
        str | None, typer.Option(help="A name that no other worker has at the same time; by default a new one.")
    ] = None,
) -> None:
    """Consolidate agents by durable jobs, with as many workers as you like on one store.

    SIGTERM or Ctrl-C ends it cleanly: the running jobs are finished first. A second one ends it at once.
    """
    from longmind.worker.worker import Worker

    options = WorkerOptions(
        name=name,
        cron=cron,
        at_once=at_once,
        poll_seconds=poll,
        lease_seconds=lease,
        attempts=attempts,
        grace_seconds=grace,
        keep_days=keep_days,
    )
    async with call.store(create=True) as longmind:
        made = Worker(longmind, options, told=lambda scope, what: None if call.json else _tell(scope, what))
        with _stopping() as stop:
            async with made:
                if not call.json:
                    screen.console().print(f"Worker {made.name} is at work; Ctrl-C stops it.")
                await _work(made, stop, once)
    summary = {"worker": made.name, "done": made.done, "failed": made.failed, "taken_over": made.taken_over}
    call.answer(summary, lambda: _farewell(summary))


async def _work(made: Worker, stop: asyncio.Event, once: bool) -> None:
    """Until told to stop, or with ``once`` until nothing is left to do."""
    stopped = asyncio.create_task(stop.wait())
    if not once:
        await stopped
        return
    finished = asyncio.create_task(made.finished())
    await asyncio.wait({stopped, finished}, return_when=asyncio.FIRST_COMPLETED)
    for task in (stopped, finished):
        task.cancel()
    await asyncio.gather(stopped, finished, return_exceptions=True)


@contextlib.contextmanager
def _stopping() -> Iterator[asyncio.Event]:
    """An event that the first signal sets; the second ends the process, for whoever is out of patience."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()

    def told() -> None:
        if stop.is_set():
            os._exit(_BROKEN_OFF)
        stop.set()

    for one in _SIGNALS:
        loop.add_signal_handler(one, told)
    try:
        yield stop
    finally:
        for one in _SIGNALS:
            loop.remove_signal_handler(one)


def _tell(scope: Scope, what: JobOutcome | BaseException) -> None:
    who = screen.plain(f"{scope.tenant}/{scope.agent}")
    out = screen.console()
    if not isinstance(what, JobOutcome):
        out.print(f"{who}: {screen.plain(str(what))}", style="red")
    elif what.paused:
        out.print(screen.dim(f"{who}: paused"))
    else:
        out.print(f"{who}: {result(what)} in {what.seconds:.2f} s")


def _farewell(summary: dict[str, Any]) -> None:
    text = f"{screen.counted(summary['done'], 'job')} done, {summary['failed']} attempts failed"
    if summary["taken_over"]:
        text += f", {summary['taken_over']} taken over from lost workers"
    screen.console().print(text + ".")
